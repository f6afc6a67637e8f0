#include "sim/hang_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sim/cluster_arrivals.h"
#include "sim/text.h"

namespace sm100::sim {

namespace {

using models::Mbarrier;
using models::MbarrierEvent;
using models::MbarrierEventKind;

/// Warps of one role that are stuck at the same place.
struct Stuck {
  std::string role;
  std::vector<int> warps;
  Blocked blocked;
  BarrierName barrier;                     ///< mbarrier waits
  const Mbarrier::State* state = nullptr;  ///< mbarrier waits
};

/// Why a wait cannot end, and how surely it is the root of the hang rather than a consequence.
struct Cause {
  int certainty = 0;
  std::string text;
};

std::string warps_text(const Stuck& s) {
  if (s.warps.size() == 1) return fmt::format("{} (warp {})", s.role, s.warps[0]);
  return fmt::format("{} (warps {}-{})", s.role, s.warps.front(), s.warps.back());
}

std::vector<Stuck> stuck_warps(const Cta& cta) {
  std::vector<Stuck> all;
  for (const auto& warp : cta.warps()) {
    if (!warp->running) continue;
    const std::string role = cta.kernel().role(warp->index);
    const Blocked& b = warp->blocked;
    auto same = std::find_if(all.begin(), all.end(), [&](const Stuck& s) {
      return s.role == role && s.blocked.on == b.on && s.blocked.offset == b.offset && s.blocked.parity == b.parity;
    });
    if (same != all.end()) {
      same->warps.push_back(warp->index);
      continue;
    }
    Stuck s{.role = role, .warps = {warp->index}, .blocked = b};
    if (b.on == Blocked::On::mbarrier) {
      s.barrier = barrier_name(cta.kernel(), b.offset);
      s.state = const_cast<Cta&>(cta).sm().mbarrier.find(b.offset);
    }
    all.push_back(std::move(s));
  }
  return all;
}

/// "launch 0 (2 CTAs run, 0 wait for an SM)", and those after it, ahead of the CTA's own launch.
std::string unfinished_launches(Cta& cta) {
  std::string text;
  for (int launch = 0; launch < cta.launch(); ++launch) {
    const uint64_t running = cta.gpu().ctas_running(launch);
    const uint64_t waiting = cta.gpu().clc().waiting(launch) * cta.cluster_ctas();
    if (running + waiting == 0) continue;
    text += fmt::format("{}launch {} ({} CTA{} run{}", text.empty() ? "" : ", ", launch, running,
                        running == 1 ? "" : "s", running == 1 ? "s" : "");
    text += waiting > 0 ? fmt::format(", {} wait for an SM)", waiting) : ")";
  }
  return text.empty() ? "writes of the launch ahead that are not visible yet" : text;
}

class CtaAnalysis {
 public:
  explicit CtaAnalysis(Cta& cta) : cta_(cta), stuck_(stuck_warps(cta)) {}

  const std::vector<Stuck>& stuck() const { return stuck_; }

  Cause cause(const Stuck& s) const {
    if (s.blocked.on == Blocked::On::nothing) return {0, "it still runs"};
    if (s.blocked.on == Blocked::On::named_barrier) return named_barrier_cause(s);
    if (s.blocked.on == Blocked::On::tmem_alloc)
      return {
          s.blocked.offset > 0 && cta_.tcgen05_group == 2 ? 40 : 60,
          fmt::format("tcgen05.alloc of {} columns waits for tensor memory that nobody frees{}", s.blocked.offset,
                      cta_.tcgen05_group == 2 ? ", or for the peer CTA's tcgen05.alloc" : "")};
    if (s.blocked.on == Blocked::On::tmem_dealloc)
      return {4, "tcgen05.dealloc.cta_group::2 waits for that of the peer CTA"};
    if (s.blocked.on == Blocked::On::global_word)
      return {82, fmt::format("nobody stores a value other than {} to {}", s.blocked.value,
                              cta_.describe(s.blocked, true))};
    // So does this one: the launch ahead is stuck.
    if (s.blocked.on == Blocked::On::prerequisite_grids)
      return {3, fmt::format("griddepcontrol.wait waits for {}", unfinished_launches(cta_))};
    // Whoever has not come is stuck somewhere else, and that says more.
    if (s.blocked.on == Blocked::On::cluster_barrier)
      return {4, fmt::format("the cluster barrier waits for {}", cluster_barrier_missing(cta_))};
    if (!s.state || !s.barrier.array) return {1, "the barrier is no barrier of this kernel"};
    const MbarrierState word = decode_mbarrier(s.state->word);
    const bool copies_done = !copy_in_flight(s.blocked.offset);
    if (word.expected != s.barrier.array->count)
      return {110, fmt::format("{} was initialised for {} arrivals per phase; the kernel's barrier table says {}",
                               text_of(s.barrier), word.expected, s.barrier.array->count)};
    if (const Cause peer = missing_bytes_cause(s, word); copies_done && peer.certainty > 0) return peer;
    if (word.pending == 0 && word.tx > 0 && copies_done)
      return {100, fmt::format("expect_tx counts {} bytes more than the copies of this phase deliver{}",
                               grouped(word.tx),
                               owed_bytes(cta_, *s.state).empty() ? "" : ", and our own copy into it is missing")};
    if (word.pending == 0 && word.tx < 0)
      return {100, fmt::format("the copies of this phase deliver {} bytes more than expect_tx counts",
                               grouped(-word.tx))};
    // Other CTAs' multicasts may come before our own load warp, which is then the one to ask.
    if (word.pending > 0 && word.tx < 0 && copies_done && !waits_for_release_of(s))
      return {95, fmt::format("{} bytes were delivered to a phase that nobody armed: the {} of {} is missing",
                              grouped(-word.tx), s.barrier.array->arrives_with, s.barrier.array->arrives)};
    if (const Cause wrong = wrong_turn_cause(s); wrong.certainty > 0) return wrong;
    // Who arrives here runs in another CTA, and what holds it up is seen there.
    if (const std::vector<uint32_t> ranks = foreign_arrivers(cta_, *s.barrier.array); !ranks.empty())
      return {6, fmt::format("{} of CTA {} waits for the {} of {} in {}", text_of(s.barrier), cta_.linear_id(),
                             s.barrier.array->arrives_with, s.barrier.array->arrives, ctas_text(cta_, ranks))};
    if (const Cause peer = peer_cause(s); peer.certainty > 0) return peer;
    if (const BarrierName full = sibling(s, "_empty", "_full"); full.array) return empty_cause(s, full);
    return full_cause(s);
  }

  std::vector<std::string> details(const Stuck& s) const {
    std::vector<std::string> lines;
    if (s.blocked.on == Blocked::On::named_barrier) {
      const auto& named = cta_.sm().barriers.named(int(s.blocked.offset));
      lines.push_back(named.expected == 0
                          ? "it has just opened; its warps wake"
                          : fmt::format("{} of {} threads have arrived", named.arrived, named.expected));
    }
    if (s.blocked.on == Blocked::On::global_word) {
      const auto* last = cta_.gpu().words().last_store(s.blocked.address);
      lines.push_back(
          fmt::format("polled, it holds {}; {}", s.blocked.value,
                      last ? fmt::format("the last store to it, of {}, was by {} of CTA {} at cycle {} ({})",
                                         last->value, cta_.kernel().role(last->by.warp), last->by.cta,
                                         grouped(int64_t(last->visible)), line_of(last->by.loc))
                           : std::string("nobody has stored to it")));
    }
    if (s.blocked.on == Blocked::On::prerequisite_grids)
      lines.push_back("not completed: " + unfinished_launches(cta_));
    if (s.blocked.on == Blocked::On::cluster_barrier) lines.push_back("missing: " + cluster_barrier_missing(cta_));
    if (!s.state || !s.barrier.array) return lines;
    const MbarrierState word = decode_mbarrier(s.state->word);
    lines.push_back(missing_text(s, word));
    const OwedArrivals owed = owed_arrivals(cta_, *s.state);
    if (!owed.ranks.empty())
      lines.push_back(fmt::format("arrivals missing from: {}{}", ctas_text(cta_, owed.ranks),
                                  owed.assumed ? ", if all CTAs of the cluster arrive alike" : ""));
    const size_t header = lines.size();
    const uint64_t first =
        s.state->events > Mbarrier::State::kHistory ? s.state->events - Mbarrier::State::kHistory : 0;
    for (uint64_t i = first; i < s.state->events; ++i) {
      const MbarrierEvent& e = s.state->history[i % Mbarrier::State::kHistory];
      if (e.phase != s.state->phase || e.kind == MbarrierEventKind::init) continue;
      lines.push_back(event_text(e));
    }
    if (lines.size() == header && s.state->phase > 0 && s.state->events > 0) {
      const MbarrierEvent& last = s.state->history[(s.state->events - 1) % Mbarrier::State::kHistory];
      lines.push_back(
          fmt::format("last event: phase {} completed at cycle {}", last.phase, grouped(int64_t(last.time))));
    }
    if (const std::vector<uint32_t> owing = owed_bytes(cta_, *s.state); word.tx > 0 && !owing.empty())
      lines.push_back("bytes missing from: " + ctas_text(cta_, owing));
    if (word.tx != 0 && !copy_in_flight(s.blocked.offset))
      lines.push_back("no copy in flight targets this barrier");
    if (s.state->phase == 0 && lines.size() == header) lines.push_back("nothing has ever arrived on it");
    return lines;
  }

 private:
  bool copy_in_flight(uint32_t offset) const {
    // A load of the peer may signal our barrier (cta_group::2).
    const int first_sm = cta_.sm().id - int(cta_.cluster_rank());
    for (uint32_t r = 0; r < cta_.cluster_ctas(); ++r)
      for (const auto& f : cta_.gpu().sm(first_sm + int(r)).tma.loads_in_flight())
        if (f.barrier == offset && f.signal_sm == cta_.sm().id) return true;
    return false;
  }

  /// The barrier array of the same ring with `suffix` replaced, same stage.
  BarrierName sibling(const Stuck& s, std::string_view suffix, std::string_view other) const {
    const std::string_view name = s.barrier.array->name;
    if (!name.ends_with(suffix)) return {};
    const std::string wanted = std::string(name.substr(0, name.size() - suffix.size())) + std::string(other);
    for (const BarrierArray& a : cta_.kernel().barriers)
      if (a.name == wanted) return {&a, s.barrier.stage};
    return {};
  }

  const Stuck* stuck_role(std::string_view role) const {
    for (const Stuck& s : stuck_)
      if (s.role == role) return &s;
    return nullptr;
  }

  /// This CTA has done its part of the phase and other CTAs of the cluster have not.
  Cause peer_cause(const Stuck& s) const {
    const std::vector<uint32_t> owing = owed_arrivals(cta_, *s.state).ranks;
    auto& clusters = cta_.gpu().clusters();
    bool exited = false;
    for (uint32_t rank : owing) {
      if (rank == cta_.cluster_rank()) return {};
      exited |= clusters.exited(cta_.sm().id, rank);
    }
    if (owing.empty()) return {};
    return {exited ? 85 : 30,
            fmt::format("{} of CTA {} misses the {} of {} in {}", text_of(s.barrier), cta_.linear_id(),
                        s.barrier.array->arrives_with, s.barrier.array->arrives, ctas_text(cta_, owing))};
  }

  /// A multicast stage lacks the share that another CTA loads into it.
  Cause missing_bytes_cause(const Stuck& s, const MbarrierState& word) const {
    if (word.pending != 0 || word.tx <= 0) return {};
    const std::vector<uint32_t> owing = owed_bytes(cta_, *s.state);
    bool exited = false;
    for (uint32_t rank : owing) {
      if (rank == cta_.cluster_rank()) return {};
      exited |= cta_.gpu().clusters().exited(cta_.sm().id, rank);
    }
    if (owing.empty()) return {};
    return {exited ? 85 : 30, fmt::format("{} of CTA {} misses {} bytes that {} loads into it", text_of(s.barrier),
                                          cta_.linear_id(), grouped(word.tx), ctas_text(cta_, owing))};
  }

  /// The role that fills this stage is stuck before it can: it waits for the stage's release.
  bool waits_for_release_of(const Stuck& s) const {
    const BarrierName empty = sibling(s, "_full", "_empty");
    for (const Stuck& other : stuck_)
      if (empty.array && other.barrier.array == empty.array && other.barrier.stage == empty.stage) return true;
    return false;
  }

  /// A producer waits for a release.
  Cause empty_cause(const Stuck& s, const BarrierName& full) const {
    const int64_t phase = s.state->phase;
    // Of a pair, the leader's barrier alone is filled.
    const int leader = cta_.sm().id - (cta_.tcgen05_group == 2 ? int(cta_.cluster_rank() & 1) : 0);
    const Mbarrier::State* fill =
        cta_.gpu().sm(leader).mbarrier.find(full.array->base.offset() + 8u * uint32_t(full.stage));
    const MbarrierState word = fill ? decode_mbarrier(fill->word) : MbarrierState{};
    const bool armed = fill && (word.pending != word.expected || word.tx != 0);
    if (fill && fill->phase < phase)
      return {85, fmt::format("{} has been released {} times but filled {} times: {} releases it without having "
                              "waited for {}",
                              text_of(s.barrier), phase, fill->phase, s.barrier.array->arrives, full.array->name)};
    // Less certain than what the reader of the full barrier says about the same missing fill.
    if (fill && fill->phase == phase && !armed)
      return {60, fmt::format("{} waits for the release of a fill that never happened: its {} on {} is missing",
                              s.role, full.array->arrives_with, text_of(full))};
    if (fill && fill->phase > phase) {
      for (std::string_view consumer : roles(s.barrier.array->arrives)) {
        if (has_arrived(s, consumer)) continue;
        const Stuck* c = stuck_role(consumer);
        const bool waits_in_ring = c && c->blocked.on == Blocked::On::mbarrier && c->barrier.array == full.array;
        const bool passed = !c || (waits_in_ring && position(c->state->phase, c->barrier) > position(phase, full));
        // A role that has exited, or waits for a later stage of the ring, must have been through this one.
        if (passed)
          return {80,
                  fmt::format("{} has passed {} phase {} without releasing it: its {} on {} is missing", consumer,
                              text_of(full), phase, s.barrier.array->arrives_with, text_of(s.barrier))};
      }
    }
    return {10, wait_chain(s)};
  }

  Warp::Use use_of(const Stuck& s, const BarrierArray* array) const {
    return cta_.warps()[size_t(s.warps.front())]->use[size_t(array - cta_.kernel().barriers.data())];
  }

  /// A cursor walks the stages in order and its parity flips with every lap: this wait breaks that.
  Cause wrong_turn_cause(const Stuck& s) const {
    const bool full = std::string_view(s.barrier.array->name).ends_with("_full");
    if (!full && !std::string_view(s.barrier.array->name).ends_with("_empty")) return {};
    const int waits = use_of(s, s.barrier.array).waits, stages = s.barrier.array->stages;
    const int stage = waits % stages, lap = waits / stages;
    if (stage != s.barrier.stage)
      return {92, fmt::format(
                      "{} waits for stage {} after {} waits on {}; its next stage is {}: it skipped or repeated a "
                      "wait",
                      s.role, s.barrier.stage, waits, s.barrier.array->name, stage)};
    const uint32_t parity = uint32_t(lap & 1) ^ (full ? 0u : 1u);  // a producer's first lap waits for parity 1
    if (parity == s.blocked.parity) return {};
    if (!full && lap == 0)
      return {94,
              fmt::format("{} waits for the release of a fill that it never made: a producer's first lap must wait "
                          "for parity 1, which a fresh barrier passes",
                          s.role)};
    return {94, fmt::format("{} waits for parity {} in lap {} of {}; that lap's parity is {}", s.role,
                            s.blocked.parity, lap, s.barrier.array->name, parity)};
  }

  /// A consumer waits for a fill, or a single barrier.
  Cause full_cause(const Stuck& s) const {
    if (const BarrierName empty = sibling(s, "_full", "_empty"); empty.array) {
      for (std::string_view producer : roles(s.barrier.array->arrives)) {
        const Stuck* p = stuck_role(producer);
        if (!p || has_arrived(s, producer)) continue;
        const int acquired = use_of(*p, empty.array).waits, filled = use_of(*p, s.barrier.array).arrivals;
        const bool asks_again = p->barrier.array == empty.array;
        // Between an acquire and its commit the MMA warp waits for input; other producers fill at once.
        const bool filling = p->barrier.array && std::string_view(p->barrier.array->name) == "input_full";
        if (acquired > filled + 1 || (acquired == filled + 1 && (asks_again || !filling)))
          return {75, fmt::format("{} has acquired {} stages of {} but filled {}: its {} on {} is missing",
                                  producer, acquired, s.barrier.array->name, filled, s.barrier.array->arrives_with,
                                  text_of(s.barrier))};
      }
    }
    for (std::string_view producer : roles(s.barrier.array->arrives))
      if (!stuck_role(producer))
        return {70, fmt::format("{} has exited without its {} on {}", producer, s.barrier.array->arrives_with,
                                text_of(s.barrier))};
    if (s.barrier.array->arrives == s.role && all_of_role_stuck_here(s))
      return {60, fmt::format("{} waits for its own {} on {}, which is missing", s.role,
                              s.barrier.array->arrives_with, text_of(s.barrier))};
    return {5, wait_chain(s)};
  }

  /// No warp of the role is anywhere else: none can still arrive.
  bool all_of_role_stuck_here(const Stuck& s) const {
    size_t warps = 0;
    for (const auto& warp : cta_.warps()) warps += cta_.kernel().role(warp->index) == s.role;
    return s.warps.size() == warps;
  }

  /// All warps of the role in this CTA have arrived in the open phase, as far as the barrier remembers.
  bool has_arrived(const Stuck& s, std::string_view role) const {
    const uint64_t kept = std::min<uint64_t>(s.state->events, Mbarrier::State::kHistory);
    std::vector<int> arrived;
    for (uint64_t i = s.state->events - kept; i < s.state->events; ++i) {
      const MbarrierEvent& e = s.state->history[i % Mbarrier::State::kHistory];
      if (e.phase == s.state->phase && e.kind == MbarrierEventKind::arrive && e.source.warp >= 0 &&
          cta_.kernel().role(e.source.warp) == role && e.source.cta == cta_.linear_id() &&
          std::find(arrived.begin(), arrived.end(), e.source.warp) == arrived.end())
        arrived.push_back(e.source.warp);
    }
    size_t warps = 0;
    for (const auto& warp : cta_.warps()) warps += cta_.kernel().role(warp->index) == role;
    return arrived.size() == warps;
  }

  /// Who waits for whom, from `s` on, until it closes.
  std::string wait_chain(const Stuck& s) const {
    std::string chain;
    std::vector<const Stuck*> seen;
    const Stuck* at = &s;
    while (at && at->barrier.array && std::find(seen.begin(), seen.end(), at) == seen.end()) {
      seen.push_back(at);
      const Stuck* next = nullptr;
      std::string_view provider = at->barrier.array->arrives;
      for (std::string_view role : roles(at->barrier.array->arrives))
        if (!has_arrived(*at, role) && (next = stuck_role(role))) {
          provider = role;
          break;
        }
      chain += fmt::format("{}{} waits for {}'s {} on {}", chain.empty() ? "" : ", ", at->role, provider,
                           at->barrier.array->arrives_with, text_of(at->barrier));
      at = next;
    }
    return (at ? "the roles wait for each other: " : "") + chain;
  }

  static std::string text_of(const BarrierName& b) { return fmt::format("{}[{}]", b.array->name, b.stage); }

  Cause named_barrier_cause(const Stuck& s) const {
    const auto& named = cta_.sm().barriers.named(int(s.blocked.offset));
    return {20, fmt::format("named barrier {} counts {} threads, {} have come", s.blocked.offset, named.expected,
                            named.arrived)};
  }

  static int64_t position(int64_t phase, const BarrierName& b) { return phase * b.array->stages + b.stage; }

  static std::vector<std::string_view> roles(std::string_view list) {
    std::vector<std::string_view> all;
    while (!list.empty()) {
      const size_t comma = list.find(", ");
      all.push_back(list.substr(0, comma));
      list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 2);
    }
    return all;
  }

  std::string missing_text(const Stuck& s, const MbarrierState& word) const {
    std::string bytes, arrivals;
    if (word.tx > 0)
      bytes = fmt::format("{} of {} bytes", grouped(word.tx), grouped(int64_t(s.state->expected_bytes)));
    if (word.pending > 0)
      arrivals = fmt::format("{} of {} arrivals ({} of {})", word.pending, word.expected,
                             s.barrier.array->arrives_with, s.barrier.array->arrives);
    const std::string what = !bytes.empty() && !arrivals.empty() ? arrivals + " and " + bytes
                             : !bytes.empty()                    ? bytes + "; all arrivals are in"
                             : !arrivals.empty()                 ? arrivals
                                                 : fmt::format("nothing, but its tx-count is {}", word.tx);
    return fmt::format("phase {} misses {}", s.state->phase, what);
  }

  std::string event_text(const MbarrierEvent& e) const {
    auto who = [&] {
      std::string warp = fmt::format("{} (warp {})", cta_.kernel().role(e.source.warp), e.source.warp);
      if (e.source.cta != cta_.linear_id()) warp += fmt::format(" of CTA {}", e.source.cta);
      if (e.source.kind == models::ActorKind::warp) return "by " + warp;
      const char* unit = e.source.kind == models::ActorKind::tma    ? "TMA"
                         : e.source.kind == models::ActorKind::umma ? "the tensor core"
                                                                    : "CLC";
      return fmt::format("by {} for {}", unit, warp);
    };
    const std::string at = line_of(e.source.loc).empty() ? "" : "  " + line_of(e.source.loc);
    switch (e.kind) {
      case MbarrierEventKind::expect_tx:
        return fmt::format("armed at cycle {} {} with expect_tx {}{}", grouped(int64_t(e.time)), who(),
                           grouped(e.amount), at);
      case MbarrierEventKind::complete_tx:
        return fmt::format("{} bytes delivered at cycle {} {}{}", grouped(e.amount), grouped(int64_t(e.time)),
                           who(), at);
      case MbarrierEventKind::arrive:
        return fmt::format("{} arrival{} at cycle {} {}{}", e.amount, e.amount == 1 ? "" : "s",
                           grouped(int64_t(e.time)), who(), at);
      default: return fmt::format("event at cycle {}", grouped(int64_t(e.time)));
    }
  }

  Cta& cta_;
  std::vector<Stuck> stuck_;
};

/// The CTA to show: of the first cluster that is stuck, the one whose waits explain the most.
Cta* most_certain(const std::vector<Cta*>& ctas) {
  Cta* best = nullptr;
  int certainty = -1;
  for (Cta* cta : ctas) {
    if (!cta->resident() || (best && cta->peer_id(0) != best->peer_id(0))) continue;
    const CtaAnalysis analysis(*cta);
    for (const Stuck& s : analysis.stuck())
      if (const int c = analysis.cause(s).certainty; c > certainty) best = cta, certainty = c;
  }
  return best;
}

/// "4 CTAs of launch 1 wait": CTAs other than the one shown with a warp in griddepcontrol.wait.
std::string waiting_dependents(const std::vector<Cta*>& ctas, const Cta& shown) {
  int count = 0, launch = 0;
  for (Cta* cta : ctas) {
    const bool waits = cta->resident() && cta != &shown &&
                       std::any_of(cta->warps().begin(), cta->warps().end(), [](const auto& warp) {
                         return warp->running && warp->blocked.on == Blocked::On::prerequisite_grids;
                       });
    if (waits) ++count, launch = cta->launch();
  }
  if (count == 0) return "";
  return fmt::format("{} CTA{} of launch {} wait{}", count, count == 1 ? "" : "s", launch, count == 1 ? "s" : "");
}

/// The run ended while no CTA was on an SM.
HangReport nobody_runs(models::Cycles cycle, models::Cycles budget, const std::string& replay) {
  const std::string cause = budget > 0
                                ? fmt::format(
                                      "the budget of {} cycles is used up; no CTA runs: a launch takes "
                                      "longer (launch.* of the profile)",
                                      grouped(int64_t(budget)))
                                : "CTAs of the grid have not started, and no event is left that would start one";
  HangReport report;
  report.text = fmt::format("{} at cycle {}: {}\n  replay: {}\n", budget > 0 ? "STOPPED" : "HANG",
                            grouped(int64_t(cycle)), cause, replay);
  report.finding = {.id = budget > 0 ? "cycle-budget" : "hang", .cause = cause, .message = cause};
  return report;
}

}  // namespace

HangReport explain_hang(const std::vector<Cta*>& ctas, models::Cycles cycle, models::Cycles budget,
                        const std::string& replay) {
  Cta* shown = most_certain(ctas);
  if (!shown) return nobody_runs(cycle, budget, replay);
  HangReport report;
  const auto others = std::count_if(ctas.begin(), ctas.end(), [](Cta* cta) { return cta->resident(); }) - 1;

  const CtaAnalysis analysis(*shown);
  std::vector<std::pair<Cause, const Stuck*>> waits;
  size_t blocked_warps = 0;
  for (const Stuck& s : analysis.stuck()) {
    waits.push_back({analysis.cause(s), &s});
    blocked_warps += s.warps.size();
  }
  // The wait that explains the others comes first.
  std::stable_sort(waits.begin(), waits.end(),
                   [](const auto& a, const auto& b) { return a.first.certainty > b.first.certainty; });

  std::string& text = report.text;
  text =
      budget == 0
          ? fmt::format("HANG at cycle {}: {} of {} warps of {} can never wake\n", grouped(int64_t(cycle)),
                        blocked_warps, shown->warps().size(), shown->name())
          : fmt::format("STOPPED at cycle {}: the budget of {} cycles is used up; where the {} warps of {} are\n",
                        grouped(int64_t(cycle)), grouped(int64_t(budget)), blocked_warps, shown->name());
  for (const auto& [cause, s] : waits) {
    std::string what = shown->describe(s->blocked, true);
    if (s->blocked.on == Blocked::On::mbarrier) what += fmt::format(" parity {}", s->blocked.parity);
    if (s->blocked.on == Blocked::On::nothing) {
      text += fmt::format("  {:<22} runs\n", warps_text(*s));
      continue;
    }
    text += fmt::format("  {:<22} waits {:<34} {}\n", warps_text(*s), what, line_of(s->blocked.loc));
    for (const std::string& line : analysis.details(*s)) text += "     " + line + "\n";
  }
  const auto& [cause, root] = waits.front();
  if (budget == 0) text += fmt::format("  likely cause: {}\n", cause.text);
  if (others > 0)
    text += budget == 0 ? fmt::format("  {} other CTA{} stuck as well\n", others, others == 1 ? " is" : "s are")
                        : fmt::format("  {} other CTA{} on the GPU\n", others, others == 1 ? " is" : "s are");
  if (const auto dependents = waiting_dependents(ctas, *shown); !dependents.empty())
    text += fmt::format("  {} in griddepcontrol.wait for {}\n", dependents,
                        shown->launch() == 0 ? "launch 0" : "the launches ahead");
  text += fmt::format("  replay: {}\n", replay);

  report.finding = {
      .id = budget == 0 ? "hang" : "cycle-budget",
      .barrier = root->barrier.array ? root->barrier.array->name : shown->describe(root->blocked, false),
      .stage = root->barrier.array ? root->barrier.stage : -1,
      .phase = root->state ? int(root->state->phase) : -1,
      .role = root->role,
      .cta = shown->linear_id(),
      .location = line_of(root->blocked.loc),
      .cause = cause.text,
      .message = budget == 0 ? fmt::format("{} can never wake: {}", warps_text(*root), cause.text)
                             : fmt::format("the budget of {} cycles is used up", grouped(int64_t(budget)))};
  return report;
}

}  // namespace sm100::sim
