// SPDX-License-Identifier: Apache-2.0
/// Bulk copies of bytes, bulk reductions, prefetches into L2 (PTX 9.7.9.25).
#pragma once

#include "kernels/isa/instructions/bulk_tensor.h"
#include "kernels/isa/memory_order.h"
#include "kernels/isa/reduction.h"

namespace sm100::instructions {

/// `bytes` from global memory to the own CTA's shared memory; they complete at the mbarrier.
struct CpAsyncBulkSharedGlobal {
  static constexpr Description kIs{.function = "cp_async_bulk_shared_global",
                                   .opcode = "cp.async.bulk.shared::cluster.global",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"bytes", "smem", "barrier"}};
  static constexpr SupportLine kSupport[] = {
      {"cp.async.bulk (1-D, global to shared::cluster)", Support::modelled,
       "mbarrier completion, the own CTA; as a tensor copy of one row"},
      {"cp.async.bulk....multicast::cluster", Support::modelled, "1-D"},
      {"....L2::cache_hint", Support::approximated, "bulk and tensor copies take one; it changes nothing"}};
  SmemAddr smem;
  GlobalAddr global;
  uint32_t bytes;
  SmemAddr barrier;
  L2CachePolicy policy;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("smem", i.smem), visit("global", i.global), visit("bytes", i.bytes), visit("barrier", i.barrier);
  }
  void execute(sim::WarpContext&) const;
};

/// The same to the same offset in each CTA of a mask.
struct CpAsyncBulkSharedGlobalMulticast {
  static constexpr Description kIs{.function = "cp_async_bulk_shared_global_multicast",
                                   .opcode = "cp.async.bulk.shared::cluster.global",
                                   .each_lane = true,
                                   .other_ctas = true,
                                   .faults = Alterable::step,
                                   .add = {"bytes", "smem", "barrier", "mask"}};
  static constexpr auto& kSupport = CpAsyncBulkSharedGlobal::kSupport;
  SmemAddr smem;
  GlobalAddr global;
  uint32_t bytes;
  SmemAddr barrier;
  CtaMask mask;
  L2CachePolicy policy;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("smem", i.smem), visit("global", i.global), visit("bytes", i.bytes), visit("barrier", i.barrier),
        visit("mask", i.mask);
  }
  void execute(sim::WarpContext&) const;
};

/// `bytes` from shared to global memory, into the thread's open bulk group.  Bit i of the mask says whether byte i
/// of each 16 is written (.cp_mask).
struct CpAsyncBulkGlobalShared {
  static constexpr Description kIs{.function = "cp_async_bulk_global_shared",
                                   .opcode = "cp.async.bulk.global.shared::cta",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"bytes", "smem"}};
  static constexpr SupportLine kSupport[] = {
      {"cp.async.bulk (1-D, shared::cta to global)", Support::modelled, "bulk group; .cp_mask"}};
  GlobalAddr global;
  SmemAddr smem;
  uint32_t bytes;
  uint16_t byte_mask;
  L2CachePolicy policy;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("global", i.global), visit("smem", i.smem), visit("bytes", i.bytes);
  }
  void execute(sim::WarpContext&) const;
};

/// `bytes` from the own CTA's shared memory to that of a CTA of the cluster, whose mbarrier gets them.
struct CpAsyncBulkSharedCluster {
  static constexpr Description kIs{.function = "cp_async_bulk_shared_cluster",
                                   .opcode = "cp.async.bulk.shared::cluster.shared::cta",
                                   .each_lane = true,
                                   .other_ctas = true,
                                   .faults = Alterable::step,
                                   .add = {"bytes", "smem", "barrier"}};
  static constexpr SupportLine kSupport[] = {{"cp.async.bulk (1-D, shared::cta to shared::cluster)",
                                              Support::modelled, "mbarrier completion; its time is an assumption"}};
  ClusterSmemAddr target;
  SmemAddr smem;
  uint32_t bytes;
  ClusterSmemAddr barrier;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("target", i.target), visit("smem", i.smem), visit("bytes", i.bytes), visit("barrier", i.barrier);
  }
  void execute(sim::WarpContext&) const;
};

/// Element by element, memory becomes `op` of itself and the tile; type by the tensor map.
struct CpReduceAsyncBulkTensor {
  static constexpr Description kIs{.function = "cp_reduce_async_bulk_tensor_global_shared",
                                   .opcode = "cp.reduce.async.bulk.tensor",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"x", "y", "smem"}};
  static constexpr SupportLine kSupport[] = {{"cp.reduce.async.bulk.tensor.1d-5d (tile)", Support::modelled,
                                              "add, min, max, inc, dec, and, or, xor; types by the tensor map"}};
  ReduceOp op;
  const TensorMap* map;
  Coordinates coords;
  SmemAddr smem;
  L2CachePolicy policy;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    Coordinates::operands(i.coords, visit), visit("smem", i.smem);
  }
  void execute(sim::WarpContext&) const;
};

/// The same of bytes that lie in a row, with a type of its own.
struct CpReduceAsyncBulkGlobal {
  static constexpr Description kIs{.function = "cp_reduce_async_bulk_global_shared",
                                   .opcode = "cp.reduce.async.bulk.global.shared::cta",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"bytes", "smem"}};
  static constexpr SupportLine kSupport[] = {{"cp.reduce.async.bulk (1-D, shared to global)", Support::modelled,
                                              "bulk group; add.f32 keeps subnormals, as an H200 does"}};
  ReduceOp op;
  ReduceType type;
  GlobalAddr global;
  SmemAddr smem;
  uint32_t bytes;
  L2CachePolicy policy;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("global", i.global), visit("smem", i.smem), visit("bytes", i.bytes);
  }
  void execute(sim::WarpContext&) const;
};

/// The same in the shared memory of a CTA of the cluster, whose mbarrier gets the bytes.
struct CpReduceAsyncBulkSharedCluster {
  static constexpr Description kIs{.function = "cp_reduce_async_bulk_shared_cluster",
                                   .opcode = "cp.reduce.async.bulk.shared::cluster.shared::cta",
                                   .each_lane = true,
                                   .other_ctas = true,
                                   .faults = Alterable::step,
                                   .add = {"bytes", "smem", "barrier"}};
  static constexpr SupportLine kSupport[] = {{"cp.reduce.async.bulk (1-D, shared to shared::cluster)",
                                              Support::modelled, "mbarrier completion; its time is an assumption"}};
  ReduceOp op;
  ReduceType type;
  ClusterSmemAddr target;
  SmemAddr smem;
  uint32_t bytes;
  ClusterSmemAddr barrier;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("target", i.target), visit("smem", i.smem), visit("bytes", i.bytes), visit("barrier", i.barrier);
  }
  void execute(sim::WarpContext&) const;
};

/// Global memory into L2.
struct CpAsyncBulkPrefetchL2 {
  static constexpr Description kIs{.function = "cp_async_bulk_prefetch_l2",
                                   .opcode = "cp.async.bulk.prefetch.L2.global",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"bytes"}};
  static constexpr SupportLine kSupport[] = {
      {"cp.async.bulk.prefetch.L2", Support::modelled, "lines come into L2 as for a copy"}};
  GlobalAddr global;
  uint32_t bytes;
  L2CachePolicy policy;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("global", i.global), visit("bytes", i.bytes);
  }
  void execute(sim::WarpContext&) const;
};

/// A tile of a tensor into L2.
struct CpAsyncBulkPrefetchTensorL2 {
  static constexpr Description kIs{.function = "cp_async_bulk_prefetch_tensor_l2",
                                   .opcode = "cp.async.bulk.prefetch.tensor",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"x", "y"}};
  static constexpr SupportLine kSupport[] = {
      {"cp.async.bulk.prefetch.tensor.1d-5d.L2 (tile)", Support::modelled, "lines come into L2 as for a copy"}};
  const TensorMap* map;
  Coordinates coords;
  L2CachePolicy policy;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    Coordinates::operands(i.coords, visit);
  }
  void execute(sim::WarpContext&) const;
};

using BulkCopyGroup = List<CpAsyncBulkSharedGlobal, CpAsyncBulkSharedGlobalMulticast, CpAsyncBulkGlobalShared,
                           CpAsyncBulkSharedCluster, CpReduceAsyncBulkTensor, CpReduceAsyncBulkGlobal,
                           CpReduceAsyncBulkSharedCluster, CpAsyncBulkPrefetchL2, CpAsyncBulkPrefetchTensorL2>;

inline constexpr SupportLine kBulkCopyRejected[] = {
    {"cp.async.bulk (1-D), global to another CTA", Support::rejected, "not implemented"},
    {"cp.async.bulk....ignore_oob", Support::rejected, "not implemented"},
    {"cp.reduce.async.bulk.tensor....im2col_no_offs", Support::rejected,
     "not implemented in the Isa; the unit has it, for PTX"},
    {"createpolicy", Support::rejected, "not implemented; constants of a policy are operands"},
};

}  // namespace sm100::instructions
