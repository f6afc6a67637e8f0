// SPDX-License-Identifier: Apache-2.0
/// Tensor copies and bulk groups (PTX 9.7.9.25, .27).
#pragma once

#include "kernels/isa/instructions/instruction.h"

namespace sm100::instructions {

struct PrefetchTensormap {
  static constexpr Description kIs{.function = "prefetch_tensormap", .opcode = "prefetch.tensormap"};
  static constexpr SupportLine kSupport[] = {
      {"prefetch.tensormap", Support::approximated, "no effect but its issue time"}};
  TensorMapAddr map;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// Element coordinates, innermost dimension first.
struct Coordinates {
  std::array<int32_t, 5> c{};
  int rank = 0;
  bool four_rows = false;  ///< .tile::gather4, ::scatter4: c is {column, row 0 ... row 3}, rank is the map's, 2
  bool im2col = false;     ///< .im2col, .im2col_no_offs: c is the first pixel's {c, w, h, d, n}
  std::array<uint16_t, kImageMaxRank> offset{};  ///< of W, H and D: im2colOffsets
  constexpr Coordinates() = default;
  template <int N>
  constexpr Coordinates(const TensorCoords<N>& coords) : rank(N) {  // NOLINT: the same thing
    for (int i = 0; i < N; ++i) c[size_t(i)] = coords.c[i];
  }
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("x", i.c[0]), visit("y", i.c[1]);  // what lies beyond the rank is not looked at
  }
};

/// Tile from global memory to the own CTA's shared memory; its bytes complete at the mbarrier.
struct CpAsyncBulkTensorSharedGlobal {
  static constexpr Description kIs{.function = "cp_async_bulk_tensor_shared_global",
                                   .opcode = "cp.async.bulk.tensor",
                                   .each_lane = true,
                                   .other_ctas = true,
                                   .faults = Alterable::step,
                                   .add = {"x", "y", "smem", "barrier"}};
  static constexpr SupportLine kSupport[] = {
      {"cp.async.bulk.tensor.1d-5d (load, tile)", Support::modelled,
       "global to shared::cluster, mbarrier completion"},
      {"cp.async.bulk.tensor....cta_group::2", Support::modelled, "tiled load; the mbarrier may be the peer's"}};
  SmemAddr smem;
  TensorMapAddr map;
  Coordinates coords;
  SmemAddr barrier;
  int cta_group;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("smem", i.smem), Coordinates::operands(i.coords, visit), visit("barrier", i.barrier);
  }
  void execute(sim::WarpContext&) const;
};

/// The same to the same offset in each CTA of a mask.
struct CpAsyncBulkTensorSharedGlobalMulticast {
  static constexpr Description kIs{.function = "cp_async_bulk_tensor_shared_global_multicast",
                                   .opcode = "cp.async.bulk.tensor",
                                   .each_lane = true,
                                   .other_ctas = true,
                                   .faults = Alterable::step,
                                   .add = {"x", "y", "smem", "barrier", "mask"}};
  static constexpr SupportLine kSupport[] = {
      {"cp.async.bulk.tensor....multicast::cluster", Support::modelled, "tiled load, cta_group::1 and ::2"}};
  SmemAddr smem;
  TensorMapAddr map;
  Coordinates coords;
  SmemAddr barrier;
  CtaMask mask;
  int cta_group;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("smem", i.smem), Coordinates::operands(i.coords, visit), visit("barrier", i.barrier),
        visit("mask", i.mask);
  }
  void execute(sim::WarpContext&) const;
};

/// Tile from shared to global memory, into the thread's open bulk group.
struct CpAsyncBulkTensorGlobalShared {
  static constexpr Description kIs{.function = "cp_async_bulk_tensor_global_shared",
                                   .opcode = "cp.async.bulk.tensor",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"x", "y", "smem"}};
  static constexpr SupportLine kSupport[] = {
      {"cp.async.bulk.tensor.1d-5d (store, tile)", Support::modelled, "shared::cta to global, bulk group"}};
  TensorMapAddr map;
  Coordinates coords;
  SmemAddr smem;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    Coordinates::operands(i.coords, visit), visit("smem", i.smem);
  }
  void execute(sim::WarpContext&) const;
};

struct CpAsyncBulkCommitGroup {
  static constexpr Description kIs{
      .function = "cp_async_bulk_commit_group", .opcode = "cp.async.bulk.commit_group", .faults = Alterable::step};
  static constexpr SupportLine kSupport[] = {{"cp.async.bulk.commit_group", Support::modelled, ""}};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// Until at most `pending` groups still read their sources.
struct CpAsyncBulkWaitGroupRead {
  static constexpr Description kIs{.function = "cp_async_bulk_wait_group_read",
                                   .opcode = "cp.async.bulk.wait_group.read",
                                   .faults = Alterable::step,
                                   .add = {"pending"}};
  static constexpr SupportLine kSupport[] = {{"cp.async.bulk.wait_group{.read}", Support::modelled, ""}};
  int pending;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("pending", i.pending);
  }
  void execute(sim::WarpContext&) const;
};

/// Until at most `pending` groups are incomplete.
struct CpAsyncBulkWaitGroup {
  static constexpr Description kIs{.function = "cp_async_bulk_wait_group",
                                   .opcode = "cp.async.bulk.wait_group",
                                   .faults = Alterable::step,
                                   .add = {"pending"}};
  static constexpr auto& kSupport = CpAsyncBulkWaitGroupRead::kSupport;
  int pending;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("pending", i.pending);
  }
  void execute(sim::WarpContext&) const;
};

using BulkTensorGroup =
    List<CpAsyncBulkTensorSharedGlobal, CpAsyncBulkTensorSharedGlobalMulticast, CpAsyncBulkTensorGlobalShared,
         CpAsyncBulkCommitGroup, CpAsyncBulkWaitGroupRead, CpAsyncBulkWaitGroup, PrefetchTensormap>;

inline constexpr SupportLine kBulkTensorRejected[] = {
    {"cp.async.bulk.tensor....im2col, .im2col_no_offs", Support::rejected,
     "not implemented in the Isa; the unit has them, for PTX"},
    {"cp.async.bulk.tensor....im2col::w, ::w::128", Support::rejected, "not implemented"},
    {"cp.async.bulk.tensor....tile::gather4, ::scatter4", Support::rejected,
     "not implemented in the Isa; the unit has them, for PTX"},
};

}  // namespace sm100::instructions
