// SPDX-License-Identifier: Apache-2.0
/// Configuration of the direct kernel and what follows from it.
///
/// The kernel as tutorials build it up: a tile of 128 rows per CTA, or of 2 x 128 per CTA pair; one thread per
/// role; each thread of the epilogue stores its row of the tile to global memory.  The options are the rungs of
/// such a ladder: one thread for everything, one each for loads and MMAs, or persistent CTAs whose epilogue has
/// warps of its own; one stage or a ring; tiles with and without swizzle; a copy per slab or per tile.
#pragma once

#include "kernels/isa/arithmetic.h"
#include "kernels/isa/instr_descriptor.h"
#include "kernels/isa/number_formats.h"
#include "kernels/isa/swizzle.h"
#include "kernels/pipeline/smem_layout.h"
#include "kernels/pipeline/smem_tile.h"

namespace sm100 {

enum class DirectRoles : uint8_t {
  one_thread,   ///< warp 0 loads and multiplies: with one stage in turns, with more it loads ahead
  specialised,  ///< warp 0 loads, warp 1 multiplies, all four store the tile
  persistent,   ///< warp 0 loads, warp 1 multiplies, warps 2 to 5 store, tile after tile
};

struct DirectConfig {
  int block_n = 256;  ///< columns of a tile; a CTA of a pair loads half of B's rows
  int block_k = 64;   ///< k elements of a stage
  int stages = 7;
  int cta_group = 2;
  DirectRoles roles = DirectRoles::specialised;
  Swizzle swizzle = Swizzle::b128;  ///< of A and B in shared memory: b128 or none
  int tma_rank = 3;                 ///< 3: one copy per operand and stage; 2: one for each slab
  int accum_stages = 1;             ///< accumulators in tensor memory; more than one only for persistent CTAs
  int store_bytes = 16;             ///< 16 or 32: of a thread's stores

  constexpr bool operator==(const DirectConfig&) const = default;
};

inline constexpr int kDirectBarrier = 0;       ///< named barrier of the whole CTA
inline constexpr int kDirectBlockM = 128;      ///< rows of a CTA's tile: a thread of the epilogue has one
inline constexpr int kDirectElementBytes = 2;  ///< BF16
inline constexpr int kDirectMmaK = 16;         ///< 32 bytes
inline constexpr int kDirectLoadWarp = 0, kDirectMmaWarp = 1;
inline constexpr int kDirectEpilogueWarps = 4;

template <class C>
SM100_HD constexpr bool is_persistent(const C& c) {
  return c.roles == DirectRoles::persistent;
}
template <class C>
SM100_HD constexpr int direct_first_epilogue_warp(const C& c) {
  return is_persistent(c) ? 2 : 0;
}
template <class C>
SM100_HD constexpr int direct_warps(const C& c) {
  return direct_first_epilogue_warp(c) + kDirectEpilogueWarps;
}
template <class C>
SM100_HD constexpr int direct_threads(const C& c) {
  return 32 * direct_warps(c);
}

/// Role of a warp, for reports and traces.  Where CTAs are not persistent it has it until the accumulator is full;
/// then all four store the tile.
template <class C>
constexpr const char* direct_role(const C& c, int warp) {
  if (c.roles == DirectRoles::one_thread) return warp == 0 ? "main" : "epilogue";
  return warp == kDirectLoadWarp ? "load" : warp == kDirectMmaWarp ? "mma" : "epilogue";
}

/// Rows of B that one CTA loads.
template <class C>
SM100_HD constexpr int direct_b_rows(const C& c) {
  return c.block_n / c.cta_group;
}
/// What one CTA holds of each operand in a stage, slab by slab.
template <class C>
SM100_HD constexpr TileShape direct_a_tile(const C& c) {
  return {DataType::bf16, kDirectBlockM, c.block_k, c.swizzle};
}
template <class C>
SM100_HD constexpr TileShape direct_b_tile(const C& c) {
  return {DataType::bf16, direct_b_rows(c), c.block_k, c.swizzle};
}
/// Transaction bytes of a stage that one CTA announces: those of its own copies.
template <class C>
SM100_HD constexpr uint32_t direct_stage_bytes(const C& c) {
  return direct_a_tile(c).bytes() + direct_b_tile(c).bytes();
}
template <class C>
SM100_HD constexpr int direct_mma_m(const C& c) {
  return kDirectBlockM * c.cta_group;
}
/// Columns that tcgen05.alloc can give: a power of two from 32.
template <class C>
SM100_HD constexpr uint32_t direct_tmem_columns(const C& c) {
  uint32_t columns = 32;
  while (columns < uint32_t(c.accum_stages * c.block_n)) columns *= 2;
  return columns;
}

/// The tile of number `cta`, a CTA's index or, of a persistent one, beyond: CTAs, or pairs, walk along N inside
/// each stripe of rows.
struct DirectTile {
  int m, n;
};
/// @param divide  by a number that is not known when the kernel is compiled
template <class C, class Divide = PlainDivision>
SM100_HD constexpr DirectTile direct_tile(const C& c, int cta, int tiles_n, Divide&& divide = {}) {
  const int group = cta / c.cta_group, stripe = int(divide(uint32_t(group), uint32_t(tiles_n)));
  return {stripe * c.cta_group + cta % c.cta_group, group - stripe * tiles_n};
}

}  // namespace sm100
