// SPDX-License-Identifier: Apache-2.0
#include "ptx/waits.h"

#include <algorithm>
#include <map>
#include <set>

#include "ptx/row_uses.h"

namespace sm100::ptx {

namespace {

constexpr uint32_t kLongestLoop = 32;  // instructions

bool is_mbarrier_poll(const Program& p, const Instr& in) {
  if (in.kind != Kind::service) return false;
  const std::string_view base = p.services[in.detail].base;
  return base == "mbarrier.try_wait" || base == "mbarrier.test_wait";
}

bool is_load_poll(const Program& p, const Instr& in) {
  if (in.kind != Kind::memory) return false;
  const Access& a = p.accesses[in.detail];
  return !a.store && a.order != Order::weak;
}

bool is_atomic_poll(const Program& p, const Instr& in) {
  return in.kind == Kind::service && p.services[in.detail].base == "atom";
}

bool is_backoff(const Program& p, const Instr& in) {
  return in.kind == Kind::service && p.services[in.detail].base == "nanosleep";
}

/// What may stand beside the poll: it must not change anything that lasts.
bool looks_at_answer(const Program& p, const Instr& in) {
  if (in.kind != Kind::alu) return false;
  const std::string_view text = p.text(in);
  const std::string_view base = text.substr(0, text.find('.'));
  constexpr std::string_view kAllowed[] = {"mov", "selp", "setp", "and", "or", "not", "xor", "cvt"};
  return std::find(std::begin(kAllowed), std::end(kAllowed), base) != std::end(kAllowed);
}

/// [first, back] where `back` branches to `first`; the loop ends at the last instruction that leads back.
class Loop {
 public:
  /// @param atomics  are what polls, and nothing else
  Loop(const Program& p, uint32_t first, uint32_t back, bool atomics)
      : p_(p), atomics_(atomics), wait_{.first = first, .last = back} {}

  bool is_wait() {
    bool polls = false;
    for (uint32_t i = wait_.first; i <= wait_.last; ++i) {
      const Instr& in = p_.code[i];
      const bool mbarrier = !atomics_ && is_mbarrier_poll(p_, in);
      if (atomics_ ? is_atomic_poll(p_, in) : mbarrier || is_load_poll(p_, in)) {
        if (polls) return false;
        polls = true;
        wait_.poll = i;
        wait_.load = !mbarrier;
      } else if (is_backoff(p_, in)) {
        wait_.backoff = true;
      } else if (in.kind == Kind::branch ? !take_exit(in) : !looks_at_answer(p_, in)) {
        return false;
      }
    }
    if (!polls) return false;
    const Instr& back = p_.code[wait_.last];
    const bool falls_through = back.guard_flip != 0 || back.guard.area() == 0;
    if (falls_through && !exit_to(wait_.last + 1)) return false;
    wait_.exit = exit_;
    return exits_;
  }
  const Wait& wait() const { return wait_; }

 private:
  bool inside(uint32_t target) const { return target >= wait_.first && target <= wait_.last; }
  bool take_exit(const Instr& branch) { return inside(branch.target) || exit_to(branch.target); }
  /// All ways out lead to one place, through unconditional branches if need be.
  bool exit_to(uint32_t target) {
    for (int hops = 0; hops < 4 && target < p_.code.size(); ++hops) {
      const Instr& in = p_.code[target];
      if (in.kind != Kind::branch || in.guard.area() == 0 || in.guard_flip != 0 || inside(in.target)) break;
      target = in.target;
    }
    const bool same = !exits_ || exit_ == target;
    exits_ = true;
    exit_ = target;
    return same;
  }

  const Program& p_;
  const bool atomics_;
  Wait wait_;
  uint32_t exit_ = 0;
  bool exits_ = false;
};

std::vector<Wait> find_loops(const Program& program, bool atomics) {
  std::vector<Wait> waits;
  for (uint32_t i = 0; i < program.code.size(); ++i) {
    const Instr& in = program.code[i];
    if (in.kind != Kind::branch || in.target > i || i - in.target > kLongestLoop) continue;
    Loop loop(program, in.target, i, atomics);
    if (!loop.is_wait()) continue;
    // A poll belongs to its smallest loop.
    const bool known =
        std::any_of(waits.begin(), waits.end(), [&](const Wait& w) { return w.poll == loop.wait().poll; });
    if (!known) waits.push_back(loop.wait());
  }
  std::sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) { return a.first < b.first; });
  return waits;
}

}  // namespace

std::vector<Wait> find_waits(const Program& program) { return find_loops(program, false); }

std::vector<uint32_t> find_atomic_polls(const Program& program) {
  std::vector<uint32_t> polls;
  for (const Wait& wait : find_loops(program, true)) polls.push_back(wait.poll);
  return polls;
}

namespace {

/// Follows the answer of a poll along every way that the code may take from it.
class Answer {
 public:
  explicit Answer(const Program& p) : p_(p) {}

  /// A guard, an address, a store, a service or a call depends on it.
  bool decides(uint32_t poll) {
    Rows first;
    for_each_row(p_, p_.code[poll], [&](Row row, RowUse use) {
      if (use == RowUse::writes) first.insert(row.at);
    });
    if (first.empty()) return true;  // it lies elsewhere: not looked at
    std::map<uint32_t, Rows> before;
    std::vector<uint32_t> left;
    const auto goes_to = [&](uint32_t at, const Rows& rows) {
      if (rows.empty() || at >= p_.code.size()) return;
      Rows& known = before[at];
      const size_t size = known.size();
      known.insert(rows.begin(), rows.end());
      if (known.size() != size) left.push_back(at);
    };
    goes_to(poll + 1, first);
    while (!left.empty()) {
      const uint32_t at = left.back();
      left.pop_back();
      Rows rows = before[at];
      const Instr& in = p_.code[at];
      if (in.kind == Kind::branch_index) return true;
      if (!passes(in, rows)) return true;
      const bool always = in.guard.area() != 0 && in.guard_flip == 0;
      if (in.kind == Kind::branch) goes_to(in.target, rows);
      const bool ends = in.kind == Kind::branch || in.kind == Kind::exit || in.kind == Kind::ret;
      if (!ends || !always) goes_to(at + 1, rows);
    }
    return false;
  }

 private:
  using Rows = std::set<uint32_t>;

  /// Rows that hold the answer, or what was computed from it, behind an instruction; false: it decides something.
  bool passes(const Instr& in, Rows& rows) const {
    bool reads = false;
    for_each_row(p_, in, [&](Row row, RowUse use) { reads |= use == RowUse::reads && rows.count(row.at); });
    if (reads && (in.kind != Kind::alu || (in.guard.area() == 0 && rows.count(in.guard.at)))) return false;
    const bool always = in.guard.area() != 0 && in.guard_flip == 0;
    for_each_row(p_, in, [&](Row row, RowUse use) {
      if (use != RowUse::writes) return;
      if (reads)
        rows.insert(row.at);
      else if (always)
        rows.erase(row.at);
    });
    return true;
  }

  const Program& p_;
};

}  // namespace

std::vector<uint32_t> find_ignored_answers(const Program& program) {
  Answer answer(program);
  std::vector<uint32_t> ignored;
  for (uint32_t at = 0; at < program.code.size(); ++at)
    if (is_mbarrier_poll(program, program.code[at]) && !answer.decides(at)) ignored.push_back(at);
  return ignored;
}

}  // namespace sm100::ptx
