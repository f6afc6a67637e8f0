// SPDX-License-Identifier: Apache-2.0
/// What lanes of a warp hand to each other in registers: shfl.sync, redux.sync (PTX "Data Movement" and "Parallel
/// Synchronization").
#pragma once

#include "kernels/isa/instructions/instruction.h"

namespace sm100::instructions {

/// Lane i gets the value of lane i ^ lane_mask.
struct ShflSyncBfly {
  static constexpr Description kIs{.function = "shfl_sync_bfly_b32",
                                   .opcode = "shfl.sync.bfly.b32",
                                   .aligned = true,
                                   .faults = Alterable::step,
                                   .add = {"lane_mask"}};
  static constexpr SupportLine kSupport[] = {
      {"shfl.sync.bfly.b32", Support::approximated, "all 32 lanes; its latency is an assumption"}};
  const LaneArray<uint32_t, 1>* values;
  int lane_mask;
  LaneArray<uint32_t, 1>* result;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("lane_mask", i.lane_mask);
  }
  void execute(sim::WarpContext&) const;
};

/// Every lane gets the largest magnitude; NaN if a lane has one.
struct ReduxSyncMaxAbsNanF32 {
  static constexpr Description kIs{
      .function = "redux_sync_max_abs_nan_f32", .opcode = "redux.sync.max.abs.NaN.f32", .aligned = true};
  static constexpr SupportLine kSupport[] = {
      {"redux.sync.max.abs.NaN.f32", Support::approximated, "all 32 lanes; its latency is an assumption"}};
  const LaneArray<uint32_t, 1>* values;
  LaneArray<uint32_t, 1>* result;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

using LaneExchangeGroup = List<ShflSyncBfly, ReduxSyncMaxAbsNanF32>;

}  // namespace sm100::instructions
