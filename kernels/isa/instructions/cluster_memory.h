// SPDX-License-Identifier: Apache-2.0
/// Shared memory of other CTAs of the cluster: loads and stores (PTX 9.7.9.8, .11), st.async (9.7.9.12) and
/// red.async (9.7.13.7), which complete bytes at an mbarrier beside what they write.
#pragma once

#include "kernels/isa/instructions/instruction.h"
#include "kernels/isa/reduction.h"

namespace sm100::instructions {

/// `bytes` (4 or 16) from each lane's address in any CTA of the cluster to its registers.
struct LdSharedCluster {
  static constexpr Description kIs{.function = "ld_shared", .opcode = "ld.shared::cluster", .other_ctas = true};
  static constexpr SupportLine kSupport[] = {
      {"ld.shared::cluster", Support::approximated,
       ".b32, .v4.b32; there and back takes twice a remote arrive, an assumption"}};
  uint32_t bytes;
  const LaneArray<ClusterSmemAddr, 1>* addresses;
  uint32_t* registers;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// `bytes` (4, 8 or 16) of each lane's registers.
struct StSharedCluster {
  static constexpr Description kIs{.function = "st_shared", .opcode = "st.shared::cluster", .other_ctas = true};
  static constexpr SupportLine kSupport[] = {
      {"st.shared::cluster", Support::approximated, ".b32, .v2.b32, .v4.b32; bytes move at issue"}};
  uint32_t bytes;
  const LaneArray<ClusterSmemAddr, 1>* addresses;
  const uint32_t* registers;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// `bytes` (4, 8 or 16) of each lane's registers, later, and then complete_tx of them at the lane's mbarrier in the
/// same CTA.
struct StAsync {
  static constexpr Description kIs{.function = "st_async",
                                   .opcode = "st.async",
                                   .each_lane = true,
                                   .other_ctas = true,
                                   .faults = Alterable::step,
                                   .add = {"barrier"}};
  static constexpr SupportLine kSupport[] = {
      {"st.async.weak....mbarrier::complete_tx::bytes", Support::modelled,
       ".b32, .v2.b32, .v4.b32, .b64, .v2.b64; one path latency, an assumption"}};
  uint32_t bytes;
  const LaneArray<ClusterSmemAddr, 1>* addresses;
  const uint32_t* registers;
  LaneArray<ClusterSmemAddr, 1> barriers;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barriers);
  }
  void execute(sim::WarpContext&) const;
};

/// Memory becomes `op` of itself and the lane's value; then complete_tx.
struct RedAsync {
  static constexpr Description kIs{.function = "red_async",
                                   .opcode = "red.async",
                                   .each_lane = true,
                                   .other_ctas = true,
                                   .faults = Alterable::step,
                                   .add = {"barrier"}};
  static constexpr SupportLine kSupport[] = {
      {"red.async....mbarrier::complete_tx::bytes", Support::modelled,
       "add u32, s32, u64; min, max u32, s32; inc, dec u32; and, or, xor b32"}};
  ReduceOp op;
  ReduceType type;
  const LaneArray<ClusterSmemAddr, 1>* addresses;
  const void* registers;  ///< uint64_t where the type has 8 bytes, else uint32_t
  LaneArray<ClusterSmemAddr, 1> barriers;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("barrier", i.barriers);
  }
  void execute(sim::WarpContext&) const;
};

using ClusterMemoryGroup = List<LdSharedCluster, StSharedCluster, StAsync, RedAsync>;

inline constexpr SupportLine kClusterMemoryRejected[] = {
    {"st.async.mmio", Support::rejected, "not implemented"},
    {"atom, red of shared memory", Support::rejected, "not implemented"},
};

}  // namespace sm100::instructions
