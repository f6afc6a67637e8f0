// SPDX-License-Identifier: Apache-2.0
/// mbarrier and what belongs to it (PTX 9.7.13.15), mapa.
#pragma once

#include "kernels/isa/instructions/instruction.h"

namespace sm100::instructions {

struct MbarrierInit {
  static constexpr Description kIs{.function = "mbarrier_init",
                                   .opcode = "mbarrier.init",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"count", "barrier"}};
  static constexpr SupportLine kSupport[] = {{"mbarrier.init", Support::modelled, "shared::cta"}};
  SmemAddr barrier;
  uint32_t count;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("count", i.count);
  }
  void execute(sim::WarpContext&) const;
};

/// One arrival of each active lane, on a barrier of the own CTA.
struct MbarrierArrive {
  static constexpr Description kIs{.function = "mbarrier_arrive",
                                   .opcode = "mbarrier.arrive",
                                   .each_lane = true,
                                   .other_ctas = true,
                                   .releases = true,
                                   .faults = Alterable::step,
                                   .add = {"barrier"}};
  static constexpr SupportLine kSupport[] = {
      {"mbarrier.arrive", Support::modelled, "shared::cta and shared::cluster (any CTA), count 1 per active lane"}};
  SmemAddr barrier;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("scope", i.scope);
  }
  void execute(sim::WarpContext&) const;
};

/// The same on a barrier of any CTA of the cluster.
struct MbarrierArriveRemote {
  static constexpr Description kIs = MbarrierArrive::kIs;
  static constexpr auto& kSupport = MbarrierArrive::kSupport;
  ClusterSmemAddr barrier;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("scope", i.scope);
  }
  void execute(sim::WarpContext&) const;
};

/// Each lane on a barrier of its own.
struct MbarrierArriveLanes {
  static constexpr Description kIs = MbarrierArrive::kIs;
  static constexpr auto& kSupport = MbarrierArrive::kSupport;
  LaneArray<ClusterSmemAddr, 1> barriers;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barriers), visit("scope", i.scope);
  }
  void execute(sim::WarpContext&) const;
};

struct MbarrierArriveExpectTx {
  static constexpr Description kIs{.function = "mbarrier_arrive_expect_tx",
                                   .opcode = "mbarrier.arrive.expect_tx",
                                   .each_lane = true,
                                   .other_ctas = true,
                                   .faults = Alterable::step,
                                   .add = {"bytes", "barrier"}};
  static constexpr SupportLine kSupport[] = {
      {"mbarrier.arrive.expect_tx", Support::modelled, "shared::cta and shared::cluster (any CTA)"}};
  SmemAddr barrier;
  uint32_t bytes;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("bytes", i.bytes), visit("scope", i.scope);
  }
  void execute(sim::WarpContext&) const;
};

/// Each lane on a barrier of its own.
struct MbarrierArriveExpectTxLanes {
  static constexpr Description kIs = MbarrierArriveExpectTx::kIs;
  static constexpr auto& kSupport = MbarrierArriveExpectTx::kSupport;
  LaneArray<ClusterSmemAddr, 1> barriers;
  uint32_t bytes;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barriers), visit("bytes", i.bytes), visit("scope", i.scope);
  }
  void execute(sim::WarpContext&) const;
};

/// Expects bytes and does not arrive; relaxed: hands on nothing.
struct MbarrierExpectTx {
  static constexpr Description kIs{.function = "mbarrier_expect_tx",
                                   .opcode = "mbarrier.expect_tx.relaxed",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"bytes", "barrier"}};
  static constexpr SupportLine kSupport[] = {
      {"mbarrier.expect_tx.relaxed", Support::modelled, "shared::cta and shared::cluster (any CTA)"}};
  SmemAddr barrier;
  uint32_t bytes;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("bytes", i.bytes), visit("scope", i.scope);
  }
  void execute(sim::WarpContext&) const;
};

/// Suspends until the phase has completed, or until the time limit: false then.  Who asks again at once, as a loop
/// does, goes on waiting as if nothing had happened, and the repeated instruction costs nothing.
struct MbarrierTryWaitParity {
  static constexpr Description kIs{.function = "mbarrier_try_wait_parity",
                                   .opcode = "mbarrier.try_wait.parity",
                                   .faults = Alterable::read,
                                   .add = {"barrier"}};
  static constexpr SupportLine kSupport[] = {{"mbarrier.try_wait.parity", Support::modelled,
                                              "false after try_wait.limit_ns, whatever its lanes and its hint"}};
  SmemAddr barrier;
  uint32_t parity;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("parity", i.parity), visit("scope", i.scope);
  }
  bool dropped() const { return true; }  // the wait is over at once
  bool execute(sim::WarpContext&) const;
};

/// Answers at once, as a try_wait outside of a loop may.
struct MbarrierTestWaitParity {
  static constexpr Description kIs{.function = "mbarrier_test_wait_parity", .opcode = "mbarrier.test_wait.parity"};
  static constexpr SupportLine kSupport[] = {
      {"mbarrier.test_wait.parity", Support::modelled, "answers at once; time taken to be that of try_wait"}};
  SmemAddr barrier;
  uint32_t parity;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("parity", i.parity), visit("scope", i.scope);
  }
  bool execute(sim::WarpContext&) const;
};

struct FenceMbarrierInit {
  static constexpr Description kIs{.function = "fence_mbarrier_init",
                                   .opcode = "fence.mbarrier_init.release.cluster",
                                   .faults = Alterable::step};
  static constexpr SupportLine kSupport[] = {{"fence.mbarrier_init.release.cluster", Support::approximated,
                                              "its order is what MB14 asks for; no time but its issue"}};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// The same offset in the shared memory of CTA `rank`.
struct Mapa {
  static constexpr Description kIs{.function = "mapa",
                                   .opcode = "mapa",
                                   .faults = Alterable::read,
                                   .add = {"rank", "address"},
                                   .selects_by = "address"};
  static constexpr SupportLine kSupport[] = {{"mapa", Support::modelled, "shared::cluster, 32 bit"}};
  SmemAddr address;
  uint32_t rank;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("address", i.address), visit("rank", i.rank);
  }
  ClusterSmemAddr dropped() const { return as_cluster(address); }
  ClusterSmemAddr execute(sim::WarpContext&) const;
};

/// A rank per lane.
struct MapaLanes {
  static constexpr Description kIs = Mapa::kIs;
  static constexpr auto& kSupport = Mapa::kSupport;
  SmemAddr address;
  LaneArray<uint32_t, 1> ranks;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("address", i.address), visit("rank", i.ranks);
  }
  LaneArray<ClusterSmemAddr, 1> dropped() const {
    LaneArray<ClusterSmemAddr, 1> own;
    for (auto& lane : own.registers) lane[0] = as_cluster(address);
    return own;
  }
  LaneArray<ClusterSmemAddr, 1> execute(sim::WarpContext&) const;
};

using MbarrierGroup = List<MbarrierInit, MbarrierArrive, MbarrierArriveRemote, MbarrierArriveLanes,
                           MbarrierArriveExpectTx, MbarrierArriveExpectTxLanes, MbarrierExpectTx,
                           MbarrierTryWaitParity, MbarrierTestWaitParity, FenceMbarrierInit, Mapa, MapaLanes>;

}  // namespace sm100::instructions
