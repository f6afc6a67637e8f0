// SPDX-License-Identifier: Apache-2.0
/// Split-K: the splits of a tile add their partial sums in the order of their k ranges.
///
/// Each split but the last adds its accumulator to the tile's part of an f32 workspace in global memory; the last
/// takes the sums from there into tensor memory and stores the tile as any other.  A word per tile, its lock,
/// counts the k tiles that have been added: a split goes on when it equals the first of its own.  So the order of
/// the additions is fixed, and with it every bit of the result, whichever CTA computes which split (reference
/// kernels.md section 4).
///
/// A split waits for splits of smaller blockIdx.z only.  With CLC, and without a scheduler, no wait is for ever
/// only if those are handed out before it: CTAs that hold later splits keep their SMs while they wait.  Hardware
/// hands out x first and z last as far as known, and neither CUDA nor PTX promises it; run.hand_out = "descending"
/// shows what another order does.  With the static scheduler every cluster takes its splits in ascending order, so
/// that residency is all that is needed: the host launches no more clusters than are resident at once.
#pragma once

#include "kernels/epilogue/lane_costs.h"
#include "kernels/epilogue/tile_writer.h"
#include "kernels/matmul/named_barriers.h"
#include "kernels/pipeline/output_ring.h"
#include "kernels/scheduler/work_tile.h"

namespace sm100 {

/// Where the splits meet.  Tile (m, n) of the CTAs has index m * tiles_n + n.
struct SplitParams {
  GlobalAddr workspace;  ///< f32, block_m x mma_n per tile, row-major
  GlobalAddr locks;      ///< 32 bits per tile; 0 before every launch
  int tiles_n = 0;
};

/// All warps of the group: the sums of the first `k_tiles` k tiles are in the workspace.
template <Isa I>
SM100_KERNEL void wait_for_lock(I& isa, const WarpGroup& group, GlobalAddr lock, int k_tiles,
                                Loc loc = Loc::current()) {
  TraceSpan span{isa, TraceEvent::lock_wait, {.k = k_tiles}};
  if (group.is_first(isa)) {
    isa.elected([&] {
      while (isa.ld_acquire_gpu_global_u32(lock, loc) != uint32_t(k_tiles)) {}
    });
  }
  group.sync(isa, loc);
}

/// All warps of the group: lets the split that begins at k tile `k_tiles` go on.
template <Isa I>
SM100_KERNEL void release_lock(I& isa, const WarpGroup& group, GlobalAddr lock, int k_tiles,
                               Loc loc = Loc::current()) {
  // The barrier orders what all warps wrote before the one release.
  group.sync(isa, loc);
  if (group.is_first(isa)) isa.elected([&] { isa.st_release_gpu_global_u32(lock, uint32_t(k_tiles), loc); });
}

/// Addresses of the pairs of columns that a fragment has in its registers 4r + 2 half and the next.
template <Isa I, class Config>
SM100_KERNEL LaneArray<GlobalAddr, 1> workspace_addresses(I& isa, const Config& cfg, GlobalAddr fragment, int r,
                                                          int half) {
  LaneArray<GlobalAddr, 1> at;
  isa.for_each_lane_address(lane_cost::kWorkspaceAddress, [&](int lane) {
    const int row = lane / 4 + 8 * half, column = 8 * r + 2 * (lane % 4);
    at(lane) = fragment + uint64_t(row * cfg.mma_n + column) * 4;
  });
  return at;
}

/// @param fragment  address of the fragment's first row and column
template <int R, Isa I, class Config>
SM100_KERNEL void store_partials(I& isa, const Config& cfg, GlobalAddr fragment,
                                 const LaneArray<uint32_t, 4 * R>& f, Loc loc) {
  for (int r = 0; r < R; ++r)
    for (int half = 0; half < 2; ++half) {
      LaneArray<uint32_t, 2> pair;
      isa.for_each_lane(0, [&](int lane) {
        for (int i = 0; i < 2; ++i) pair[lane][i] = f[lane][4 * r + 2 * half + i];
      });
      isa.st_global_v2(workspace_addresses(isa, cfg, fragment, r, half), pair, loc);
    }
}

/// f += workspace.  All loads are on their way before the first sum.
template <int R, Isa I, class Config>
SM100_KERNEL void add_partials(I& isa, const Config& cfg, GlobalAddr fragment, LaneArray<uint32_t, 4 * R>& f,
                               Loc loc) {
  LaneArray<uint32_t, 2> sums[2 * R];
  for (int i = 0; i < 2 * R; ++i)
    sums[i] = isa.ld_global_v2(workspace_addresses(isa, cfg, fragment, i / 2, i % 2), loc);
  isa.for_each_lane(4 * R * lane_cost::kAddPartial, [&](int lane) {
    for (int i = 0; i < 4 * R; ++i) f[lane][i] = as_bits(as_float(sums[i / 2][lane][i % 2]) + as_float(f[lane][i]));
  });
}

/// This split's sums into the workspace, or, in the last split, the workspace into tensor memory.
template <int R, Isa I, class Config>
SM100_KERNEL void reduce_strips(I& isa, const Config& cfg, int warp, OutputRing<I>& ring, const OutputTile<>& tile,
                                GlobalAddr workspace, bool first, bool last, Loc loc) {
  TraceSpan span{isa, TraceEvent::reduce};
  const WarpPart part = warp_part(cfg, warp);
  const bool both = has_lower_fragment(cfg);
  const int strips = strips_per_tile(cfg);
  for (int i = 0; i < strips; ++i) {
    const TmemAddr strip = tile.result.accumulator.plus_columns(uint32_t(i * 8 * R));
    AccumulatorFragments<R> f = load_fragments<R>(isa, strip, warp, both);
    if (!last && i + 1 == strips) ring.consumer_release(tile.result);
    const int column = part.half * accumulator_columns(cfg) + i * strip_columns(cfg);
    const GlobalAddr upper = workspace + uint64_t(part.row * cfg.mma_n + column) * 4,
                     lower = upper + uint64_t(16 * cfg.mma_n) * 4;
    const auto partials = [&](int row) { return row == 0 ? upper : lower; };
    const TmemAddr sums = strip.plus_lanes(32u * uint32_t(warp));
    if (!first)
      f.walk(both, [&](auto& registers, int row) { add_partials<R>(isa, cfg, partials(row), registers, loc); });
    if (last)
      f.walk(both, [&](const auto& registers, int row) {
        isa.tcgen05_st_16x256b(sums.plus_lanes(uint32_t(row)), registers, loc);
      });
    else
      f.walk(both,
             [&](const auto& registers, int row) { store_partials<R>(isa, cfg, partials(row), registers, loc); });
  }
  if (last) isa.tcgen05_wait_st(loc);
}

/// All four warps of the group.  True when the accumulator holds the whole sum and the tile is ours to store;
/// otherwise the accumulator has been released.
template <Isa I, class Config>
SM100_KERNEL bool reduce_split(I& isa, const Config& cfg, const WarpGroup& group, OutputRing<I>& ring,
                               const SplitParams& params, const WorkTile& work, const OutputTile<>& tile,
                               Loc loc = Loc::current()) {
  const uint64_t index = uint64_t(work.m) * uint64_t(params.tiles_n) + uint64_t(work.n);
  const GlobalAddr lock = params.locks + 4 * index;
  const GlobalAddr workspace = params.workspace + 4 * index * uint64_t(store_rows(cfg) * cfg.mma_n);
  const bool first = work.k_begin == 0;
  const WarpGroup lockers = group.at_barrier(kReductionBarrier);
  const int warp = group.index(isa);
  if (!first) wait_for_lock(isa, lockers, lock, work.k_begin, loc);
  with_strip_registers(cfg, [&](auto r) {
    reduce_strips<r()>(isa, cfg, warp, ring, tile, workspace, first, work.last_split, loc);
  });
  if (!work.last_split) release_lock(isa, lockers, lock, work.k_begin + work.k_count, loc);
  return work.last_split;
}

}  // namespace sm100
