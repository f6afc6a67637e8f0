// SPDX-License-Identifier: Apache-2.0
#include "ptx/folding.h"

#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "ptx/row_uses.h"

namespace sm100::ptx {

namespace {

constexpr uint32_t kNone = UINT32_MAX;

bool is(std::string_view text, std::string_view base) {
  return text.starts_with(base) && (text.size() == base.size() || text[base.size()] == '.');
}

/// Who writes and reads each register.
class Registers {
 public:
  struct Use {
    uint32_t written_by = kNone;  ///< the instruction, if it is one alone
    bool written_twice = false;
    std::vector<uint32_t> read_by;  ///< instructions
  };

  explicit Registers(const Program& p) : p_(p) {
    for (uint32_t at = 0; at < p.code.size(); ++at) look_at(at);
  }
  /// Of a register of its own; nullptr: a constant, or there is none.
  const Use* use(Row row) const {
    const auto found = uses_.find(row.at);
    return found == uses_.end() ? nullptr : &found->second;
  }
  /// The only instruction that writes the row, or kNone.
  uint32_t writer(Row row) const {
    const Use* u = use(row);
    return u && !u->written_twice ? u->written_by : kNone;
  }

 private:
  void reads(Row row, uint32_t at) { uses_[row.at].read_by.push_back(at); }
  void writes(Row row, uint32_t at) {
    Use& u = uses_[row.at];
    u.written_twice |= u.written_by != kNone;
    u.written_by = at;
  }
  void look_at(uint32_t at) {
    for_each_row(p_, p_.code[at],
                 [&](Row row, RowUse use) { use == RowUse::reads ? reads(row, at) : writes(row, at); });
  }

  const Program& p_;
  std::unordered_map<uint32_t, Use> uses_;
};

class Folding {
 public:
  explicit Folding(Program& p) : p_(p), registers_(p) {}

  void run() {
    for (Instr& in : p_.code) {
      if (in.kind != Kind::alu) continue;
      const std::string_view text = p_.text(in);
      if (text == "cvt.u64.u32" || text == "cvt.u32.u64" || text == "cvt.u16.u32" || extends_packed(in) ||
          (is_comparison(in) && compares_constants(in)))
        in.cost = Cost::free;
      else if (is(text, "selp"))
        fold_carried_predicate(in);
      else if (pairs(in))
        in.cost = Cost::free;
    }
    for (Instr& in : p_.code)
      if (in.kind == Kind::branch && is_answer(in.guard)) in.cost = Cost::free;
  }

 private:
  const Instr* written_by(Row row) const {
    const uint32_t at = registers_.writer(row);
    return at == kNone ? nullptr : &p_.code[at];
  }
  /// What the row holds wherever it is read.
  std::optional<uint32_t> constant(Row row) const {
    if (row.area() == 0) {
      const Instr* from = written_by(row);
      if (!from || from->kind != Kind::alu || !is(p_.text(*from), "mov") || from->rows[1].area() == 0) return {};
      row = from->rows[1];
    }
    uint32_t value;
    if (row.offset() + sizeof value > p_.constants.size()) return {};
    std::memcpy(&value, p_.constants.data() + row.offset(), sizeof value);
    return value;
  }
  bool is_comparison(const Instr& in) const {
    const std::string_view text = p_.text(in);
    if (!is(text, "setp")) return false;
    const std::string_view type = text.substr(text.rfind('.') + 1);
    return type == "s32" || type == "u32" || type == "b32";
  }
  bool compares_constants(const Instr& in) const {
    // A setp has two results, the second of them often a sink.
    return sources(in) == 2 && constant(source(in, 0)) && constant(source(in, 1));
  }
  /// `setp.eq` or `.ne` of the row and 0.
  bool asks_for_zero(const Instr& in, Row row) const {
    if (in.kind != Kind::alu || !is_comparison(in) || sources(in) != 2) return false;
    const std::string_view text = p_.text(in);
    if (!text.starts_with("setp.eq.") && !text.starts_with("setp.ne.")) return false;
    return source(in, 0) == row && constant(source(in, 1)) == 0u;
  }
  /// selp r, 1, 0, p of which others ask only whether it is 0.
  void fold_carried_predicate(Instr& in) {
    if (sources(in) != 3 || constant(source(in, 0)) != 1u || constant(source(in, 1)) != 0u) return;
    const Row to = in.rows[0];
    if (registers_.writer(to) == kNone) return;
    const auto& readers = registers_.use(to)->read_by;
    for (const uint32_t at : readers)
      if (!asks_for_zero(p_.code[at], to)) return;
    in.cost = Cost::free;
    for (const uint32_t at : readers) p_.code[at].cost = Cost::free;
  }
  /// The predicate is what elect.sync or a wait has answered, as it is or through a register.
  bool is_answer(Row predicate) const {
    for (int hops = 0; hops < 3; ++hops) {
      const Instr* from = written_by(predicate);
      if (!from) return false;
      if (from->kind == Kind::service) {
        const std::string_view base = p_.services[from->detail].base;
        return base == "elect.sync" || base == "mbarrier.try_wait" || base == "mbarrier.test_wait";
      }
      if (from->kind != Kind::alu || from->cost != Cost::free) return false;
      const std::string_view text = p_.text(*from);
      if (is(text, "setp"))
        predicate = source(*from, 0);
      else if (is(text, "selp"))
        predicate = source(*from, 2);
      else
        return false;
    }
    return false;
  }
  /// Conversions to two narrow numbers leave zeros above them.
  bool extends_packed(const Instr& in) const {
    const std::string_view text = p_.text(in);
    if (text != "cvt.u32.u8" && text != "cvt.u32.u16") return false;
    const Instr* from = written_by(source(in, 0));
    if (!from || from->kind != Kind::alu) return false;
    const std::string_view packs = p_.text(*from);
    return is(packs, "cvt") && (packs.find("x2.") != packs.npos || packs.find("x4.") != packs.npos);
  }
  /// The hardware has one instruction for this one and the only one that reads its result.
  bool pairs(const Instr& in) const {
    const std::string_view text = p_.text(in);
    const bool shift = text == "shl.b32" && source(in, 1).area() != 0, logic = is_logic(text),
               product = text == "mul.wide.s32" || text == "mul.wide.u32",
               answer = is(text, "setp") && sources(in) == 2;
    if ((!shift && !logic && !product && !answer) || registers_.writer(in.rows[0]) == kNone) return false;
    const auto& readers = registers_.use(in.rows[0])->read_by;
    if (readers.size() != 1) return false;
    const auto at = static_cast<uint32_t>(&in - p_.code.data());
    if (readers[0] <= at || readers[0] > at + kNear) return false;
    const Instr& next = p_.code[readers[0]];
    if (next.kind != Kind::alu || next.guard != in.guard || next.cost == Cost::free) return false;
    const std::string_view then = p_.text(next);
    if (shift)
      return then == "add.s32" || then == "add.u32" ||
             (then == "or.b32" && constant(source(in, 1)).value_or(1) % 8 == 0 && !has_folded(next, "shl"));
    if (product) return (then == "add.s64" || then == "add.u64") && !has_folded(next, "mul");
    if (answer) return (then == "and.pred" || then == "or.pred") && !has_folded(next, "setp");
    // Three sources at most: the second of a pair begins no other.
    for (size_t r = 0; r < 2; ++r)
      if (const Row other = source(next, r); other != in.rows[0])
        if (const Instr* from = written_by(other))
          if (is_folded_logic(*from)) return false;
    for (size_t r = 0; r < 2; ++r)
      if (const Instr* from = written_by(source(in, r)))
        if (is_folded_logic(*from)) return false;
    return is_logic(then);
  }
  /// Another one of that kind is part of it already.
  bool has_folded(const Instr& next, std::string_view base) const {
    for (size_t r = 0; r < sources(next); ++r)
      if (const Instr* from = written_by(source(next, r)))
        if (from->kind == Kind::alu && from->cost == Cost::free && is(p_.text(*from), base)) return true;
    return false;
  }
  bool is_folded_logic(const Instr& in) const {
    return in.kind == Kind::alu && in.cost == Cost::free && is_logic(p_.text(in));
  }
  static bool is_logic(std::string_view text) { return text == "and.b32" || text == "or.b32" || text == "xor.b32"; }

  static size_t results(const Instr& in) {
    size_t n = 0;
    while (n < in.rows.size() && (in.written >> n & 1)) ++n;
    return n;
  }
  size_t sources(const Instr& in) const {
    size_t n = results(in);
    while (n < in.rows.size() && in.rows[n].at != 0) ++n;
    return n - results(in);
  }
  static Row source(const Instr& in, size_t i) { return in.rows[results(in) + i]; }

  static constexpr uint32_t kNear = 32;  ///< instructions from the first of a pair to the second
  Program& p_;
  const Registers registers_;
};

}  // namespace

void fold_costs(Program& program) { Folding(program).run(); }

}  // namespace sm100::ptx
