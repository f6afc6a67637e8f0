// SPDX-License-Identifier: Apache-2.0
/// The functor on a strip's fragments, in registers: on f32 accumulators, before they are rounded to the output
/// type.
///
/// Straight, two neighbouring registers of a fragment are neighbours in C too: one load takes the residual of both,
/// and the bias of both for all rows of the strip.  Swapped, they are a column of C: elements are loaded one by
/// one, and a lane's bias is that of its two rows of the fragment.
#pragma once

#include "kernels/epilogue/element_functor.h"
#include "kernels/epilogue/lane_costs.h"
#include "kernels/epilogue/tmem_reader.h"

namespace sm100 {

/// Registers that are neighbours along a row of C.
template <class C>
SM100_HD constexpr int neighbours_in_c(const C& c) {
  return c.ab_swapped ? 1 : 2;
}

/// @param first_row, first_column  place of the fragment in the kernel's output (swapped: of C's transpose)
template <class C>
SM100_HD constexpr ElementPlace place_of_register(const C& c, int first_row, int first_column, int i, int lane) {
  return place_in_c(c, first_row + lane / 4 + 8 * (i / 2 % 2), first_column + 8 * (i / 4) + 2 * (lane % 4) + i % 2);
}

/// 2, 4 or 8 bytes from each lane's address; 0 without the predicate.
template <Isa I>
SM100_KERNEL LaneArray<uint32_t, 2> load_neighbours(I& isa, int bytes, const LaneArray<GlobalAddr, 1>& at,
                                                    const LaneArray<bool, 1>& inside, Loc loc) {
  if (bytes == 8) return isa.ld_global_v2(at, inside, loc);
  const LaneArray<uint32_t, 1> word =
      bytes == 4 ? isa.ld_global_b32(at, inside, loc) : isa.ld_global_b16(at, inside, loc);
  LaneArray<uint32_t, 2> words{};
  isa.for_each_lane(0, [&](int lane) { words[lane][0] = word(lane); });
  return words;
}

/// Straight: of the columns that registers 4r and 4r + 1 have in all rows.  Swapped, where C's columns are the
/// fragment's rows: of those of registers 0 and 2.
template <int R>
struct FragmentBias {
  LaneArray<uint32_t, 2> of[R > 2 ? R : 2];

  template <class C>
  SM100_HD float at(const C& c, int lane, int i) const {
    return as_float(c.ab_swapped ? of[i / 2 % 2][lane][0] : of[i / 4][lane][i % 2]);
  }
};

template <int R, Isa I, class Config>
SM100_KERNEL FragmentBias<R> load_bias(I& isa, const Config& cfg, const FunctorParams& params, int first_row,
                                       int first_column, Loc loc) {
  FragmentBias<R> bias;
  for (int j = 0; j < (cfg.ab_swapped ? 2 : R); ++j) {
    LaneArray<GlobalAddr, 1> at;
    LaneArray<bool, 1> inside;
    isa.for_each_lane(lane_cost::kBiasAddress, [&](int lane) {
      const auto place = place_of_register(cfg, first_row, first_column, cfg.ab_swapped ? 2 * j : 4 * j, lane);
      at(lane) = place.bias(params);
      inside(lane) = place.column < params.columns;
    });
    bias.of[j] = load_neighbours(isa, 4 * neighbours_in_c(cfg), at, inside, loc);
  }
  return bias;
}

/// All loads of a fragment are on their way before the first use.
template <int R, Isa I, class Config>
SM100_KERNEL void apply_to_fragment(I& isa, const Config& cfg, const FunctorParams& params, int first_row,
                                    int first_column, const FragmentBias<R>& bias, LaneArray<uint32_t, 4 * R>& f,
                                    Loc loc) {
  const int step = neighbours_in_c(cfg);
  LaneArray<uint32_t, 2> residual[4 * R];
  if (cfg.residual) {
    // What registers lie apart is the same in all lanes.
    LaneArray<GlobalAddr, 1> first;
    isa.for_each_lane(lane_cost::kFirstResidual, [&](int lane) {
      const auto place = place_of_register(cfg, first_row, first_column, 0, lane);
      first(lane) = params.residual + place.offset(params, output_bytes(cfg));
    });
    for (int i = 0; i < 4 * R; i += step) {
      const uint64_t apart = place_of_register(cfg, 0, 0, i, 0).offset(params, output_bytes(cfg));
      LaneArray<GlobalAddr, 1> at;
      LaneArray<bool, 1> inside;
      isa.for_each_lane(lane_cost::kNextResidual + (cfg.ab_swapped ? lane_cost::kResidualApart : 0), [&](int lane) {
        at(lane) = first(lane) + apart;
        inside(lane) = place_of_register(cfg, first_row, first_column, i, lane).inside(params);
      });
      residual[i / step] = load_neighbours(isa, step * output_bytes(cfg), at, inside, loc);
    }
  }
  isa.for_each_lane(4 * R * functor_instructions(cfg), [&](int lane) {
    for (int i = 0; i < 4 * R; ++i)
      f[lane][i] = as_bits(functor_of(
          isa, cfg, params, as_float(f[lane][i]), [&] { return bias.at(cfg, lane, i); },
          [&] { return output_element(isa, cfg, residual[i / step][lane], i % step); }));
  });
}

/// @param first_row, first_column  place of the first fragment in the kernel's output (swapped: of C's transpose)
template <Isa I, class Config, int R>
SM100_KERNEL void apply_functor(I& isa, const Config& cfg, const FunctorParams& params, int first_row,
                                int first_column, AccumulatorFragments<R>& f, Loc loc = Loc::current()) {
  FragmentBias<R> bias;
  f.walk(has_lower_fragment(cfg), [&](auto& registers, int row) {
    if (cfg.bias && (row == 0 || cfg.ab_swapped))
      bias = load_bias<R>(isa, cfg, params, first_row + row, first_column, loc);
    apply_to_fragment<R>(isa, cfg, params, first_row + row, first_column, bias, registers, loc);
  });
}

}  // namespace sm100
