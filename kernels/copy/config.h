// SPDX-License-Identifier: Apache-2.0
/// Configuration of pipeline_copy and what follows from it.
///
/// The kernel moves a row-major BF16 matrix through shared memory: TMA load -> input ring -> four consumer warps
/// (shared memory -> registers -> shared memory) -> TMA store.  It is the dense matmul's pipeline without tensor
/// core and tensor memory, so sm_90 hardware can run it.  With `multicast` the CTAs of a cluster work on the same
/// tile: each loads its share of the rows for all of them, and CTA r of the cluster writes copy r of the matrix.
#pragma once

#include "kernels/epilogue/strip_store.h"
#include "kernels/isa/arithmetic.h"
#include "kernels/isa/swizzle.h"
#include "kernels/pipeline/smem_layout.h"
#include "kernels/pipeline/smem_tile.h"
#include "kernels/pipeline/warp_group.h"
#include "kernels/scheduler/rasterization.h"

namespace sm100 {

struct CopyConfig {
  int tile_m = 128;                 ///< rows of a work tile: 64 or 128
  int tile_n = 512;                 ///< columns of a work tile: a multiple of k_group_size k tiles
  int cluster = 1;                  ///< CTAs of a cluster, along x
  bool multicast = false;           ///< the CTAs of a cluster share their tiles
  int stages = 0;                   ///< k tile slots; the scenario loader replaces 0 (auto) by what fits
  int k_group_size = 1;             ///< k tiles per ring stage
  Swizzle swizzle = Swizzle::b128;  ///< of the tiles in shared memory; a k tile is one swizzle span wide
  RasterOrder raster_order = RasterOrder::along_m;
  bool pdl = false;  ///< programmatic dependent launch: may start before the kernel ahead of it has ended

  constexpr bool operator==(const CopyConfig&) const = default;
};

inline constexpr int kCopyElementBytes = 2;  ///< BF16
SM100_HD constexpr WarpGroup copy_consumers() { return {.first_warp = 0, .warps = 4, .barrier = 0}; }
inline constexpr int kCopyLoadWarp = 4;
inline constexpr int kCopyWarps = 5;

/// Role of a warp, for reports and traces.
constexpr const char* copy_role(int warp) { return warp == kCopyLoadWarp ? "load" : "consumer"; }

/// Columns of a k tile.
template <class C>
SM100_HD constexpr int copy_block_k(const C& c) {
  return int(swizzle_span_bytes(c.swizzle)) / kCopyElementBytes;
}
/// A k tile in shared memory: a slot of the ring, and a strip.
template <class C>
SM100_HD constexpr TileShape copy_tile(const C& c) {
  return {DataType::bf16, c.tile_m, copy_block_k(c), c.swizzle};
}
template <class C>
SM100_HD constexpr uint32_t copy_slot_bytes(const C& c) {
  return copy_tile(c).bytes();
}
template <class C>
SM100_HD constexpr int copy_ring_stages(const C& c) {
  return c.stages / c.k_group_size;
}
/// CTAs that read and write a ring stage: the cluster's with multicast.
template <class C>
SM100_HD constexpr int copy_sharers(const C& c) {
  return c.multicast ? c.cluster : 1;
}
/// Rows of a tile that one CTA loads.
template <class C>
SM100_HD constexpr int copy_load_rows(const C& c) {
  return c.tile_m / copy_sharers(c);
}
/// 16-byte chunks of a slot that each of the 128 consumer threads moves: 1, 2, 4 or 8.
template <class C>
SM100_HD constexpr int copy_chunks_per_thread(const C& c) {
  return int(copy_slot_bytes(c)) / (16 * copy_consumers().threads());
}

}  // namespace sm100
