// SPDX-License-Identifier: Apache-2.0
/// Writes a tile that crosses its group's end: registers -> global memory, each store guarded by its row.  A TMA
/// store of whole boxes would overwrite the next group's first rows.
#pragma once

#include "kernels/epilogue/fragment_functor.h"
#include "kernels/epilogue/global_writer.h"
#include "kernels/epilogue/output_strip.h"
#include "kernels/epilogue/strip_source.h"

namespace sm100 {

/// Swapped, a fragment's rows are columns of C: neighbouring registers are a row of C apart, and elements are
/// stored one by one.
/// @param first_column  column of C of the fragment's first row
/// @param first_row     row of C of its first column
template <int R, Isa I, class Config>
SM100_KERNEL void store_fragment_transposed(I& isa, const Config& cfg, const GlobalMatrix& c, int first_column,
                                            int first_row, const LaneArray<uint32_t, 4 * R>& f,
                                            Loc loc = Loc::current()) {
  const auto bytes = uint32_t(output_bytes(cfg));
  for (int i = 0; i < 4 * R; ++i) {
    LaneArray<GlobalAddr, 1> address;
    LaneArray<uint32_t, 1> value;
    LaneArray<bool, 1> inside;
    isa.for_each_lane_address(lane_cost::kGlobalElement, [&](int lane) {
      const FragmentPair pair(first_column, first_row, i / 2, lane);
      address(lane) = c.at(pair.column + i % 2, pair.row, bytes);
      inside(lane) = c.contains(pair.column + i % 2, pair.row);
    });
    isa.for_each_lane(0, [&](int lane) {
      value(lane) = bytes == 4 ? f[lane][i] : isa.cvt_rn_bf16x2_f32(0, as_float(f[lane][i]));
    });
    if (bytes == 4)
      isa.st_global_b32(address, value, inside, loc);
    else
      isa.st_global_b16(address, value, inside, loc);
  }
}

/// @param c  C down to the end of the group
/// @param row, column  place of the fragment's corner in the kernel's output (swapped: in C's transpose)
template <int R, Isa I, class Config>
SM100_KERNEL void store_fragment(I& isa, const Config& cfg, const GlobalMatrix& c, int row, int column,
                                 const LaneArray<uint32_t, 4 * R>& f, Loc loc = Loc::current()) {
  if (cfg.ab_swapped)
    store_fragment_transposed<R>(isa, cfg, c, row, column, f, loc);
  else if (output_bytes(cfg) == 4)
    store_fragment_f32<R>(isa, c, row, column, f, loc);
  else
    store_fragment_bf16<R>(isa, c, row, column, f, loc);
}

/// All four warps of the group.  R: strip columns / 8.
/// @param source  of the tile's strips (kernels/epilogue/strip_source.h)
/// @param c       C down to the end of the group
/// @param tile_row, tile_column  corner of the tile in the kernel's output (swapped: in C's transpose)
template <int R, Isa I, class Config, class Source>
SM100_KERNEL void write_guarded_strips(I& isa, const Config& cfg, const WarpGroup& group, Source&& source,
                                       const FunctorParams& functor, const GlobalMatrix& c, int tile_row,
                                       int tile_column) {
  const int warp = group.index(isa), strips = strips_per_tile(cfg);
  const WarpPart part = warp_part(cfg, warp);
  const int row = tile_row + part.row;
  source.for_each(strips, [&](int i) {
    AccumulatorFragments<R> f = source.template load<R>(i, warp, has_lower_fragment(cfg));
    if (i + 1 == strips) source.release();
    const int column = tile_column + part.half * accumulator_columns(cfg) + i * strip_columns(cfg);
    if (has_functor(cfg)) apply_functor(isa, cfg, functor, row, column, f);
    TraceSpan span{isa, TraceEvent::store_issue};
    f.walk(has_lower_fragment(cfg), [&](const auto& registers, int fragment_row) {
      store_fragment<R>(isa, cfg, c, row + fragment_row, column, registers);
    });
  });
}

}  // namespace sm100
