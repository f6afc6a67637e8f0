// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_isa.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace sm100::sim {

using models::now;

void SimIsa::violate(const char* id, std::string message, Loc loc) {
  cta_.observer().violation({id, std::move(message), now(), own_.slot, 0, source(loc)});
}

bool SimIsa::check_wait(const models::Mbarrier::State& state, uint32_t parity, bool test, Loc loc) {
  using Next = WaitHistory::Next;
  const Next next = waits_.classify(state.offset, parity, state.phase);
  const int64_t phase = WaitHistory::named(parity, state.phase);
  const bool stale = next == Next::stale;
  // A warp may leave out any number of waits, if it knows that the phases are over.
  const bool lapped =
      next == Next::skips && hazards() && !hazards()->knows_completed(thread(loc), state.offset, phase - 1);
  if (stale || lapped) {
    const std::string barrier =
        cta_.describe({.on = Blocked::On::mbarrier, .offset = state.offset, .loc = loc}, true);
    const int64_t seen = waits_.seen(state.offset);
    const char* const instruction = test ? "test_wait" : "try_wait";
    cta_.observer().violation(
        {"MB8",
         stale ? fmt::format("mbarrier.{}.parity on {} passes at once on phase {}, which the warp's last wait "
                             "has seen: parity {} twice",
                             instruction, barrier, seen, parity)
               : fmt::format("mbarrier.{}.parity on {} for phase {} when phase {} is open: a parity names the "
                             "open phase or the one before, and nothing tells the warp that phase {} is over",
                             instruction, barrier, seen + 1, state.phase, phase - 1),
         now(), own_.slot, state.offset, source(loc), stale});
  }
  waits_.see(state.offset, phase, test && next != Next::again);
  return next != Next::again;
}

ClusterSmemAddr SimIsa::mapped(SmemAddr address, uint32_t rank, Loc loc) {
  if (rank >= cta_.cluster_ctas())
    violate("CR1", fmt::format("mapa to CTA rank {} in a cluster of {}", rank, cta_.cluster_ctas()), loc);
  return {rank << kClusterRankShift | address.offset()};
}

bool SimIsa::own_window(SmemAddr address, const char* what, Loc loc) {
  if (address.value >> kClusterRankShift == cluster_ctarank()) return true;
  violate("MB3",
          fmt::format("{} at shared address {:#x}: .shared::cta names the own CTA only", what, address.value), loc);
  return false;
}

bool SimIsa::in_shared(SmemAddr address, uint32_t bytes, uint32_t alignment, const char* what, Loc loc) {
  if (!own_window(address, what, loc)) return false;
  const uint32_t offset = address.offset();
  if (offset % alignment != 0) {
    violate("SM2", fmt::format("{} at shared address {:#x}: must be {}-byte aligned", what, offset, alignment),
            loc);
    return false;
  }
  if (own_.smem.contains(offset, bytes)) return true;
  violate("SM1",
          fmt::format("{} of {} bytes at shared address {:#x}: outside the CTA's shared memory (ends at {:#x})",
                      what, bytes, offset, own_.smem.end()),
          loc);
  return false;
}

bool SimIsa::converged(const char* what, Loc loc) {
  if (active_ == 0xffffffffu) return true;
  violate("TC2", fmt::format("{} with {} of 32 lanes: all lanes must execute it together", what, active_lanes()),
          loc);
  return false;
}

bool SimIsa::check_group(int cta_group, const char* instruction, Loc loc) {
  const auto wrong = [&](std::string text) {
    violate("TC8", std::move(text), loc);
    return false;
  };
  if (cta_group != 1 && cta_group != 2)
    return wrong(fmt::format("{}.cta_group::{}: allowed are 1 and 2", instruction, cta_group));
  if (cta_group == 2 && (cluster_ctarank() ^ 1) >= cta_.cluster_ctas())
    return wrong(fmt::format("{}.cta_group::2 by CTA rank {} in a cluster of {}: it has no peer", instruction,
                             cluster_ctarank(), cta_.cluster_ctas()));
  if (cta_group == 2 && cta_.gpu().clusters().exited(own_.slot, cluster_ctarank() ^ 1))
    return wrong(fmt::format("{}.cta_group::2 after the peer CTA has exited", instruction));
  if (cta_.tcgen05_group == 0) cta_.tcgen05_group = cta_group;
  if (cta_.tcgen05_group != cta_group)
    return wrong(fmt::format("{}.cta_group::{} in a kernel that uses cta_group::{}", instruction, cta_group,
                             cta_.tcgen05_group));
  return true;
}

// ---- mbarrier

void SimIsa::mbarrier_init(SmemAddr barrier, uint32_t count, Loc loc) {
  charge(issue_.mbarrier_init);
  settle(loc);
  if (!own_window(barrier, "mbarrier.init", loc)) return;
  if (const BarrierName name = barrier_name(cta_.kernel(), barrier.offset());
      name.array && name.array->count != count)
    cta_.observer().violation(
        {"MB17",
         fmt::format("{}[{}] is initialised for {} arrivals per phase, the kernel's barrier table says {}",
                     name.array->name, name.stage, count, name.array->count),
         now(), own_.slot, barrier.offset(), source(loc), true});
  for_each_thread(loc, [&](const models::Source& by) { own_.mbarrier.init(barrier.offset(), count, by); });
}

void SimIsa::mbarrier_arrive(SmemAddr barrier, Scope, Loc loc) {
  count_arrival(barrier, loc);
  charge(issue_.mbarrier_arrive);
  settle(loc);
  if (own_window(barrier, "mbarrier.arrive", loc))
    releasing(barrier, loc, [&] { own_.mbarrier.arrive(barrier.offset(), uint32_t(active_lanes()), source(loc)); });
}

void SimIsa::mbarrier_arrive(ClusterSmemAddr barrier, Scope, Loc loc) {
  count_arrival({barrier.offset()}, loc);
  charge(issue_.mbarrier_arrive);
  settle(loc);
  models::Source by = source(loc);
  by.op = release_later(loc, barrier.rank(), barrier.offset());
  cta_.gpu().clusters().arrive(own_.slot, barrier, uint32_t(active_lanes()), by);
}

void SimIsa::mbarrier_arrive(const LaneArray<ClusterSmemAddr, 1>& barriers, Scope, Loc loc) {
  count_arrival({barriers[first_active_lane()][0].offset()}, loc);
  charge(issue_.mbarrier_arrive);
  settle(loc);
  const uint32_t op = release_later(loc, barriers);
  for_each_thread(loc, [&](models::Source by) {
    by.op = op;
    cta_.gpu().clusters().arrive(own_.slot, barriers[by.lane][0], 1, by);
  });
}

void SimIsa::mbarrier_arrive_expect_tx(SmemAddr barrier, uint32_t bytes, Scope, Loc loc) {
  count_arrival(barrier, loc);
  charge(issue_.mbarrier_arrive);
  settle(loc);
  if (!own_window(barrier, "mbarrier.arrive.expect_tx", loc)) return;
  releasing(barrier, loc, [&] {
    for_each_thread(loc,
                    [&](const models::Source& by) { own_.mbarrier.arrive_expect_tx(barrier.offset(), bytes, by); });
  });
}

void SimIsa::mbarrier_arrive_expect_tx(const LaneArray<ClusterSmemAddr, 1>& barriers, uint32_t bytes, Scope,
                                       Loc loc) {
  count_arrival({barriers[first_active_lane()][0].offset()}, loc);
  charge(issue_.mbarrier_arrive);
  settle(loc);
  const uint32_t op = release_later(loc, barriers);
  for_each_thread(loc, [&](models::Source by) {
    by.op = op;
    cta_.gpu().clusters().arrive_expect_tx(own_.slot, barriers[by.lane][0], bytes, by);
  });
}

bool SimIsa::mbarrier_try_wait_parity(SmemAddr barrier, uint32_t parity, Scope, Loc loc) {
  if (asks_again(barrier, parity, loc)) {
    const Wait wait = *std::exchange(given_up_, std::nullopt);
    if (wait.drawn) jitter().retract();
    own_.mbarrier.ask_again(barrier.offset(), warp_.waiter);
    return sleep(wait, /*limited=*/false);
  }
  warp_.begins_wait(loc);
  charge(issue_.mbarrier_try_wait);
  settle(loc);
  if (!own_window(barrier, "mbarrier.try_wait", loc)) return true;
  const uint32_t offset = barrier.offset();
  cta_.observer().mbarrier_named(cta_.kernel(), offset, warp_.index);
  const bool recording = cta_.observer().recorder() != nullptr;
  const models::Mbarrier::State* state = own_.mbarrier.find(offset);
  HazardChecker* h = hazards();
  if (h) h->uses_barrier(thread(loc), cluster_ctarank(), offset, false);
  const int64_t sees = state ? WaitHistory::named(parity, state->phase) : 0;
  const std::optional<WaitHistory::Seen> before = waits_.last(offset);
  const bool counts = state && parity <= 1 && check_wait(*state, parity, false, loc);
  if (own_.mbarrier.test_parity(offset, parity,
                                {.warp = int8_t(warp_.index), .loc = loc, .cta = cta_.linear_id()})) {
    if (recording && !warp_.open_spans.empty()) warp_.open_spans.back().flow_in = state->last_cause;
    if (counts) count_wait(barrier, sees, loc);
    if (h) h->acquire(thread(loc), offset);
    return true;
  }
  if (!state) return true;  // a violation has ended the run
  Wait wait{barrier, parity, state->phase, sees, before, now(), loc};
  if (recording)
    cta_.observer().mbarrier_wait(traces::BarrierEventKind::wait_begin, warp_, *state, wait.phase, 0, now());
  own_.mbarrier.wait_parity(offset, parity, warp_.waiter);
  wait.drawn = jitter().delay(models::JitterSite::try_wait, point(loc), {.to = -1, .barrier = offset}) > 0;
  if (!wait.drawn) return sleep(wait, /*limited=*/true);
  own_.mbarrier.give_up(offset, warp_.waiter);
  given_up_ = wait;
  return false;
}

bool SimIsa::sleep(const Wait& wait, bool limited) {
  const uint32_t offset = wait.barrier.offset();
  if (limited) cta_.gpu().try_wait_limit().watch(warp_.waiter);
  warp_.suspend(
      {.on = Blocked::On::mbarrier, .offset = offset, .parity = wait.parity, .loc = wait.loc, .since = wait.since});
  if (std::exchange(warp_.waiter.gave_up, false)) {
    own_.mbarrier.give_up(offset, warp_.waiter);
    given_up_ = wait;
    return false;
  }
  if (cta_.observer().recorder()) {
    cta_.observer().mbarrier_wait(traces::BarrierEventKind::wait_end, warp_, *own_.mbarrier.find(offset),
                                  wait.phase, warp_.waiter.cause, now());
    if (!warp_.open_spans.empty()) warp_.open_spans.back().flow_in = warp_.waiter.cause;
  }
  count_wait(wait.barrier, wait.sees, wait.loc);
  if (HazardChecker* h = hazards()) h->acquire(thread(wait.loc), offset);
  return true;
}

void SimIsa::leave_wait() {
  const Wait wait = *std::exchange(given_up_, std::nullopt);
  const uint32_t offset = wait.barrier.offset();
  own_.mbarrier.leave(offset, warp_.waiter);
  cta_.gpu().try_wait_limit().left();
  waits_.put_back(offset, wait.before);
  if (cta_.observer().recorder())
    cta_.observer().mbarrier_wait(traces::BarrierEventKind::wait_end, warp_, *own_.mbarrier.find(offset),
                                  wait.phase, 0, now());
}

bool SimIsa::mbarrier_test_wait_parity(SmemAddr barrier, uint32_t parity, Scope, Loc loc) {
  charge(issue_.mbarrier_try_wait);
  settle(loc);
  if (!own_window(barrier, "mbarrier.test_wait", loc)) return true;
  const uint32_t offset = barrier.offset();
  cta_.observer().mbarrier_named(cta_.kernel(), offset, warp_.index);
  HazardChecker* h = hazards();
  if (h) h->uses_barrier(thread(loc), cluster_ctarank(), offset, false);
  if (!own_.mbarrier.test_parity(offset, parity, point(loc), "mbarrier.test_wait.parity")) return false;
  const models::Mbarrier::State& state = *own_.mbarrier.find(offset);
  if (cta_.observer().recorder() && !warp_.open_spans.empty()) warp_.open_spans.back().flow_in = state.last_cause;
  if (check_wait(state, parity, true, loc)) count_wait(barrier, WaitHistory::named(parity, state.phase), loc);
  if (h) h->acquire(thread(loc), offset);
  return true;
}

ClusterSmemAddr SimIsa::mapa(SmemAddr address, uint32_t rank, Loc loc) {
  charge(issue_.mapa);
  return mapped(address, rank, loc);
}

LaneArray<ClusterSmemAddr, 1> SimIsa::mapa(SmemAddr address, const LaneArray<uint32_t, 1>& ranks, Loc loc) {
  charge(issue_.mapa);
  LaneArray<ClusterSmemAddr, 1> addresses{};
  for (int lane = 0; lane < kWarpLanes; ++lane)
    if (active_ >> lane & 1) addresses[lane][0] = mapped(address, ranks[lane][0], loc);
  return addresses;
}

// ---- CTA and cluster barriers

bool SimIsa::meets_at(int id, const char* instruction, Loc loc) {
  const Kernel& kernel = cta_.kernel();
  const NamedBarrier* row = named_barrier(kernel, id);
  if (kernel.named_barriers.empty() || id < 0 || id > 15 || (row && lists(row->roles, kernel.role(warp_.index))))
    return true;
  violate("NB5",
          row ? fmt::format("{} on named barrier {} ({}): the kernel's table lists {} there", instruction, id,
                            row->name, row->roles)
              : fmt::format("{} on named barrier {}, which the kernel's table does not have", instruction, id),
          loc);
  return false;
}

void SimIsa::bar_sync(int id, int threads, Loc loc) {
  warp_.begins_wait(loc);
  charge(issue_.bar_sync);
  settle(loc);
  if (!converged("bar.sync", loc) || !meets_at(id, "bar.sync", loc)) return;
  HazardChecker* h = hazards();
  if (h) h->bar_arrive(thread(loc), id);
  const bool complete = own_.barriers.arrive(id, uint32_t(threads), &warp_.waiter, source(loc));
  if (h && complete) h->bar_complete(thread(loc), id);
  if (!complete) warp_.suspend({.on = Blocked::On::named_barrier, .offset = uint32_t(id), .loc = loc});
  if (h) h->bar_pass(thread(loc), id);
}

void SimIsa::bar_arrive(int id, int threads, Loc loc) {
  charge(issue_.bar_sync);
  settle(loc);
  if (!converged("bar.arrive", loc) || !meets_at(id, "bar.arrive", loc)) return;
  HazardChecker* h = hazards();
  if (h) h->bar_arrive(thread(loc), id);
  const bool complete = own_.barriers.arrive(id, uint32_t(threads), nullptr, source(loc));
  if (h && complete) h->bar_complete(thread(loc), id);
}

/// Not .aligned: the lanes of a warp may come one after the other.  What the warp knows is taken to be handed on by its
/// last lane.
void SimIsa::cluster_arrive(bool release, Loc loc) {
  charge(issue_.bar_sync);
  settle(loc);
  if (cluster_lanes_ & active_) return violate("CB1", "barrier.cluster.arrive twice by a lane in one phase", loc);
  cluster_release_ = (cluster_lanes_ == 0 || cluster_release_) && release;
  cluster_lanes_ |= active_;
  if (cluster_lanes_ != kAllLanes) return;
  cluster_lanes_ = 0, cluster_waits_ = kAllLanes;
  warp_.cluster_phase = int64_t(cta_.gpu().clusters().barrier_arrive(own_.slot, warp_.index, source(loc)));
  if (HazardChecker* h = hazards()) h->cluster_arrive(thread(loc), uint64_t(warp_.cluster_phase), cluster_release_);
}

/// Not .aligned either: each lane waits for the phase that it has arrived in, one after the other.
void SimIsa::barrier_cluster_wait(Loc loc) {
  warp_.begins_wait(loc);
  charge(issue_.bar_sync);
  settle(loc);
  if (const uint32_t early = active_ & ~(cluster_waits_ | cluster_lanes_); early != 0)
    return violate("CB2",
                   cluster_lanes_ == 0
                       ? std::string("barrier.cluster.wait without barrier.cluster.arrive before it")
                       : fmt::format("barrier.cluster.wait by {} lanes without barrier.cluster.arrive before it",
                                     std::popcount(early)),
                   loc);
  if ((active_ & cluster_lanes_) != 0)
    return violate(
        "not-implemented",
        "not implemented: barrier.cluster.wait by lanes whose warp has others that have not arrived: the "
        "branches of a warp run one after the other here",
        loc);
  cluster_waits_ &= ~active_;
  const int64_t phase = warp_.cluster_phase;
  if (cluster_waits_ == 0) warp_.cluster_phase = -1;
  if (!cta_.gpu().clusters().barrier_wait(own_.slot, uint64_t(phase), warp_.waiter))
    warp_.suspend({.on = Blocked::On::cluster_barrier, .loc = loc});
  if (HazardChecker* h = hazards()) h->cluster_pass(thread(loc), uint64_t(phase));
}

// ---- registers

void SimIsa::set_registers(bool increase, int registers, Loc loc) {
  warp_.begins_wait(loc);
  charge(issue_.setmaxnreg);
  settle(loc);
  models::RegisterPool& pool = own_.registers;
  if (!converged(increase ? "setmaxnreg.inc" : "setmaxnreg.dec", loc) ||
      !pool.check(increase, registers, source(loc)))
    return;
  if (!pool.known()) cta_.observer().registers_unknown();
  if (!increase) return pool.decrease(registers, source(loc));
  while (!pool.increase(registers, warp_.waiter, source(loc)))
    warp_.suspend({.on = Blocked::On::registers, .offset = uint32_t(registers), .loc = loc});
}

// ---- programmatic dependent launch

void SimIsa::griddepcontrol_wait(Loc loc) {
  charge(issue_.control);
  if (!cta_.gpu().has_prerequisites(cta_.launch())) return;
  settle(loc);
  warp_.begins_wait(loc);
  if (cta_.gpu().prerequisites_complete(cta_.launch())) return;
  const models::Cycles begin = now();
  cta_.gpu().wait_prerequisites(cta_.launch(), warp_.waiter);
  warp_.suspend({.on = Blocked::On::prerequisite_grids, .loc = loc});
  // Roles have no trace point here: alone in the stream the instruction never waits.
  if (traces::Recorder* recorder = cta_.observer().recorder())
    recorder->span({.begin = begin,
                    .end = now(),
                    .track = warp_.track,
                    .kind = traces::SpanKind::wait,
                    .args = {.pipeline = recorder->intern("griddepcontrol")}});
}

void SimIsa::griddepcontrol_launch_dependents(Loc loc) {
  charge(issue_.control);
  if (!cta_.gpu().has_dependents(cta_.launch())) return;
  settle(loc);
  cta_.gpu().launch_dependents(own_);
}

void SimIsa::check_prerequisites(GlobalAddr address, const char* what, Loc loc) {
  if (cta_.gpu().launches() == 1) return;
  const auto writer = cta_.gpu().unfinished_writer(address, cta_.launch());
  if (!writer) return;
  const LaunchList& launches = cta_.launches();
  const std::string read =
      fmt::format("{} by {} from the output of {}", what, launches.name(cta_.launch()), launches.name(*writer));
  if (cta_.gpu().order().before(*writer, cta_.launch()))
    violate("GD1", read + ", which has not completed: only what follows griddepcontrol.wait may read it", loc);
  else
    violate("GD2", read + ", a launch of another stream that no event orders before it", loc);
}

// ---- tensor copies and bulk groups

namespace {

/// Decodes a tensor map.  A kernel has a few and copies with them all the time, so the last ones are kept with their bytes.
bool decode_known(const TensorMap& map, TensorMapFields& fields) {
  struct Known {
    TensorMap map;
    TensorMapFields fields;
  };
  constexpr size_t kKept = 4;
  thread_local std::vector<Known> known;
  thread_local size_t next = 0;
  for (const Known& k : known)
    if (std::memcmp(k.map.bytes, map.bytes, sizeof map.bytes) == 0) {
      fields = k.fields;
      return true;
    }
  if (!decode(map, fields)) return false;
  if (known.size() < kKept)
    known.push_back({map, fields});
  else
    known[next++ % kKept] = {map, fields};
  return true;
}

}  // namespace

bool SimIsa::decode_map(const TensorMap* map, const int32_t* coords, int rank, models::TensorCopy& copy, Loc loc) {
  if (!decode_known(*map, copy.map)) {
    violate("TM1", "tensor copy with a tensor map that was never encoded", loc);
    return false;
  }
  if (copy.map.rank != uint32_t(rank)) {
    violate("TM1", fmt::format("{}-dimensional tensor copy with a tensor map of rank {}", rank, copy.map.rank),
            loc);
    return false;
  }
  std::copy_n(coords, rank, copy.coords.begin());
  copy.source = source(loc);
  return true;
}

void SimIsa::load(SmemAddr dst, const TensorMap* map, const int32_t* coords, int rank, SmemAddr barrier,
                  int cta_group, Loc loc, std::optional<CtaMask> multicast) {
  charge(issue_.bulk_tensor);
  models::TensorCopy copy;
  if (!decode_map(map, coords, rank, copy, loc)) return;
  check_prerequisites({copy.map.global_address}, "tensor load", loc);
  const uint32_t barrier_rank = barrier.value >> kClusterRankShift;
  if (!own_window(dst, "tensor load", loc)) return;
  if (cta_group != 1 && cta_group != 2)
    return violate("TC8", fmt::format("tensor load.cta_group::{}: allowed are 1 and 2", cta_group), loc);
  if (cta_group == 1 && !own_window(barrier, "tensor load's mbarrier", loc)) return;
  if (cta_group == 2 && (barrier_rank ^ cluster_ctarank()) > 1)
    return violate(
        "MB3",
        fmt::format("tensor load's mbarrier at shared address {:#x}: .cta_group::2 names the own CTA's or "
                    "its peer's",
                    barrier.value),
        loc);
  const CtaMask ranks = multicast.value_or(CtaMask{uint16_t(1u << cluster_ctarank())});
  if (cta_group == 2 &&
      !cta_.gpu().clusters().signals_exist(own_.slot, ranks, barrier_rank, barrier.offset(), copy.source))
    return;
  copy.smem = dst.offset();
  copy.barrier = barrier.offset();
  copy.multicast = multicast ? multicast->bits : 0;
  if (Warp::Use* use = use_of(barrier)) use->copied = loc;
  const models::Cycles at = enqueue_cycle(loc);
  HazardChecker* h = hazards();
  for_each_thread(loc, [&](const models::Source& by) {
    copy.source = by;
    if (h) {
      copy.source.op = h->new_op();
      for (uint32_t r = 0; r < cta_.cluster_ctas(); ++r)
        if (ranks.bits >> r & 1)
          h->uses_barrier(thread(loc), cta_group == 2 ? (r & ~1u) | (barrier_rank & 1) : r, copy.barrier, true);
      h->tensor_load(thread(loc, by.lane), ranks, copy.smem, smem_footprint(copy.map), copy.barrier,
                     cta_group == 2 ? int(barrier_rank & 1) : -1, copy.source.op);
    }
    if (multicast) {
      cta_.gpu().clusters().load_multicast(own_.slot, copy, *multicast, at, cta_group, barrier_rank);
    } else if (barrier_rank != cluster_ctarank()) {
      cta_.gpu().clusters().load_pair(own_.slot, copy, barrier_rank, at);
    } else {
      own_.tma.load(copy, at);
    }
  });
}

void SimIsa::store(const TensorMap* map, const int32_t* coords, int rank, SmemAddr src, Loc loc) {
  charge(issue_.bulk_tensor);
  models::TensorCopy copy;
  if (!decode_map(map, coords, rank, copy, loc)) return;
  if (!own_window(src, "tensor store", loc)) return;
  copy.smem = src.offset();
  const models::Cycles at = enqueue_cycle(loc);
  // Once, however many lanes are active: with equal operands ptxas makes one UTMASTG of it, without the loop over lanes that it
  // makes of loads and reductions.  An H200 takes 4,164 cycles for 16 stores of 8 KiB by 1 lane, by 2 and by 32.
  copy.source = source(loc);
  copy.source.lane = int8_t(__builtin_ctz(active_));
  own_.tma.store(copy, at);
  if (HazardChecker* h = hazards())
    h->tensor_store(thread(loc, copy.source.lane), copy.smem, smem_footprint(copy.map));
}

void SimIsa::cp_async_bulk_commit_group() {
  charge(issue_.bulk_group);
  own_.tma.commit_group(warp_.index);
  if (HazardChecker* h = hazards()) h->commit_group(thread({}), active_);
}

void SimIsa::wait_group(int pending, bool read_only) {
  charge(issue_.bulk_group);
  // Groups belong to a thread; in time the warp's are those of one elected lane.  The hazard checker looks at lanes.
  settle({});  // what the warp writes next must come after the stores' reads also in simulated time
  const models::Cycles done = own_.tma.groups_done(warp_.index, pending, read_only);
  if (cta_.observer().recorder()) {
    const uint64_t last = done > 0 ? own_.tma.last_of_groups(warp_.index, pending, read_only) : 0;
    warp_.waiter.cause = last;
    warp_.waiter.by = {.kind = models::ActorKind::tma, .flow = last, .cta = cta_.linear_id()};
    if (!warp_.open_spans.empty()) warp_.open_spans.back().flow_in = last;
  }
  warp_.suspend_until(done, {.on = Blocked::On::bulk_group});
  if (HazardChecker* h = hazards()) h->wait_group(thread({}), active_, pending);
}

// ---- cluster launch control

void SimIsa::clusterlaunchcontrol_try_cancel(SmemAddr response, SmemAddr barrier, Loc loc) {
  try_cancel(response, barrier, false, loc);
}

void SimIsa::clusterlaunchcontrol_try_cancel_multicast(SmemAddr response, SmemAddr barrier, Loc loc) {
  try_cancel(response, barrier, true, loc);
}

void SimIsa::try_cancel(SmemAddr response, SmemAddr barrier, bool multicast, Loc loc) {
  charge(issue_.clc_try_cancel);
  if (!own_window(response, "try_cancel", loc) || !own_window(barrier, "try_cancel's mbarrier", loc)) return;
  models::Gpu& gpu = cta_.gpu();
  const CtaMask mask{multicast ? uint16_t((1u << cta_.cluster_ctas()) - 1) : uint16_t(1u << cluster_ctarank())};
  const models::Cycles at = enqueue_cycle(loc);
  HazardChecker* h = hazards();
  for_each_thread(loc, [&](models::Source by) {
    if (h) {
      by.op = h->new_op();
      for (uint32_t r = 0; r < cta_.cluster_ctas(); ++r)
        if (mask.bits >> r & 1) h->uses_barrier(thread(loc), r, barrier.offset(), true);
      h->clc_request(thread(loc, by.lane), mask, response.offset(), barrier.offset(), by.op);
    }
    // The response comes from outside the cluster and reaches its CTAs together.
    const auto to = gpu.clusters().multicast(own_.slot, mask, "a CLC response", barrier.offset(), by,
                                             models::JitterSite::clc_delivery);
    gpu.clc().try_cancel(own_.clc, own_.smem, response.offset(), barrier.offset(), at, by,
                         [&gpu, to, response, barrier](const ClcResponse& answer, const models::Source& clc) {
                           to(0, [&gpu, response, barrier, answer, clc](int slot, models::Mbarrier& target) {
                             gpu.cta(slot).smem.store(response.offset(), answer);
                             target.complete_tx(barrier.offset(), sizeof answer, clc);
                           });
                         });
  });
}

bool SimIsa::clusterlaunchcontrol_query_cancel_is_canceled(const ClcResponse& response, Loc loc) {
  charge(issue_.alu);
  const bool canceled = is_canceled(response);
  cta_.observer().clc_decoded(cta_, clc_responses_++, response, source(loc));
  if (!canceled) models::Clc::failure_observed(own_.clc);
  return canceled;
}

Dim3 SimIsa::clusterlaunchcontrol_query_cancel_get_first_ctaid(const ClcResponse& response, Loc loc) {
  charge(issue_.alu);
  if (!is_canceled(response)) violate("CL3", "query_cancel.get_first_ctaid of a response that failed", loc);
  return first_ctaid(response);
}

// ---- trace points

uint64_t SimIsa::flow_of_open_span() {
  if (warp_.open_spans.empty()) return 0;
  traces::Span& innermost = warp_.open_spans.back();
  if (innermost.flow_out == 0) innermost.flow_out = cta_.observer().new_flow();
  return innermost.flow_out;
}

void SimIsa::begin_span(TraceEvent event, const TraceArgs& args) {
  using traces::SpanKind;
  static_assert(int(TraceEvent::drain) == int(SpanKind::drain), "role span kinds follow TraceEvent");
  traces::Span span{.begin = issue_cycle(), .track = warp_.track, .kind = SpanKind(event)};
  if (args.barrier.value != 0)
    if (const BarrierName name = barrier_name(cta_.kernel(), args.barrier.offset()); name.array)
      span.args.pipeline = cta_.observer().array_name(cta_.kernel(), *name.array);
  span.args.stage = int16_t(args.stage);
  span.args.phase = args.phase;
  span.args.tile_m = args.tile_m;
  span.args.tile_n = args.tile_n;
  span.args.k = args.k;
  span.args.bytes = args.bytes;
  warp_.open_spans.push_back(span);
}

void SimIsa::end_span() {
  traces::Span span = warp_.open_spans.back();
  warp_.open_spans.pop_back();
  span.end = issue_cycle();
  cta_.observer().recorder()->span(span);
}

}  // namespace sm100::sim
