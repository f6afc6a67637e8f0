// SPDX-License-Identifier: Apache-2.0
/// The functor on a strip in shared memory, after the fragments have been rounded to the output type and written.
///
/// Each of the four warps' threads takes vectors of 16 bytes, whichever thread wrote them, un-swizzles their place,
/// applies the functor to their elements and writes them back.  Neighbours of a vector are neighbours in C, also
/// where operands are swapped, so residual and bias come as vectors, and a warp's residual in whole rows of the
/// strip: fewer and wider loads than fragments need, for one rounding more.
#pragma once

#include "kernels/epilogue/element_functor.h"
#include "kernels/epilogue/lane_costs.h"
#include "kernels/epilogue/smem_writer.h"

namespace sm100 {

inline constexpr int kVectorBytes = 16;
inline constexpr int kMostVectorsPerLane = 8;  ///< 128 rows of 128 bytes

/// Warps that take part: the smallest strip has 64 vectors.
template <class C>
SM100_HD constexpr int strip_vector_warps(const C& c) {
  const int vectors = int(strip_bytes(c)) / kVectorBytes;
  return vectors < kStripWarps * kWarpLanes ? vectors / kWarpLanes : kStripWarps;
}
template <class C>
SM100_HD constexpr int vectors_per_lane(const C& c) {
  return int(strip_bytes(c)) / kVectorBytes / (strip_vector_warps(c) * kWarpLanes);
}
/// A lane's vectors are whole repeats of the swizzle apart: straight, they lie in the same columns.
template <class C>
SM100_HD constexpr bool same_columns(const C& c) {
  return !c.ab_swapped && !halves_side_by_side(c);
}

/// Vector j of a lane in a strip.
template <class Config>
SM100_HD constexpr SmemAddr vector_address(const StripBuffer<Config>& strip, int warp, int lane, int j) {
  const int threads = strip_vector_warps(strip.cfg) * kWarpLanes;
  return strip.base + uint32_t((j * threads + warp * kWarpLanes + lane) * kVectorBytes);
}

/// Place in C of the first element of a vector.
/// @param first_row, first_column  place of the strip in the kernel's output (swapped: of C's transpose)
template <class Config>
SM100_HD constexpr ElementPlace place_of_vector(const StripBuffer<Config>& strip, SmemAddr vector, int first_row,
                                                int first_column) {
  const Config& cfg = strip.cfg;
  const StripElement e = strip.element_at(vector);
  const int half = halves_side_by_side(cfg) ? int(uint32_t(e.row) / uint32_t(store_rows(cfg))) : 0;
  return place_in_c(cfg, first_row + e.row - half * store_rows(cfg),
                    first_column + e.column + half * accumulator_columns(cfg));
}

/// The bias of each lane's vector: 16-bit elements have theirs in both, f32 in the first.
struct VectorBias {
  LaneArray<uint32_t, 4> of[2];
};

/// The vector's elements become the functor's values.
template <Isa I, class Config>
SM100_KERNEL void apply_to_vector(I& isa, const Config& cfg, const FunctorParams& params, const VectorBias& bias,
                                  const LaneArray<uint32_t, 4>& residual, LaneArray<uint32_t, 4>& vector) {
  const int elements = kVectorBytes / output_bytes(cfg);
  isa.for_each_lane(elements * (functor_instructions(cfg) + 1), [&](int lane) {
    const auto value = [&](int i) {
      return as_bits(functor_of(
          isa, cfg, params, output_element(isa, cfg, vector[lane], i),
          [&] { return as_float(bias.of[i / 4][lane][i % 4]); },
          [&] { return output_element(isa, cfg, residual[lane], i); }));
    };
    for (int word = 0; word < 4; ++word)
      vector[lane][word] = elements == 4 ? value(word) : pack_16bit(isa, cfg, value(2 * word), value(2 * word + 1));
  });
}

/// All four warps, which have written their parts of the strip.  What they write here is theirs to publish.
/// Vectors outside C are never stored: what becomes of them does not matter.
/// @param first_row, first_column  place of the strip in the kernel's output (swapped: of C's transpose)
template <Isa I, class Config>
SM100_KERNEL void apply_functor(I& isa, const Config& cfg, const WarpGroup& group, const FunctorParams& params,
                                int first_row, int first_column, const StripBuffer<Config>& strip,
                                Loc loc = Loc::current()) {
  group.sync(isa, loc);  // the whole strip is there
  const int warp = group.index(isa), vectors = vectors_per_lane(cfg);
  if (warp >= strip_vector_warps(cfg)) return;
  // All loads from global memory are on their way before the first is used.
  VectorBias bias[kMostVectorsPerLane];
  LaneArray<uint32_t, 4> residual[kMostVectorsPerLane];
  for (int j = 0; j < vectors; ++j) {
    LaneArray<GlobalAddr, 1> residual_at, bias_at, next_bias_at;
    LaneArray<bool, 1> inside;
    const int instructions = lane_cost::kVectorPlace + (halves_side_by_side(cfg) ? lane_cost::kVectorHalf : 0) +
                             (cfg.residual ? lane_cost::kVectorResidual : 0) +
                             (cfg.bias ? lane_cost::kVectorBias : 0);
    isa.for_each_lane(instructions, [&](int lane) {
      const auto place = place_of_vector(strip, vector_address(strip, warp, lane, j), first_row, first_column);
      inside(lane) = place.inside(params);
      residual_at(lane) = params.residual + place.offset(params, output_bytes(cfg));
      bias_at(lane) = place.bias(params);
      next_bias_at(lane) = bias_at(lane) + kVectorBytes;
    });
    if (cfg.residual) residual[j] = isa.ld_global_v4(residual_at, inside, loc);
    if (!cfg.bias || (j > 0 && same_columns(cfg))) continue;
    bias[j].of[0] = isa.ld_global_v4(bias_at, inside, loc);
    if (output_bytes(cfg) == 2) bias[j].of[1] = isa.ld_global_v4(next_bias_at, inside, loc);
  }
  for (int j = 0; j < vectors; ++j) {
    LaneArray<SmemAddr, 1> at;
    isa.for_each_lane(lane_cost::kVectorAddress,
                      [&](int lane) { at(lane) = vector_address(strip, warp, lane, j); });
    LaneArray<uint32_t, 4> vector = isa.ld_shared_v4(at, loc);
    apply_to_vector(isa, cfg, params, bias[same_columns(cfg) ? 0 : j], residual[j], vector);
    isa.st_shared_v4(at, vector, loc);
  }
}

}  // namespace sm100
