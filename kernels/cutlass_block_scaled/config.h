// SPDX-License-Identifier: Apache-2.0
/// Configuration of the block-scaled matmul in CUTLASS's arrangement of roles: the block-scaled one's, accumulators
/// that overlap, and an addend that a warp of its own loads.
#pragma once

#include "kernels/block_scaled/config.h"

namespace sm100 {

/// The order in which the epilogue takes the strips of accumulators that overlap.
enum class StripOrder : uint8_t {
  shared_first,  ///< the columns that both accumulators have, then the others
  forward,       ///< a mistake: those of the first accumulator are its last
};

/// Of the base: `residual` is there where beta is not 0; ab_swapped keeps its default, outputs have no scales, and
/// tiles are 64 columns wide or more.
struct CutlassBlockScaledConfig : BlockScaledConfig {
  int overlap_columns =
      0;                ///< that two accumulators share; 0: accum_stages accumulators, each with its own columns
  int scale_slots = 0;  ///< in tensor memory: one for all ring stages, as CUTLASS has it, or one for each
  int residual_stages = 2;  ///< strips of the residual in shared memory
  StripOrder strip_order = StripOrder::shared_first;

  constexpr CutlassBlockScaledConfig() = default;
  constexpr explicit CutlassBlockScaledConfig(const BlockScaledConfig& base) : BlockScaledConfig(base) {}
  constexpr bool operator==(const CutlassBlockScaledConfig&) const = default;
};

template <class C>
concept CutlassArranged = BlockScaled<C> && requires(const C& c) {
  c.overlap_columns;
};

// ---- warps ----

inline constexpr int kCutlassMmaWarp = 0, kCutlassSchedulerWarp = 1, kCutlassLoadWarp = 2, kEpilogueLoadWarp = 3;
inline constexpr int kCutlassWarps = 8;
SM100_HD constexpr WarpGroup cutlass_epilogue_group() {
  return {.first_warp = 4, .warps = 4, .barrier = epilogue_group().barrier};
}

constexpr const char* cutlass_role(int warp) {
  switch (warp) {
    case kCutlassMmaWarp: return "mma";
    case kCutlassSchedulerWarp: return "scheduler";
    case kCutlassLoadWarp: return "load";
    case kEpilogueLoadWarp: return "epilogue_load";
    default: return "epilogue";
  }
}

template <CutlassArranged C>
SM100_HD constexpr int warps(const C&) {
  return kCutlassWarps;
}
/// The epilogue load warp decodes tiles only if it has something to load.
template <CutlassArranged C>
SM100_HD constexpr uint32_t other_tile_readers(const C& c) {
  return c.residual ? uint32_t(kWarpLanes) : 0;
}
template <CutlassArranged C>
SM100_HD constexpr const char* tile_readers(const C& c) {
  return c.residual ? "scheduler, load, mma, epilogue, epilogue_load" : "scheduler, load, mma, epilogue";
}

// ---- epilogue ----

/// alpha and the residual are applied where strips are taken from tensor memory (accumulator_strips.h).
template <CutlassArranged C>
SM100_HD constexpr bool has_functor(const C&) {
  return false;
}

// ---- tensor memory: accumulators, then slots of SFA, then of SFB ----

template <CutlassArranged C>
SM100_HD constexpr bool overlaps(const C& c) {
  return c.overlap_columns > 0;
}
/// Accumulators that overlap share a barrier: one is handed over while the other is still read.
template <CutlassArranged C>
SM100_HD constexpr int accumulators(const C& c) {
  return overlaps(c) ? 2 : c.accum_stages;
}
template <CutlassArranged C>
SM100_HD constexpr int accum_stride_columns(const C& c) {
  return c.mma_n - c.overlap_columns;
}
/// Of all accumulators.
template <CutlassArranged C>
SM100_HD constexpr int all_accumulator_columns(const C& c) {
  return (accumulators(c) - 1) * accum_stride_columns(c) + c.mma_n;
}
template <CutlassArranged C>
SM100_HD constexpr int scale_slot_columns(const C& c) {
  return sfa_tile(c).columns() + sfb_slot(c).columns();
}
/// The slot of a ring stage.
template <CutlassArranged C>
SM100_HD constexpr int scale_slot(const C& c, int stage) {
  return c.scale_slots == 1 ? 0 : stage;
}
template <CutlassArranged C>
SM100_HD constexpr uint32_t sfa_column(const C& c, int stage) {
  return uint32_t(all_accumulator_columns(c) + scale_slot(c, stage) * sfa_tile(c).columns());
}
template <CutlassArranged C>
SM100_HD constexpr uint32_t sfb_column(const C& c, int stage) {
  return uint32_t(all_accumulator_columns(c) + c.scale_slots * sfa_tile(c).columns() +
                  scale_slot(c, stage) * sfb_slot(c).columns());
}
template <CutlassArranged C>
SM100_HD constexpr int used_columns(const C& c) {
  return all_accumulator_columns(c) + c.scale_slots * scale_slot_columns(c);
}
/// The scales of a tile's first stage do not wait for the accumulator, which is free late where two overlap.
template <CutlassArranged C>
SM100_HD constexpr bool copies_scales_early(const C& c) {
  return overlaps(c);
}

// ---- the order of strips ----

/// Strips that both accumulators have: the last of the first accumulator, the first of the second.
template <CutlassArranged C>
SM100_HD constexpr int shared_strips(const C& c) {
  return c.overlap_columns / strip_columns(c);
}
/// Which strip comes at a place of the walk through a tile.
/// @param second  the tile is in the second accumulator
template <CutlassArranged C>
SM100_HD constexpr int strip_of(const C& c, bool second, int place) {
  const bool backwards = overlaps(c) && c.strip_order == StripOrder::shared_first && !second;
  return backwards ? strips_per_tile(c) - 1 - place : place;
}

}  // namespace sm100
