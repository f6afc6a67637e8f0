// SPDX-License-Identifier: Apache-2.0
// mbarrier on the model: init, inval, waits, addresses.  Arrivals: mbarrier_arrive.cpp.
#include "kernels/isa/instructions/mbarrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/barrier_listener.h"
#include "sim/warp_context.h"

namespace sm100::instructions {

using models::now;
using sim::HazardChecker;
using sim::WaitHistory;
using sim::WarpContext;

void MbarrierInit::execute(WarpContext& w) const {
  w.charge(w.issue.mbarrier_init);
  w.settle();
  if (!w.own_window(barrier, "mbarrier.init")) return;
  w.for_each_thread([&](const models::Source& by) { w.own.mbarrier.init(barrier.offset(), count, by); });
  const models::Mbarrier::State* const now_there = w.own.mbarrier.find(barrier.offset());
  if (now_there && now_there->life > 0) return;  // behind an inval it may be another one than the table's
  if (const sim::BarrierName name = barrier_name(w.cta.kernel(), barrier.offset());
      name.array && name.array->count != count)
    w.warn("MB17",
           fmt::format("{}[{}] is initialised for {} arrivals per phase, the kernel's barrier table says {}",
                       name.array->name, name.stage, count, name.array->count),
           barrier.offset());
}

void MbarrierInval::execute(WarpContext& w) const {
  w.charge(w.issue.mbarrier_init);  // assumed as long as an init
  w.settle();
  if (!w.own_window(barrier, "mbarrier.inval")) return;
  w.for_each_thread([&](const models::Source& by) { w.own.mbarrier.inval(barrier.offset(), by); });
}

// ---- waits

namespace {

/// What the role may have meant: the other side of the ring, or a stage beyond the end of the array before.
std::string meant_text(const sim::Kernel& kernel, const sim::BarrierName& name, std::string_view role) {
  const auto places_behind = [&](const BarrierArray& array) {
    return (int(name.array->base.offset()) - int(array.base.offset())) / 8 + name.stage - array.stages;
  };
  const BarrierArray *other = nullptr, *before = nullptr;
  const std::string_view ring =
      std::string_view(name.array->name).substr(0, std::string_view(name.array->name).rfind('_'));
  for (const BarrierArray& array : kernel.barriers) {
    if (&array == name.array || !sim::lists(array.waits, role)) continue;
    const std::string_view its = std::string_view(array.name).substr(0, std::string_view(array.name).rfind('_'));
    if (its == ring && name.stage < array.stages) other = &array;
    const int behind = places_behind(array);
    if (behind >= 0 && behind < array.stages && (!before || behind < places_behind(*before))) before = &array;
  }
  std::string text;
  if (other) text = fmt::format("; of this ring it waits on {}[{}]", other->name, name.stage);
  if (before)
    text += fmt::format("; {}[{}] would lie here, of which there {}", before->name,
                        before->stages + places_behind(*before),
                        before->stages == 1 ? "is 1" : fmt::format("are {}", before->stages));
  return text;
}

/// MB18: the first wait of a warp on an array whose row names other roles.
void check_waiter(WarpContext& w, SmemAddr barrier) {
  const sim::Kernel& kernel = w.cta.kernel();
  const sim::BarrierName name = barrier_name(kernel, barrier.offset());
  if (!name.array || !name.array->waits || *name.array->waits == '\0') return;
  const size_t array = size_t(name.array - kernel.barriers.data());
  if (array < w.warp.use.size() && w.warp.use[array].waits > 0) return;  // looked at before
  const std::string& role = kernel.role(w.warp.index);
  if (array < kernel.learned_arrivers.size() && kernel.learned_arrivers[array]) return;
  if (sim::lists(name.array->waits, role)) return;
  w.cta.observer().violation(
      {"MB18",
       fmt::format("{} waits on {}[{}]: the kernel's barrier table lists {}{}", role, name.array->name, name.stage,
                   name.array->waits, meant_text(kernel, name, role)),
       now(), w.own.slot, barrier.offset(), w.source()});
}

/// Of a barrier in a warp's WaitHistory: one that was initialised where another was ended is not the same.
uint32_t history_key(const models::Mbarrier::State& state) { return state.life * kSmemWindowBytes + state.offset; }

/// MB8: a consumer's wait passes at once, before anything has come.  Only who fills a ring begins so.
void check_fresh(WarpContext& w, const models::Mbarrier::State& state, uint32_t parity, bool test) {
  const sim::Kernel& kernel = w.cta.kernel();
  const sim::BarrierName name = barrier_name(kernel, state.offset);
  if (!name.array || parity != 1) return;
  // Of other names nobody knows which side of a ring they are; tmem_dealloc is none, and has one phase.
  const std::string_view array_name = name.array->name;
  if (!array_name.ends_with("_full") && array_name != "tmem_dealloc") return;
  const size_t array = size_t(name.array - kernel.barriers.data());
  if (array < kernel.learned_arrivers.size() && kernel.learned_arrivers[array]) return;
  const auto& said = w.cta.observer().warnings();  // of the first warp of all that do it
  if (std::any_of(said.begin(), said.end(), [&](const models::Violation& v) {
        return v.id == "MB8" && v.source.loc.line() == w.loc().line() && v.barrier == state.offset;
      }))
    return;
  w.cta.observer().violation(
      {"MB8",
       fmt::format("mbarrier.{}.parity on {}[{}] passes at once: parity 1, and no phase of it has completed; {} "
                   "waits for parity 0",
                   test ? "test_wait" : "try_wait", array_name, name.stage,
                   array_name.ends_with("_full") ? "a consumer's first lap" : "who waits for its first phase"),
       now(), w.own.slot, state.offset, w.source(), /*warning=*/true});
}

/// MB8: the wait names a phase that the warp has seen, or perhaps one that is long over.
/// @param by_state  of an arrival: the phase has been checked, and may be asked for again
/// @return the phase that it sees is one more for this warp
bool check_wait(WarpContext& w, const models::Mbarrier::State& state, uint32_t parity, bool test, bool by_state) {
  using Next = WaitHistory::Next;
  const uint32_t key = history_key(state);
  const Next next = w.waits.classify(key, parity, state.phase);
  const int64_t phase = WaitHistory::named(parity, state.phase);
  const bool stale = next == Next::stale;
  // A warp may leave out any number of waits, if it knows that the phases are over.
  const bool lapped =
      next == Next::skips && w.hazards() && !w.hazards()->knows_completed(w.thread(), state.offset, phase - 1);
  if ((stale || lapped) && !by_state) {
    const std::string barrier =
        w.cta.describe({.on = sim::Blocked::On::mbarrier, .offset = state.offset, .loc = w.loc()}, true);
    const int64_t seen = w.waits.seen(key);
    if (stale) w.warp.stale_wait = {.on = state.offset, .phase = seen, .loc = w.loc(), .at = now()};
    const char* const instruction = test ? "test_wait" : "try_wait";
    w.cta.observer().violation(
        {"MB8",
         stale ? fmt::format("mbarrier.{}.parity on {} passes at once on phase {}, which the warp has already "
                             "seen: parity {} once more",
                             instruction, barrier, seen, parity)
               : fmt::format("mbarrier.{}.parity on {} for phase {} when phase {} is open: a parity names the "
                             "open phase or the one before, and nothing tells the warp that phase {} is over",
                             instruction, barrier, seen + 1, state.phase, phase - 1),
         now(), w.own.slot, state.offset, w.source(), stale});
  }
  if (phase < 0 && !by_state) check_fresh(w, state, parity, test);
  w.waits.see(key, phase, test);  // CUTLASS throws the answers of several tests in a row away
  return next != Next::again && !(stale && by_state);
}

}  // namespace

namespace {

/// `over`: the phase has completed, and its acquire has the scope.
bool acquired(WarpContext& w, bool over, Scope scope, SmemAddr barrier, const char* instruction) {
  if (over) w.check_acquire_scope(scope, barrier, instruction);
  return over;
}

/// The try_wait that has just returned false, once more.
bool asks_again(const WarpContext& w, SmemAddr barrier, uint32_t parity) {
  return w.given_up && w.given_up->barrier.offset() == barrier.offset() && w.given_up->parity == parity &&
         w.given_up->loc.line() == w.loc().line() && w.given_up->loc.column() == w.loc().column();
}

/// Sleeps; false: the limit has ended it, and given_up says what was waited for.
bool sleep(WarpContext& w, const WarpContext::MbarrierWait& wait, bool limited) {
  const uint32_t offset = wait.barrier.offset();
  if (limited) w.cta.gpu().try_wait_limit().watch(w.warp.waiter);
  w.warp.suspend({.on = sim::Blocked::On::mbarrier,
                  .offset = offset,
                  .parity = wait.parity,
                  .loc = wait.loc,
                  .since = wait.since});
  if (std::exchange(w.warp.waiter.gave_up, false)) {
    w.own.mbarrier.give_up(offset, w.warp.waiter);
    w.given_up = wait;
    return false;
  }
  if (w.cta.observer().recorder()) {
    w.cta.observer().mbarrier_wait(traces::BarrierEventKind::wait_end, w.warp, *w.own.mbarrier.find(offset),
                                   wait.phase, w.warp.waiter.cause, now());
    if (!w.warp.open_spans.empty()) w.warp.open_spans.back().flow_in = w.warp.waiter.cause;
  }
  w.count_wait(wait.barrier, wait.sees);
  if (HazardChecker* h = w.hazards()) h->acquire(w.thread(), offset);
  return true;
}

}  // namespace

namespace {

bool try_wait(WarpContext& w, SmemAddr barrier, uint32_t parity, bool by_state) {
  const uint32_t offset = barrier.offset();
  if (asks_again(w, barrier, parity)) {
    const WarpContext::MbarrierWait wait = *std::exchange(w.given_up, std::nullopt);
    if (wait.drawn) w.jitter().retract();
    w.own.mbarrier.ask_again(offset, w.warp.waiter);
    return sleep(w, wait, /*limited=*/false);
  }
  w.warp.begins_wait(w.loc());
  w.charge(w.issue.mbarrier_try_wait);
  w.settle();
  if (!w.own_window(barrier, "mbarrier.try_wait")) return true;
  check_waiter(w, barrier);
  sim::RunObserver& observer = w.cta.observer();
  observer.mbarrier_named(w.cta.kernel(), offset, w.warp.index);
  const bool recording = observer.recorder() != nullptr;
  const models::Mbarrier::State* state = w.own.mbarrier.find(offset);
  HazardChecker* h = w.hazards();
  if (h) h->uses_barrier(w.thread(), w.cluster_ctarank(), offset, false);
  const int64_t sees = state ? WaitHistory::named(parity, state->phase) : 0;
  const std::optional<WaitHistory::Seen> before = state ? w.waits.last(history_key(*state)) : std::nullopt;
  const bool counts = state && parity <= 1 && check_wait(w, *state, parity, false, by_state);
  if (sim::BarrierListener* listener = sim::barrier_listener())
    listener->mbarrier_wait(w.warp, offset, parity, sees, /*tests=*/false, w.loc());
  if (w.own.mbarrier.test_parity(offset, parity, w.point())) {
    if (recording && !w.warp.open_spans.empty()) w.warp.open_spans.back().flow_in = state->last_cause;
    if (counts) w.count_wait(barrier, sees);
    if (h) h->acquire(w.thread(), offset);
    return true;
  }
  if (!state) return true;  // a violation has ended the run
  WarpContext::MbarrierWait wait{barrier, parity, state->phase, sees, before, now(), w.loc()};
  if (recording) observer.mbarrier_wait(traces::BarrierEventKind::wait_begin, w.warp, *state, wait.phase, 0, now());
  w.own.mbarrier.wait_parity(offset, parity, w.warp.waiter);
  wait.drawn = w.jitter().delay(models::JitterSite::try_wait, w.point(), {.to = -1, .barrier = offset}) > 0;
  if (!wait.drawn) return sleep(w, wait, /*limited=*/true);
  w.own.mbarrier.give_up(offset, w.warp.waiter);
  w.given_up = wait;
  return false;
}

}  // namespace

bool MbarrierTryWaitParity::execute(WarpContext& w) const {
  return acquired(w, try_wait(w, barrier, parity, false), scope, barrier, "mbarrier.try_wait");
}

namespace {

/// So many test_waits in a row may be a loop that gives up at last; more are one that asks until the phase
/// completes.
constexpr models::Cycles kTurnsAwake = 1000;

/// Each further test_wait would find the same until the phase completes: sleeps, and wakes when the next one is
/// due. Approximated: of those that are due while the wake-up is on its way, the next.
void sleep_through_tests(WarpContext& w, SmemAddr barrier, uint32_t parity, const WarpContext::Spin& spin) {
  const uint32_t offset = barrier.offset();
  const models::Cycles asked = now(), period = std::max<models::Cycles>(1, spin.period);
  const bool recording = w.cta.observer().recorder() != nullptr;
  do {
    const models::Mbarrier::State& state = *w.own.mbarrier.find(offset);
    const int64_t phase = state.phase;
    w.warp.begins_wait(w.loc());
    if (recording)
      w.cta.observer().mbarrier_wait(traces::BarrierEventKind::wait_begin, w.warp, state, phase, 0, now());
    w.own.mbarrier.wait_parity(offset, parity, w.warp.waiter);
    w.warp.suspend({.on = sim::Blocked::On::mbarrier,
                    .offset = offset,
                    .parity = parity,
                    .loc = w.loc(),
                    .since = spin.since});
    if (recording)
      w.cta.observer().mbarrier_wait(traces::BarrierEventKind::wait_end, w.warp, state, phase, w.warp.waiter.cause,
                                     now());
    if (const models::Cycles into = (now() - asked) % period; into > 0) w.warp.pass(period - into);
  } while (!w.own.mbarrier.test_parity(offset, parity, w.point(), "mbarrier.test_wait.parity") &&
           w.cta.observer().violations().empty());
}

/// A try_wait that no loop repeats: suspends until the phase completes, or until the limit.
bool sleep_once(WarpContext& w, SmemAddr barrier, uint32_t parity) {
  const uint32_t offset = barrier.offset();
  const models::Mbarrier::State& state = *w.own.mbarrier.find(offset);
  const int64_t phase = state.phase;
  const bool recording = w.cta.observer().recorder() != nullptr;
  const auto leave = [&] {
    w.own.mbarrier.give_up(offset, w.warp.waiter);
    w.own.mbarrier.leave(offset, w.warp.waiter);
    w.cta.gpu().try_wait_limit().left();
    if (recording)
      w.cta.observer().mbarrier_wait(traces::BarrierEventKind::wait_end, w.warp, state, phase, 0, now());
    return false;
  };
  w.warp.begins_wait(w.loc());
  if (recording)
    w.cta.observer().mbarrier_wait(traces::BarrierEventKind::wait_begin, w.warp, state, phase, 0, now());
  w.own.mbarrier.wait_parity(offset, parity, w.warp.waiter);
  if (w.jitter().delay(models::JitterSite::try_wait, w.point(), {.to = -1, .barrier = offset}) > 0) return leave();
  w.cta.gpu().try_wait_limit().watch(w.warp.waiter);
  w.warp.suspend(
      {.on = sim::Blocked::On::mbarrier, .offset = offset, .parity = parity, .loc = w.loc(), .since = now()});
  if (std::exchange(w.warp.waiter.gave_up, false)) return leave();
  if (recording)
    w.cta.observer().mbarrier_wait(traces::BarrierEventKind::wait_end, w.warp, state, phase, w.warp.waiter.cause,
                                   now());
  return true;
}

bool test_wait(WarpContext& w, SmemAddr barrier, uint32_t parity, bool by_state) {
  const char* const instruction = w.test_suspends ? "mbarrier.try_wait" : "mbarrier.test_wait";
  std::optional<WarpContext::Spin> spin = std::exchange(w.spin, std::nullopt);
  if (spin && (spin->barrier != barrier || spin->parity != parity || spin->loc.line() != w.loc().line() ||
               spin->loc.column() != w.loc().column()))
    spin.reset();
  w.charge(w.issue.mbarrier_try_wait);
  w.settle();
  if (!w.own_window(barrier, instruction)) return true;
  check_waiter(w, barrier);
  const uint32_t offset = barrier.offset();
  w.cta.observer().mbarrier_named(w.cta.kernel(), offset, w.warp.index);
  HazardChecker* h = w.hazards();
  if (h) h->uses_barrier(w.thread(), w.cluster_ctarank(), offset, false);
  if (!w.own.mbarrier.test_parity(offset, parity, w.point(), fmt::format("{}.parity", instruction).c_str())) {
    if (!w.cta.observer().violations().empty()) return false;
    if (w.test_suspends) {
      if (!sleep_once(w, barrier, parity)) return false;
    } else if (!spin || spin->period == 0 || now() - spin->since < kTurnsAwake * spin->period) {
      w.spin = WarpContext::Spin{
          barrier, parity, w.loc(), spin ? spin->since : now(), now(), spin ? now() - spin->last : 0};
      return false;
    } else {
      sleep_through_tests(w, barrier, parity, *spin);
    }
  }
  const models::Mbarrier::State& state = *w.own.mbarrier.find(offset);
  if (sim::BarrierListener* listener = sim::barrier_listener())
    listener->mbarrier_wait(w.warp, offset, parity, WaitHistory::named(parity, state.phase), /*tests=*/true,
                            w.loc());
  if (w.cta.observer().recorder() && !w.warp.open_spans.empty())
    w.warp.open_spans.back().flow_in = state.last_cause;
  if (w.answer_ignored) {
    w.cta.observer().violation(
        {.id = "MB19",
         .message = fmt::format(
             "the answer of {} decides nothing: the code goes on before the phase has completed, too", instruction),
         .time = now(),
         .slot = w.cta.slot(),
         .barrier = offset,
         .source = w.source(),
         .note = true});
    return true;
  }
  if (check_wait(w, state, parity, true, by_state)) w.count_wait(barrier, WaitHistory::named(parity, state.phase));
  if (h) h->acquire(w.thread(), offset);
  return true;
}

/// The parity of the phase in which the lanes' arrivals happened; of the later one, if they did in two: when that
/// has completed, both have.  Nothing: a finding has been reported.
std::optional<uint32_t> parity_of_states(WarpContext& w, SmemAddr barrier,
                                         const LaneArray<MbarrierToken, 1>& states, const char* instruction) {
  if (!w.own_window(barrier, instruction)) return std::nullopt;
  std::optional<int64_t> latest;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!w.is_active(lane)) continue;
    const std::optional<int64_t> phase =
        w.own.mbarrier.phase_of_token(barrier.offset(), states[lane][0], w.source(), instruction);
    if (!phase) return std::nullopt;
    latest = std::max(latest.value_or(*phase), *phase);
  }
  return uint32_t(*latest & 1);
}

}  // namespace

bool MbarrierTestWaitParity::execute(WarpContext& w) const {
  return acquired(w, test_wait(w, barrier, parity, false), scope, barrier, "mbarrier.test_wait");
}

bool MbarrierTestWait::execute(WarpContext& w) const {
  const std::optional<uint32_t> parity = parity_of_states(w, barrier, states, "mbarrier.test_wait");
  return !parity || acquired(w, test_wait(w, barrier, *parity, true), scope, barrier, "mbarrier.test_wait");
}

bool MbarrierTryWait::execute(WarpContext& w) const {
  const std::optional<uint32_t> parity = parity_of_states(w, barrier, states, "mbarrier.try_wait");
  return !parity || acquired(w, try_wait(w, barrier, *parity, true), scope, barrier, "mbarrier.try_wait");
}

void FenceMbarrierInit::execute(WarpContext& w) const {
  w.charge(w.issue.fence);
  if (HazardChecker* h = w.hazards()) h->fence_mbarrier_init(w.thread());
}

// ---- addresses

namespace {

/// Address of the same offset in CTA `rank`, which must be one of the cluster.
ClusterSmemAddr mapped(WarpContext& w, SmemAddr address, uint32_t rank) {
  if (rank >= w.cta.cluster_ctas())
    w.violate("CR1", fmt::format("mapa to CTA rank {} in a cluster of {}", rank, w.cta.cluster_ctas()));
  return {rank << kClusterRankShift | address.offset()};
}

}  // namespace

ClusterSmemAddr Mapa::execute(WarpContext& w) const {
  w.charge(w.issue.mapa);
  return mapped(w, address, rank);
}

LaneArray<ClusterSmemAddr, 1> MapaLanes::execute(WarpContext& w) const {
  w.charge(w.issue.mapa);
  LaneArray<ClusterSmemAddr, 1> addresses{};
  for (int lane = 0; lane < kWarpLanes; ++lane)
    if (w.is_active(lane)) addresses[lane][0] = mapped(w, address, ranks[lane][0]);
  return addresses;
}

}  // namespace sm100::instructions

namespace sm100::sim {

void WarpContext::leave_wait() {
  const MbarrierWait wait = *std::exchange(given_up, std::nullopt);
  const uint32_t offset = wait.barrier.offset();
  own.mbarrier.leave(offset, warp.waiter);
  cta.gpu().try_wait_limit().left();
  waits.put_back(instructions::history_key(*own.mbarrier.find(offset)), wait.before);
  if (cta.observer().recorder())
    cta.observer().mbarrier_wait(traces::BarrierEventKind::wait_end, warp, *own.mbarrier.find(offset), wait.phase,
                                 0, models::now());
}

}  // namespace sm100::sim
