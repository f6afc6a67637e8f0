// SPDX-License-Identifier: Apache-2.0
/// The rest of mbarrier (PTX 9.7.13.15): arrivals with counts that return the barrier's state, arrive_drop,
/// .noComplete, waits by state, bytes counted by hand, inval.
#pragma once

#include "kernels/isa/instructions/mbarrier.h"
#include "kernels/isa/mbarrier_token.h"

namespace sm100::instructions {

/// Ends the mbarrier: its memory may be used for anything.
struct MbarrierInval {
  static constexpr Description kIs{.function = "mbarrier_inval",
                                   .opcode = "mbarrier.inval",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"barrier"}};
  static constexpr SupportLine kSupport[] = {
      {"mbarrier.inval", Support::modelled, "shared::cta; any use after it is MB1, until the next init"}};
  SmemAddr barrier;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier);
  }
  void execute(sim::WarpContext&) const;
};

/// `count` arrivals of each active lane on a barrier of any CTA of the cluster.
struct MbarrierArriveCountRemote {
  static constexpr Description kIs = MbarrierArrive::kIs;
  static constexpr auto& kSupport = MbarrierArrive::kSupport;
  ClusterSmemAddr barrier;
  uint32_t count;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("count", i.count), visit("scope", i.scope);
  }
  void execute(sim::WarpContext&) const;
};

/// `count` arrivals of each active lane, each of which gets the state before them.
struct MbarrierArriveState {
  static constexpr Description kIs{.function = "mbarrier_arrive_state",
                                   .opcode = "mbarrier.arrive",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"count", "barrier"}};
  static constexpr SupportLine kSupport[] = {
      {"mbarrier.arrive (state, count)", Support::modelled, "the state of shared::cta; counts of both"}};
  SmemAddr barrier;
  uint32_t count;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("count", i.count), visit("scope", i.scope);
  }
  LaneArray<MbarrierToken, 1> execute(sim::WarpContext&) const;
};

/// The state before it.
struct MbarrierArriveExpectTxState {
  static constexpr Description kIs{.function = "mbarrier_arrive_expect_tx_state",
                                   .opcode = "mbarrier.arrive.expect_tx",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"bytes", "barrier"}};
  static constexpr SupportLine kSupport[] = {{"mbarrier.arrive.expect_tx (state)", Support::modelled, ""}};
  SmemAddr barrier;
  uint32_t bytes;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("bytes", i.bytes), visit("scope", i.scope);
  }
  LaneArray<MbarrierToken, 1> execute(sim::WarpContext&) const;
};

/// Must not be what completes the phase (MB7); .release.cta.
struct MbarrierArriveNoComplete {
  static constexpr Description kIs{.function = "mbarrier_arrive_no_complete",
                                   .opcode = "mbarrier.arrive.noComplete",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"count", "barrier"}};
  static constexpr SupportLine kSupport[] = {{"mbarrier.arrive.noComplete, .arrive_drop.noComplete",
                                              Support::modelled, "MB7 where it would complete the phase"}};
  SmemAddr barrier;
  uint32_t count;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("count", i.count);
  }
  LaneArray<MbarrierToken, 1> execute(sim::WarpContext&) const;
};

/// Arrives, and takes the arrivals out of all later phases.
struct MbarrierArriveDrop {
  static constexpr Description kIs{.function = "mbarrier_arrive_drop",
                                   .opcode = "mbarrier.arrive_drop",
                                   .each_lane = true,
                                   .other_ctas = true,
                                   .faults = Alterable::step,
                                   .add = {"count", "barrier"}};
  static constexpr SupportLine kSupport[] = {
      {"mbarrier.arrive_drop", Support::modelled, "shared::cta with state, shared::cluster; the last one is MB13"}};
  SmemAddr barrier;
  uint32_t count;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("count", i.count), visit("scope", i.scope);
  }
  LaneArray<MbarrierToken, 1> execute(sim::WarpContext&) const;
};

/// The same on a barrier of any CTA of the cluster.
struct MbarrierArriveDropRemote {
  static constexpr Description kIs = MbarrierArriveDrop::kIs;
  static constexpr auto& kSupport = MbarrierArriveDrop::kSupport;
  ClusterSmemAddr barrier;
  uint32_t count;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("count", i.count), visit("scope", i.scope);
  }
  void execute(sim::WarpContext&) const;
};

/// One arrival, with bytes, and none in later phases.
struct MbarrierArriveDropExpectTx {
  static constexpr Description kIs{.function = "mbarrier_arrive_drop_expect_tx",
                                   .opcode = "mbarrier.arrive_drop.expect_tx",
                                   .each_lane = true,
                                   .other_ctas = true,
                                   .faults = Alterable::step,
                                   .add = {"bytes", "barrier"}};
  static constexpr SupportLine kSupport[] = {
      {"mbarrier.arrive_drop.expect_tx", Support::modelled, "shared::cta with state, shared::cluster"}};
  SmemAddr barrier;
  uint32_t bytes;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("bytes", i.bytes), visit("scope", i.scope);
  }
  LaneArray<MbarrierToken, 1> execute(sim::WarpContext&) const;
};

/// The same on a barrier of any CTA of the cluster.
struct MbarrierArriveDropExpectTxRemote {
  static constexpr Description kIs = MbarrierArriveDropExpectTx::kIs;
  static constexpr auto& kSupport = MbarrierArriveDropExpectTx::kSupport;
  ClusterSmemAddr barrier;
  uint32_t bytes;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("bytes", i.bytes), visit("scope", i.scope);
  }
  void execute(sim::WarpContext&) const;
};

/// arrive_drop that must not be what completes the phase (MB7).
struct MbarrierArriveDropNoComplete {
  static constexpr Description kIs{.function = "mbarrier_arrive_drop_no_complete",
                                   .opcode = "mbarrier.arrive_drop.noComplete",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"count", "barrier"}};
  static constexpr SupportLine kSupport[] = {{"mbarrier.arrive.noComplete, .arrive_drop.noComplete",
                                              Support::modelled, "MB7 where it would complete the phase"}};
  SmemAddr barrier;
  uint32_t count;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("count", i.count);
  }
  LaneArray<MbarrierToken, 1> execute(sim::WarpContext&) const;
};

/// Expects bytes on a barrier of any CTA of the cluster.
struct MbarrierExpectTxRemote {
  static constexpr Description kIs = MbarrierExpectTx::kIs;
  static constexpr auto& kSupport = MbarrierExpectTx::kSupport;
  ClusterSmemAddr barrier;
  uint32_t bytes;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("bytes", i.bytes), visit("scope", i.scope);
  }
  void execute(sim::WarpContext&) const;
};

/// What a copy does when it has landed, by hand; relaxed: hands on nothing.
struct MbarrierCompleteTx {
  static constexpr Description kIs{.function = "mbarrier_complete_tx",
                                   .opcode = "mbarrier.complete_tx.relaxed",
                                   .each_lane = true,
                                   .other_ctas = true,
                                   .faults = Alterable::step,
                                   .add = {"bytes", "barrier"}};
  static constexpr SupportLine kSupport[] = {
      {"mbarrier.complete_tx.relaxed", Support::modelled, "shared::cta and shared::cluster"}};
  SmemAddr barrier;
  uint32_t bytes;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("bytes", i.bytes), visit("scope", i.scope);
  }
  void execute(sim::WarpContext&) const;
};

/// The same on a barrier of any CTA of the cluster.
struct MbarrierCompleteTxRemote {
  static constexpr Description kIs = MbarrierCompleteTx::kIs;
  static constexpr auto& kSupport = MbarrierCompleteTx::kSupport;
  ClusterSmemAddr barrier;
  uint32_t bytes;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("bytes", i.bytes), visit("scope", i.scope);
  }
  void execute(sim::WarpContext&) const;
};

/// Has the phase completed in which the arrival happened that returned the state?  Answers at once.
struct MbarrierTestWait {
  static constexpr Description kIs{.function = "mbarrier_test_wait", .opcode = "mbarrier.test_wait"};
  static constexpr SupportLine kSupport[] = {{"mbarrier.test_wait, .try_wait (state)", Support::modelled,
                                              "as the parity forms; true when it holds for all active lanes"}};
  SmemAddr barrier;
  LaneArray<MbarrierToken, 1> states;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("scope", i.scope);
  }
  bool execute(sim::WarpContext&) const;
};

/// Suspends until it has, or until the time limit.
struct MbarrierTryWait {
  static constexpr Description kIs{.function = "mbarrier_try_wait", .opcode = "mbarrier.try_wait"};
  static constexpr auto& kSupport = MbarrierTestWait::kSupport;
  SmemAddr barrier;
  LaneArray<MbarrierToken, 1> states;
  Scope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier), visit("scope", i.scope);
  }
  bool execute(sim::WarpContext&) const;
};

/// Of states that .noComplete forms returned: arrivals that were pending.
struct MbarrierPendingCount {
  static constexpr Description kIs{.function = "mbarrier_pending_count", .opcode = "mbarrier.pending_count"};
  static constexpr SupportLine kSupport[] = {
      {"mbarrier.pending_count", Support::modelled, "of the state of a .noComplete form, else MB7"}};
  LaneArray<MbarrierToken, 1> states;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  LaneArray<uint32_t, 1> execute(sim::WarpContext&) const;
};

using MbarrierStateGroup =
    List<MbarrierInval, MbarrierArriveCountRemote, MbarrierArriveState, MbarrierArriveExpectTxState,
         MbarrierArriveNoComplete, MbarrierArriveDrop, MbarrierArriveDropRemote, MbarrierArriveDropExpectTx,
         MbarrierArriveDropExpectTxRemote, MbarrierArriveDropNoComplete, MbarrierExpectTxRemote, MbarrierCompleteTx,
         MbarrierCompleteTxRemote, MbarrierTestWait, MbarrierTryWait, MbarrierPendingCount>;

}  // namespace sm100::instructions
