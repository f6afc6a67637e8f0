// SPDX-License-Identifier: Apache-2.0
/// The warpgroup's matrix instruction of sm_90a (PTX, Asynchronous warpgroup level matrix instructions).  Four
/// warps, of which the first has an index that is a multiple of four, execute each together.
#pragma once

#include "kernels/isa/instructions/instruction.h"
#include "kernels/isa/wgmma.h"

namespace sm100::instructions {

/// Orders accesses of registers before what a following wgmma.mma_async does with them.
struct WgmmaFence {
  static constexpr Description kIs{
      .function = "wgmma_fence", .opcode = "wgmma.fence", .aligned = true, .faults = Alterable::step};
  static constexpr SupportLine kSupport[] = {
      {"wgmma.fence, .commit_group, .wait_group", Support::modelled,
       "sm_90a; at most 7 groups of a warp in flight; a fence that is missing: WG3"}};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// D = A B or D += A B, some time before a wgmma.wait_group that covers it returns.
struct WgmmaMmaAsync {
  static constexpr Description kIs{.function = "wgmma_mma_async",
                                   .opcode = "wgmma.mma_async",
                                   .aligned = true,
                                   .faults = Alterable::step,
                                   .add = {"a", "b", "scale_d"}};
  static constexpr SupportLine kSupport[] = {
      {"wgmma.mma_async", Support::modelled,
       "sm_90a; f16, bf16, tf32, e4m3, e5m2, s8, u8; A in shared memory or registers"}};
  WgmmaForm form;
  SmemDescriptor a;             ///< where A lies in shared memory
  const uint32_t* a_registers;  ///< else four of each lane
  SmemDescriptor b;
  bool scale_d;
  uint32_t* d;  ///< of each lane wgmma_d_registers(); read and written until the group has been waited for
  const uint32_t* metadata = nullptr;  ///< of .sp: one of each lane
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("a", i.a), visit("b", i.b), visit("scale_d", i.scale_d);
  }
  void execute(sim::WarpContext&) const;
};

struct WgmmaCommitGroup {
  static constexpr Description kIs{
      .function = "wgmma_commit_group", .opcode = "wgmma.commit_group", .aligned = true, .faults = Alterable::step};
  static constexpr auto& kSupport = WgmmaFence::kSupport;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// Returns when at most the `pending` latest groups of the warp are pending.
struct WgmmaWaitGroup {
  static constexpr Description kIs{.function = "wgmma_wait_group",
                                   .opcode = "wgmma.wait_group",
                                   .aligned = true,
                                   .faults = Alterable::step,
                                   .add = {"pending"}};
  static constexpr auto& kSupport = WgmmaFence::kSupport;
  int pending;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("pending", i.pending);
  }
  void execute(sim::WarpContext&) const;
};

using WgmmaGroup = List<WgmmaFence, WgmmaMmaAsync, WgmmaCommitGroup, WgmmaWaitGroup>;

inline constexpr SupportLine kWgmmaRejected[] = {
    {"wgmma.mma_async.sp", Support::rejected, "not implemented in the Isa; the unit has it, for PTX"},
    {"wgmma.mma_async .b1", Support::rejected, "not implemented"},
};

}  // namespace sm100::instructions
