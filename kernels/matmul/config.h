// SPDX-License-Identifier: Apache-2.0
/// Configuration of the dense matmul kernel and everything that follows from it.
///
/// Role code takes a `Config cfg` by value and writes `cfg.stages`.  In the simulator it is the plain struct
/// below, filled from a scenario; on the device it is a type with `static constexpr` members of the same
/// names, so every expression folds.  The derived values are function templates that serve both.
#pragma once

#include "kernels/epilogue/element_functor.h"
#include "kernels/epilogue/output_strip.h"
#include "kernels/isa/arithmetic.h"
#include "kernels/isa/instr_descriptor.h"
#include "kernels/isa/number_formats.h"
#include "kernels/isa/swizzle.h"
#include "kernels/pipeline/smem_layout.h"
#include "kernels/pipeline/smem_tile.h"
#include "kernels/pipeline/warp_group.h"
#include "kernels/scheduler/rasterization.h"

namespace sm100 {

struct MatmulConfig {
  DataType dtype = DataType::bf16;   ///< A and B
  DataType output = DataType::bf16;  ///< C: bf16, f16, e4m3, e5m2, or f32 to see the accumulators before rounding
  int mma_m = 128, mma_n = 128, mma_k = 16;
  int cta_group = 1;
  int cluster_m = 1, cluster_n = 1;
  int stages = 0;        ///< shared-memory tile slots; the scenario loader replaces 0 (auto) by max_stages()
  int k_group_size = 1;  ///< k tiles per ring stage
  int accum_stages = 2;  ///< accumulators in tensor memory
  int clc_stages = 2;    ///< CLC responses in flight; 0 switches CLC and the throttle off
  int num_split_k = 1;   ///< parts of K that different clusters multiply: kernels/epilogue/split_reduction.h
  Swizzle swizzle = Swizzle::b128;  ///< of A and B in shared memory; also fixes the k tile: one swizzle span
  RasterOrder raster_order = RasterOrder::along_m;
  int block_swizzle = 0;  ///< 0, 1, 2, 4, 8
  // what the epilogue does to an element, and where: kernels/epilogue/element_functor.h
  bool scaled = false, bias = false, residual = false;
  Activation activation = Activation::none;
  bool register_epilogue = true;  ///< false: on the strip in shared memory, after rounding to the output type
  bool static_scheduler =
      false;  ///< persistent: cluster w of W computes the tiles w, w + W ...; needs clc_stages 0
  bool ab_swapped =
      false;  ///< the kernel's A is the user's B and its tiles are stored transposed: small M becomes its N
  bool mma_prefetch = true;  ///< MMA warp fetches its next tile before the work, as the original first did
  bool pdl = false;          ///< programmatic dependent launch: may start before the kernel ahead of it has ended

  constexpr bool operator==(const MatmulConfig&) const = default;
};

SM100_HD constexpr WarpGroup epilogue_group() { return {.first_warp = 0, .warps = 4, .barrier = 0}; }
inline constexpr int kSchedulerWarp = 4, kLoadWarp = 5, kMmaWarp = 6;
inline constexpr int kMatmulWarps = 7;

/// Role of a warp, for reports and traces.
constexpr const char* matmul_role(int warp) {
  switch (warp) {
    case kSchedulerWarp: return "scheduler";
    case kLoadWarp: return "load";
    case kMmaWarp: return "mma";
    default: return "epilogue";
  }
}

/// Threads of each CTA that decode tiles beside those of the scheduler, load, MMA and epilogue warps, and the names
/// of all roles that do; threads that access tensor memory beside those of the MMA and epilogue warps, and all
/// their roles.
template <class C>
SM100_HD constexpr uint32_t other_tile_readers(const C&) {
  return 0;
}
template <class C>
SM100_HD constexpr const char* tile_readers(const C&) {
  return "scheduler, load, mma, epilogue";
}
template <class C>
SM100_HD constexpr int other_tmem_threads(const C&) {
  return 0;
}
template <class C>
SM100_HD constexpr const char* tmem_roles(const C&) {
  return "mma, epilogue";
}

/// The tcgen05.mma kind of A and B.
template <class C>
SM100_HD constexpr MmaKind mma_kind(const C& c) {
  return c.dtype == DataType::tf32                                ? MmaKind::tf32
         : c.dtype == DataType::e4m3 || c.dtype == DataType::e5m2 ? MmaKind::f8f6f4
                                                                  : MmaKind::f16;
}
template <class C>
SM100_HD constexpr int cluster_size(const C& c) {
  return c.cluster_m * c.cluster_n;
}
template <class C>
SM100_HD constexpr int block_m(const C& c) {
  return c.mma_m / c.cta_group;
}
template <class C>
SM100_HD constexpr int block_n(const C& c) {
  return c.mma_n / c.cta_group;
}
template <class C>
SM100_HD constexpr int operand_bytes(const C& c) {
  return element_bits(c.dtype) / 8;
}
template <class C>
SM100_HD constexpr int operand_bits(const C& c) {
  return element_bits(c.dtype);
}
template <class C>
SM100_HD constexpr const char* operand_name(const C& c) {
  return name(c.dtype);
}
/// k elements of one tile: one swizzle span of bytes per row.
template <class C>
SM100_HD constexpr int block_k(const C& c) {
  return int(swizzle_span_bytes(c.swizzle)) / operand_bytes(c);
}
template <class C>
SM100_HD constexpr int mmas_per_k_tile(const C& c) {
  return block_k(c) / c.mma_k;
}
template <class C>
SM100_HD constexpr int ring_stages(const C& c) {
  return c.stages / c.k_group_size;
}
/// A k tile of each operand in shared memory: what one CTA holds.
template <class C>
SM100_HD constexpr TileShape a_tile(const C& c) {
  return {c.dtype, block_m(c), block_k(c), c.swizzle};
}
template <class C>
SM100_HD constexpr TileShape b_tile(const C& c) {
  return {c.dtype, block_n(c), block_k(c), c.swizzle};
}
/// Bytes of a tile slot.
template <class C>
SM100_HD constexpr uint32_t slot_bytes(const C& c) {
  return a_tile(c).bytes() + b_tile(c).bytes();
}
/// Transaction bytes of one ring stage on the leader's full barrier.
template <class C>
SM100_HD constexpr uint32_t stage_transaction_bytes(const C& c) {
  return uint32_t(c.cta_group * c.k_group_size) * slot_bytes(c);
}
/// Arrivals of the epilogue warps on the barrier that hands a ring stage back: none where only MMAs read it.
template <class C>
SM100_HD constexpr int epilogue_arrivals_per_stage(const C&) {
  return 0;
}
/// The kernel allocates all of tensor memory and gives each accumulator stage an equal share of the columns.
template <class C>
SM100_HD constexpr int accum_stride_columns(const C& c) {
  return 512 / c.accum_stages;
}

/// Grid of CTAs: one column per mma_n, one row per block_m, rounded up to the cluster.
template <class C>
SM100_HD constexpr int grid_m(const C& c, int m) {
  return align_up(ceil_div(m, block_m(c)), c.cluster_m);
}
template <class C>
SM100_HD constexpr int grid_n(const C& c, int n) {
  return align_up(ceil_div(n, c.mma_n), c.cluster_n);
}

/// A tile without k tiles, which the epilogue writes by itself: of kernels that have such tiles.
template <class C, class Tile>
SM100_HD constexpr bool is_written_without_mmas(const C&, const Tile&) {
  return false;
}

/// k tiles of one split; the last one may have fewer.
template <class C>
SM100_HD constexpr int k_tiles_per_split(const C& c, int k_tiles) {
  return ceil_div(k_tiles, c.num_split_k);
}

/// Largest number of shared-memory stages that fits, a multiple of k_group_size (the original's formula,
/// which budgets 160 B per CLC stage, 16 B per accumulator and input stage and 12 B for the rest).
template <class C>
SM100_HD constexpr int max_stages(const C& c) {
  const int rest =
      kSmemBudgetBytes - kOutputBuffers * int(strip_bytes(c)) - 12 - 160 * c.clc_stages - 16 * c.accum_stages;
  const int stages = rest / int(slot_bytes(c) + 16);
  return stages < 0 ? 0 : stages / c.k_group_size * c.k_group_size;
}

}  // namespace sm100
