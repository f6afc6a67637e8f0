// SPDX-License-Identifier: Apache-2.0
/// Copies of threads from global to shared memory, not bulk (PTX 9.7.9.25.3).
#pragma once

#include "kernels/isa/instructions/instruction.h"

namespace sm100::instructions {

/// 16 bytes from each lane's address to its other one.
struct CpAsyncCgSharedGlobal {
  static constexpr Description kIs{.function = "cp_async_cg_shared_global", .opcode = "cp.async.cg.shared"};
  static constexpr SupportLine kSupport[] = {
      {"cp.async.cg.shared.global", Support::approximated,
       "16 bytes a lane; they move at issue and count as landed an L2 hit later"}};
  const LaneArray<SmemAddr, 1>* dst;
  const LaneArray<GlobalAddr, 1>* src;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

struct CpAsyncCommitGroup {
  static constexpr Description kIs{.function = "cp_async_commit_group", .opcode = "cp.async.commit_group"};
  static constexpr SupportLine kSupport[] = {{"cp.async.commit_group, .wait_group", Support::modelled, ""}};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

struct CpAsyncWaitGroup {
  static constexpr Description kIs{.function = "cp_async_wait_group", .opcode = "cp.async.wait_group"};
  static constexpr auto& kSupport = CpAsyncCommitGroup::kSupport;
  int pending;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("pending", i.pending);
  }
  void execute(sim::WarpContext&) const;
};

/// An arrival of each lane when its copies so far have landed.
struct CpAsyncMbarrierArrive {
  static constexpr Description kIs{
      .function = "cp_async_mbarrier_arrive", .opcode = "cp.async.mbarrier.arrive", .each_lane = true};
  static constexpr SupportLine kSupport[] = {
      {"cp.async.mbarrier.arrive{.noinc}", Support::modelled, "shared::cta"}};
  SmemAddr barrier;
  bool noinc;  ///< one of the arrivals that init counts; false: the phase waits for one more from now on
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barrier);
  }
  void execute(sim::WarpContext&) const;
};

using CpAsyncGroup = List<CpAsyncCgSharedGlobal, CpAsyncCommitGroup, CpAsyncWaitGroup, CpAsyncMbarrierArrive>;

inline constexpr SupportLine kCpAsyncRejected[] = {
    {"cp.async.ca, sizes 4 and 8, src-size, .wait_all", Support::rejected, "not implemented"}};

}  // namespace sm100::instructions
