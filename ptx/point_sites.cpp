// SPDX-License-Identifier: Apache-2.0
#include "ptx/point_sites.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

namespace sm100::ptx {
namespace {

constexpr Doing kButSame(TraceEvent event) { return ~doing(event); }
/// As the simulator: a store shows only behind what it may belong to.
constexpr Doing kSharedStoreFrom = doing(TraceEvent::tmem_load) | doing(TraceEvent::store_issue);
constexpr Doing kGlobalStoreFrom =
    ~(doing(TraceEvent::load_issue) | doing(TraceEvent::mma_issue) | doing(TraceEvent::store_issue) | kNothing);

/// Whether an opcode is this instruction, with any modifiers.
bool is_opcode(std::string_view opcode, std::string_view name) {
  return opcode.starts_with(name) &&
         (opcode.size() == name.size() || opcode[name.size()] == '.' || opcode[name.size()] == ':');
}
bool has(std::string_view opcode, std::string_view modifier) {
  for (size_t at = opcode.find(modifier); at != opcode.npos; at = opcode.find(modifier, at + 1)) {
    const size_t end = at + modifier.size();
    if (end == opcode.size() || opcode[end] == '.') return true;
  }
  return false;
}
bool in_shared(std::string_view opcode) { return opcode.find(".shared") != opcode.npos; }

class Finder {
 public:
  Finder(const Module& module, const Entry& entry, const InstrumentOptions& options)
      : module_(module), entry_(entry), body_(entry.body), options_(options) {}

  Sites find() {
    for (uint32_t s = 0; s < body_.statements.size(); ++s) look_at(s);
    if (options_.has(PointGroup::waits)) {
      program_ = decode(module_, entry_);
      for (const Wait& w : program_.waits)
        if (!w.load) wait(w);
      end_in_front_of_loops();
      looks();
    }
    drop_repetitions();
    return std::move(found_);
  }

 private:
  std::string_view opcode(uint32_t s) const { return body_.statements[s].opcode; }

  void add(Site site) {
    // Without waits nobody says when something is over: all are recorded.
    if (!options_.has(PointGroup::waits)) site.from = kAnyDoing;
    if (options_.has(site.group)) found_.sites.push_back(site);
  }
  Site begin(PointGroup group, TraceEvent event, uint32_t s) const {
    return {.group = group, .kind = PointKind::begin, .event = event, .statement = s};
  }
  Site once(PointGroup group, TraceEvent event, uint32_t s) const {
    Site site = begin(group, event, s);
    site.from = kButSame(event);
    return site;
  }
  const Term* address(uint32_t s, size_t at) const {
    for (const Term& t : body_.operands(body_.statements[s]))
      if (t.kind == Term::Kind::address && at-- == 0) return &t;
    return nullptr;
  }

  void look_at(uint32_t s) {
    const std::string_view op = opcode(s);
    const auto base = op.substr(0, op.find('.'));
    if (base == "ret" || base == "exit")
      found_.exits.push_back(s);
    else if (base == "cp")
      copy(s, op);
    else if (base == "mbarrier")
      arrive(s, op);
    else if (is_opcode(op, "wgmma.mma_async") || is_opcode(op, "tcgen05.mma") || is_opcode(op, "tcgen05.cp"))
      add(once(PointGroup::mmas, TraceEvent::mma_issue, s));
    else if (is_opcode(op, "tcgen05.commit") || is_opcode(op, "wgmma.commit_group"))
      commit(s);
    else if (is_opcode(op, "tcgen05.ld"))
      add(once(PointGroup::stores, TraceEvent::tmem_load, s));
    else if (base == "ldmatrix")
      add(once(PointGroup::stores, TraceEvent::smem_read, s));
    else if (base == "stmatrix")
      add(once(PointGroup::stores, TraceEvent::smem_write, s));
    else if (is_opcode(op, "clusterlaunchcontrol.try_cancel"))
      add(once(PointGroup::tiles, TraceEvent::clc_request, s));
    else if (is_opcode(op, "clusterlaunchcontrol.query_cancel.is_canceled"))
      add(once(PointGroup::tiles, TraceEvent::clc_fetch, s));
    else if (base == "st")
      store(s, op);
  }

  void copy(uint32_t s, std::string_view op) {
    if (is_opcode(op, "cp.async.bulk.commit_group")) return commit(s);
    if (is_opcode(op, "cp.async.bulk.wait_group")) {
      Site site = begin(PointGroup::waits, TraceEvent::store_wait, s);
      site.from = kButSame(TraceEvent::store_wait);
      site.over_behind = true;
      return add(site);
    }
    if (is_opcode(op, "cp.async.bulk.prefetch") || is_opcode(op, "cp.reduce.async.bulk.tensor")) return;
    const bool tensor = is_opcode(op, "cp.async.bulk.tensor");
    if (!tensor && !is_opcode(op, "cp.async.bulk") && !is_opcode(op, "cp.reduce.async.bulk")) return;
    const bool load = has(op, ".mbarrier::complete_tx::bytes") && !is_opcode(op, "cp.reduce.async.bulk");
    add(begin(PointGroup::copies, load ? TraceEvent::load_issue : TraceEvent::store_issue, s));
  }

  void commit(uint32_t s) {
    const bool barrier = opcode(s).starts_with("tcgen05");
    add({.group = PointGroup::commits,
         .kind = PointKind::commit,
         .statement = s,
         .barrier = barrier ? address(s, 0) : nullptr,
         .shared = in_shared(opcode(s))});
  }

  void arrive(uint32_t s, std::string_view op) {
    const bool expects = is_opcode(op, "mbarrier.expect_tx") || is_opcode(op, "mbarrier.arrive.expect_tx");
    if (!expects && !is_opcode(op, "mbarrier.arrive") && !is_opcode(op, "mbarrier.arrive_drop")) return;
    add({.group = PointGroup::arrives,
         .kind = expects ? PointKind::expect_tx : PointKind::arrive,
         .statement = s,
         .barrier = address(s, 0),
         .shared = in_shared(op)});
  }

  void store(uint32_t s, std::string_view op) {
    if (has(op, ".release")) return;
    const bool shared = in_shared(op), global = has(op, ".global");
    if (has(op, ".param") || has(op, ".local") || is_opcode(op, "st.async") || is_opcode(op, "st.bulk")) return;
    Site to_shared = begin(PointGroup::stores, TraceEvent::smem_write, s);
    to_shared.from = kSharedStoreFrom;
    Site to_global = begin(PointGroup::stores, TraceEvent::store_issue, s);
    to_global.from = kGlobalStoreFrom;
    if (!shared && !global) {
      to_shared.generic = to_global.generic = address(s, 0);
      if (!to_shared.generic) return;
      to_shared.space = Space::shared, to_global.space = Space::global;
    }
    if (!global) add(to_shared);
    if (!shared) add(to_global);
  }

  // ---- waits

  /// The entry's statement that an instruction is; absent: it belongs to a function.
  std::optional<uint32_t> statement_of(uint32_t instruction) const {
    const auto& starts = program_.starts;
    auto at = std::lower_bound(starts.begin(), starts.end(), instruction);
    if (at == starts.end() || *at != instruction) return std::nullopt;
    const auto s = uint32_t(at - starts.begin());
    if (s >= body_.statements.size() || opcode(s).starts_with("call")) return std::nullopt;
    return s;
  }

  void refuse(uint32_t s, std::string why) {
    const Statement& at = body_.statements[s];
    found_.unrecorded.push_back({std::string(entry_.name), std::string(at.opcode), std::move(why), at.line});
  }

  void wait(const Wait& w) {
    const auto first = statement_of(w.first), last = statement_of(w.last), poll = statement_of(w.poll);
    if (!first || !last || !poll) return;  // of a function, which says so itself
    if (!has(opcode(*poll), ".parity")) return;
    const auto exit = statement_of(w.exit);
    if (!exit) return refuse(*poll, "the wait ends where the entry or a function does");
    const auto operands = body_.operands(body_.statements[*poll]);
    if (operands.size() < 3 || operands[1].kind != Term::Kind::address)
      return refuse(*poll, "its operands are not known");
    WaitSite site{.first = *first,
                  .last = *last,
                  .poll = *poll,
                  .barrier = &operands[1],
                  .parity = &operands[2],
                  .shared = in_shared(opcode(*poll))};
    site.exit = *exit;
    if (const char* why = find_way_in(site, *first, *last)) return refuse(*poll, why);
    if (const char* why = find_repeated(site, *first, *last)) return refuse(*poll, why);
    found_.waits.push_back(site);
  }

  /// A try_wait outside of a loop that waits suspends all the same: it is a wait of one statement.
  void looks() {
    std::set<uint32_t> polls;
    for (const Wait& w : program_.waits)
      if (const auto poll = statement_of(w.poll)) polls.insert(*poll);
    for (uint32_t s = 0; s < body_.statements.size(); ++s) {
      const std::string_view op = opcode(s);
      if (!is_opcode(op, "mbarrier.try_wait") || !has(op, ".parity") || polls.contains(s)) continue;
      const auto operands = body_.operands(body_.statements[s]);
      if (operands.size() < 3 || operands[1].kind != Term::Kind::address) continue;
      Site site = begin(PointGroup::waits, TraceEvent::wait, s);
      site.over_behind = true;
      site.barrier = &operands[1], site.parity = &operands[2], site.shared = in_shared(op);
      found_.sites.push_back(site);
    }
    std::stable_sort(found_.sites.begin(), found_.sites.end(),
                     [](const Site& a, const Site& b) { return a.statement < b.statement; });
  }

  const Label* label_of(const Statement& s) const {
    const auto operands = body_.operands(s);
    const bool known = s.opcode.starts_with("bra") && operands.size() == 1 && operands[0].kind == Term::Kind::label;
    return known ? &body_.labels[operands[0].index] : nullptr;
  }

  const char* find_way_in(WaitSite& site, uint32_t first, uint32_t last) {
    const auto inside = [&](uint32_t s) { return s >= first && s <= last; };
    for (uint32_t s = first; s <= last; ++s)
      if (const Label* label = label_of(body_.statements[s]); label && label->statement == first)
        if (!site.entry || label->name.data() < site.entry->name.data()) site.entry = label;
    if (!site.entry) return "its loop has no label";
    for (const TargetTable& table : body_.target_tables)
      for (const uint32_t index : table.labels)
        if (const Label& l = body_.labels[index];
            inside(l.statement) && (l.statement != first || l.name.data() >= site.entry->name.data()))
          return "brx.idx leads into its loop";
    for (uint32_t s = 0; s < body_.statements.size(); ++s) {
      const Label* label = inside(s) ? nullptr : label_of(body_.statements[s]);
      if (!label || !inside(label->statement)) continue;
      if (label->statement != first) return "a branch leads into the middle of its loop";
      if (label->name.data() >= site.entry->name.data()) site.jumps.push_back(s);
    }
    return nullptr;
  }

  /// Registers that a statement writes, as far as a loop that waits may hold it: its first operand.
  void written(const Term& t, std::set<uint32_t>& registers) const {
    if (t.kind == Term::Kind::reg) registers.insert(t.index);
    if (t.kind == Term::Kind::pair || t.kind == Term::Kind::vector)
      for (const Term& child : body_.children(t)) written(child, registers);
  }
  void read(const Term& t, std::set<uint32_t>& registers) const {
    if (t.kind == Term::Kind::reg) registers.insert(t.index);
    if (t.count > 0)
      for (const Term& child : body_.children(t)) read(child, registers);
  }

  const char* find_repeated(WaitSite& site, uint32_t first, uint32_t last) {
    std::set<uint32_t> needed;
    read(*site.barrier, needed), read(*site.parity, needed);
    const Statement& poll = body_.statements[site.poll];
    if (poll.guard != Statement::kNoGuard) needed.insert(poll.guard);
    for (uint32_t s = last + 1; s-- > first;) {  // from the poll back to what its operands follow from
      const Statement& statement = body_.statements[s];
      const auto operands = body_.operands(statement);
      if (operands.empty() || label_of(statement)) continue;
      std::set<uint32_t> writes;
      written(operands[0], writes);
      const bool matters =
          std::any_of(writes.begin(), writes.end(), [&](uint32_t r) { return needed.contains(r); });
      if (!matters) continue;
      if (s >= site.poll || statement.guard != Statement::kNoGuard) return "its operands change while it waits";
      for (const Term& source : operands.subspan(1)) read(source, needed);
      site.repeated.insert(site.repeated.begin(), s);
    }
    if (site.repeated.empty()) return nullptr;
    // What is executed once more before the loop must do the same in it.
    std::set<uint32_t> changed, sources;
    for (uint32_t s = first; s <= last; ++s)
      if (const auto operands = body_.operands(body_.statements[s]);
          !operands.empty() && !label_of(body_.statements[s]))
        written(operands[0], changed);
    std::set<uint32_t> set_here;
    for (const uint32_t s : site.repeated) {
      const auto operands = body_.operands(body_.statements[s]);
      std::set<uint32_t> reads;
      for (const Term& source : operands.subspan(1)) read(source, reads);
      for (const uint32_t r : reads)
        if (changed.contains(r) && !set_here.contains(r)) return "its operands change while it waits";
      written(operands[0], set_here);
    }
    site.sets.assign(set_here.begin(), set_here.end());
    for (uint32_t s = first; s < site.poll; ++s)
      if (label_of(body_.statements[s])) return "its operands are computed under a branch";
    return nullptr;
  }

  /// Where a wait goes on with another loop that waits, its end is recorded in front of that loop.
  void end_in_front_of_loops() {
    std::vector<WaitSite> kept;
    for (WaitSite& w : found_.waits) {
      const char* why = nullptr;
      for (const WaitSite& next : found_.waits) {
        for (const uint32_t jump : next.jumps)
          if (jump >= w.first && jump <= w.last) why = "a branch of its loop leads into another one that waits";
        if (next.first == w.exit) w.exit_label = next.entry;
      }
      if (why)
        refuse(w.poll, why);
      else
        kept.push_back(w);
    }
    for (WaitSite& w : kept)  // jumps of loops that are left alone
      for (const WaitSite& all : found_.waits)
        std::erase_if(w.jumps,
                      [&](uint32_t jump) { return jump >= all.first && jump <= all.last && all.poll != w.poll; });
    found_.waits = std::move(kept);
  }

  /// In a straight piece of code what goes on needs no second point.
  void drop_repetitions() {
    std::set<uint32_t> joins;  // statements that code comes to from elsewhere
    for (const Label& l : body_.labels) joins.insert(l.statement);
    for (const WaitSite& w : found_.waits) joins.insert(w.exit);
    std::vector<Site> kept;
    for (const Site& site : found_.sites) {
      const bool marks = site.kind != PointKind::begin || site.group == PointGroup::copies || site.over_behind;
      const Site* before = nullptr;
      for (auto k = kept.rbegin(); k != kept.rend() && !before; ++k)
        if (k->kind == PointKind::begin) before = &*k;
      const bool same = before && before->event == site.event && !before->generic && !site.generic &&
                        !before->over_behind && straight(before->statement, site.statement, joins) &&
                        (before->group != PointGroup::stores || before->from == site.from ||
                         before->from == kButSame(site.event));
      if (marks || !same) kept.push_back(site);
    }
    found_.sites = std::move(kept);
  }
  bool straight(uint32_t from, uint32_t to, const std::set<uint32_t>& joins) const {
    const Statement &a = body_.statements[from], &b = body_.statements[to];
    if (a.guard != b.guard || a.guard_negated != b.guard_negated) return false;
    for (uint32_t s = from; s <= to; ++s) {
      if (s > from && joins.contains(s)) return false;
      const std::string_view op = opcode(s);
      if (op.starts_with("bra") || op.starts_with("brx") || op.starts_with("call") || op == "ret" || op == "exit")
        return false;
      if (a.guard != Statement::kNoGuard && s > from) {
        std::set<uint32_t> writes;
        if (const auto operands = body_.operands(body_.statements[s]); !operands.empty())
          written(operands[0], writes);
        if (writes.contains(a.guard)) return false;
      }
    }
    return true;
  }

  const Module& module_;
  const Entry& entry_;
  const Body& body_;
  const InstrumentOptions& options_;
  Program program_;
  Sites found_;
};

}  // namespace

Sites find_sites(const Module& module, const Entry& entry, const InstrumentOptions& options) {
  return Finder(module, entry, options).find();
}

}  // namespace sm100::ptx
