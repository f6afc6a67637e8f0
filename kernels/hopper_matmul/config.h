// SPDX-License-Identifier: Apache-2.0
/// Configuration of hopper_matmul and what follows from it.
///
/// C = A * B^T on sm_90a: a producer warpgroup, of which one warp loads with TMA, and two consumer warpgroups that
/// multiply with wgmma and store through shared memory.  Persistent: the CTAs walk the tiles of a static scheduler.
///
///   cooperative  both consumers work on one tile, each on 64 of its 128 rows
///   pingpong     each works on tiles of its own, of 64 rows; the tensor core is one's while the other stores
///
/// With `cluster` c > 1 the CTAs of a cluster have the same columns and different rows: each loads a part of B's
/// tile for all.
#pragma once

#include "kernels/epilogue/output_strip.h"
#include "kernels/isa/arithmetic.h"
#include "kernels/isa/number_formats.h"
#include "kernels/isa/swizzle.h"
#include "kernels/isa/wgmma.h"
#include "kernels/pipeline/smem_layout.h"
#include "kernels/pipeline/smem_tile.h"
#include "kernels/pipeline/warp_group.h"
#include "kernels/scheduler/rasterization.h"

namespace sm100 {

enum class HopperSchedule : uint8_t { cooperative, pingpong };

struct HopperMatmulConfig {
  DataType dtype = DataType::bf16;  ///< A and B: bf16, f16, e4m3 or e5m2
  DataType output = DataType::bf16;
  HopperSchedule schedule = HopperSchedule::cooperative;
  int block_n = 128;  ///< columns of a tile: 32, 64, 128 or 256
  int cluster = 1;    ///< CTAs that share the columns of a tile: 1, 2 or 4
  int stages = 0;     ///< k tile slots; the scenario loader replaces 0 (auto) by what fits
  RasterOrder raster_order = RasterOrder::along_m;

  // What the epilogue's templates ask of a configuration.
  static constexpr int mma_m = kWgmmaM, cta_group = 1;
  static constexpr bool ab_swapped = false;
  int mma_n = 128;  ///< block_n

  constexpr bool operator==(const HopperMatmulConfig&) const = default;
};

inline constexpr int kHopperConsumers = 2;  ///< warpgroups
inline constexpr int kHopperLoadWarp = 0;
inline constexpr int kHopperWarps = kWarpgroupWarps * (1 + kHopperConsumers);
/// Registers of a thread: 65,536 / 384 threads at the launch, then the producer's go to the consumers.
inline constexpr int kHopperLaunchRegisters = 168, kProducerRegisters = 40, kConsumerRegisters = 232;

/// Named barriers: 0 is bar.sync of all.  A consumer's strip, and its turn at the tensor core (pingpong).
inline constexpr int kHopperStripBarrier = 1, kHopperTurnBarrier = 3;

SM100_HD constexpr WarpGroup hopper_consumer(int i) {
  return {.first_warp = kWarpgroupWarps * (1 + i), .warps = kWarpgroupWarps, .barrier = kHopperStripBarrier + i};
}

/// Role of a warp, for reports and traces.
constexpr const char* hopper_role(int warp) {
  return warp == kHopperLoadWarp ? "load" : warp < kWarpgroupWarps ? "spare" : "consumer";
}

template <class C>
SM100_HD constexpr bool is_pingpong(const C& c) {
  return c.schedule == HopperSchedule::pingpong;
}
/// Rows of a CTA's tile.
template <class C>
SM100_HD constexpr int hopper_block_m(const C& c) {
  return is_pingpong(c) ? kWgmmaM : kHopperConsumers * kWgmmaM;
}
/// k elements of a tile: 128 bytes.
template <class C>
SM100_HD constexpr int hopper_block_k(const C& c) {
  return 128 * 8 / element_bits(c.dtype);
}
template <class C>
SM100_HD constexpr TileShape hopper_a_tile(const C& c) {
  return {c.dtype, hopper_block_m(c), hopper_block_k(c), Swizzle::b128};
}
template <class C>
SM100_HD constexpr TileShape hopper_b_tile(const C& c) {
  return {c.dtype, c.block_n, hopper_block_k(c), Swizzle::b128};
}
/// Warps that read a stage, in each CTA that has a part of it.
template <class C>
SM100_HD constexpr int hopper_readers(const C& c) {
  return is_pingpong(c) ? kWarpgroupWarps : kHopperConsumers * kWarpgroupWarps;
}
/// What a consumer writes before TMA stores it: 64 rows.
template <class C>
SM100_HD constexpr TileShape hopper_strip(const C& c) {
  return {c.output, kWgmmaM, strip_columns(c), strip_swizzle(c)};
}

}  // namespace sm100
