// SPDX-License-Identifier: Apache-2.0
/// The sums of a tile in an epilogue warp's registers: accumulators of its k tiles, each times the scales of its k
/// block.
///
/// A lane holds columns 2(t%4)+{0,1} of each 8 in the rows t/4, t/4 + 8, t/4 + 16 and t/4 + 24 of its warp's part
/// (kernels/epilogue/tmem_reader.h), so it needs the scales of four rows of A, and one of B for each strip.
#pragma once

#include <type_traits>
#include <utility>

#include "kernels/blockwise/config.h"
#include "kernels/blockwise/params.h"
#include "kernels/blockwise/tiles.h"
#include "kernels/epilogue/lane_costs.h"
#include "kernels/epilogue/output_strip.h"
#include "kernels/epilogue/tmem_reader.h"

namespace sm100 {

/// Of each lane's rows: [upper or lower fragment][rows 0-7 or 8-15 of it].  As they were loaded until
/// `widen_scales`.
struct RowScales {
  LaneArray<uint32_t, 1> of[2][2];
};

/// @param first_row  of the warp's part, in the tile
template <Isa I, class Config>
SM100_KERNEL RowScales load_row_scales(I& isa, const Config& cfg, const RowScaleTile& tile, int stage,
                                       int first_row, Loc loc = Loc::current()) {
  TraceSpan span{isa, TraceEvent::smem_read, {.stage = stage}};
  RowScales scales;
  for (int fragment = 0; fragment < (has_lower_fragment(cfg) ? 2 : 1); ++fragment)
    for (int half = 0; half < 2; ++half) {
      LaneArray<SmemAddr, 1> at;
      isa.for_each_lane(lane_cost::kRowScale, [&](int lane) {
        at(lane) = tile.of_row(cfg, first_row + 16 * fragment + 8 * half + lane / 4);
      });
      scales.of[fragment][half] =
          cfg.scale_dtype == DataType::bf16 ? isa.ld_shared_b16(at, loc) : isa.ld_shared_b32(at, loc);
    }
  return scales;
}

/// Of the tile's one or two blocks of columns, the same in all lanes.  As they were loaded until `widen_scales`.
struct ColumnScales {
  LaneArray<uint32_t, 1> of[2];
};

/// @param table  b_scales, n_blocks and k_blocks of the matrix that the tile's columns are of: BlockwiseParams, or
///               what a kernel with several such matrices has for one
template <Isa I, class Config, class Table>
SM100_KERNEL ColumnScales load_column_scales(I& isa, const Config& cfg, const Table& table, int tile_n, int k_tile,
                                             Loc loc = Loc::current()) {
  ColumnScales scales;
  for (int i = 0; i < n_blocks_per_tile(cfg); ++i) {
    const int block = first_n_block(cfg, tile_n) + i;
    const GlobalAddr address =
        table.b_scales +
        (uint64_t(block) * uint64_t(table.k_blocks) + uint64_t(k_block_of(cfg, k_tile))) * bytes_per_scale(cfg);
    LaneArray<GlobalAddr, 1> at;
    LaneArray<bool, 1> inside;
    isa.for_each_lane(lane_cost::kColumnScale, [&](int lane) {
      at(lane) = address;
      inside(lane) = block < table.n_blocks;
    });
    scales.of[i] =
        cfg.scale_dtype == DataType::bf16 ? isa.ld_global_b16(at, inside, loc) : isa.ld_global_b32(at, inside, loc);
  }
  return scales;
}

/// BF16 to f32, in place; f32 stays.  Not where they are loaded: it waits for the loads.
template <Isa I, class Config>
SM100_KERNEL void widen_scales(I& isa, const Config& cfg, RowScales& rows, ColumnScales& columns) {
  if (cfg.scale_dtype != DataType::bf16) return;
  const int fragments = has_lower_fragment(cfg) ? 2 : 1;
  isa.for_each_lane((2 * fragments + n_blocks_per_tile(cfg)) * lane_cost::kWidenScale, [&](int lane) {
    for (int fragment = 0; fragment < fragments; ++fragment)
      for (int half = 0; half < 2; ++half) rows.of[fragment][half](lane) <<= 16;
    for (int i = 0; i < n_blocks_per_tile(cfg); ++i) columns.of[i](lane) <<= 16;
  });
}

/// Strips of 8 R columns that a warp may have: its configuration's if that is a type, else 256 columns.
template <class C, int R>
constexpr int most_strips() {
  if constexpr (std::is_empty_v<C>)
    return strips_per_tile(C{});
  else
    return 32 / R;
}

/// Of a warp's part of a tile, in strips of 8 R columns.
template <class Config, int R>
class TileSums {
 public:
  static constexpr int kMostStrips = most_strips<Config, R>();

  /// Calls f(i) for each strip.  `i` is a constant wherever f is inlined: what it selects stays in registers.
  template <class F>
  SM100_KERNEL void for_each(int strips, F&& f) {
    for_each_of(strips, f, std::make_integer_sequence<int, kMostStrips>{});
  }

  template <Isa I>
  SM100_KERNEL void clear(I& isa, const Config& cfg) {
    for_each(strips_per_tile(cfg), [&](int i) {
      strips_[i].walk(has_lower_fragment(cfg), [&](auto& sum, int) {
        isa.for_each_lane(4 * R * lane_cost::kClearSum, [&](int lane) {
          for (int r = 0; r < 4 * R; ++r) sum[lane][r] = 0;
        });
      });
    });
  }

  /// += accumulator * scales.
  /// @param tile_n, warp  the tile's column and the warp's place in its group
  template <Isa I>
  SM100_KERNEL void add(I& isa, const Config& cfg, TmemAddr accumulator, const RowScales& rows,
                        const ColumnScales& columns, int tile_n, int warp) {
    const int first_column = tile_n * cfg.mma_n + warp_part(cfg, warp).half * accumulator_columns(cfg);
    const auto block_of = [&](int i) { return n_block_in_tile(cfg, tile_n, first_column + i * 8 * R); };
    for_each(strips_per_tile(cfg), [&](int i) {
      auto partial =
          load_fragments<R>(isa, accumulator.plus_columns(uint32_t(i * 8 * R)), warp, has_lower_fragment(cfg));
      const bool second = block_of(i) > 0;
      const bool other_block = i == 0 || block_of(i) != block_of(i - 1);
      add_scaled(isa, strips_[i].upper, partial.upper, rows.of[0], columns, second, other_block);
      if (has_lower_fragment(cfg))
        add_scaled(isa, strips_[i].lower, partial.lower, rows.of[1], columns, second, other_block);
    });
  }

  // ---- a source of strips (kernels/epilogue/strip_source.h)

  template <int kColumns>
  SM100_KERNEL const AccumulatorFragments<R>& load(int i, int, bool) const {
    static_assert(kColumns == R);
    return strips_[i];
  }
  /// Accumulators have been released one by one.
  SM100_HD void release() const {}

 private:
  template <class F, int... kIndices>
  SM100_KERNEL void for_each_of(int strips, F& f, std::integer_sequence<int, kIndices...>) {
    ((kIndices < strips ? f(kIndices) : void()), ...);
  }

  /// @param second       the strip's columns are of the tile's second block
  /// @param other_block  than those of the strip before: strips of a block share the products of their scales
  template <Isa I>
  SM100_KERNEL void add_scaled(I& isa, LaneArray<uint32_t, 4 * R>& sum, const LaneArray<uint32_t, 4 * R>& partial,
                               const LaneArray<uint32_t, 1> (&rows)[2], const ColumnScales& columns, bool second,
                               bool other_block) {
    const int products = other_block ? 2 : 0;
    isa.for_each_lane(products * lane_cost::kScaleProduct + 4 * R * lane_cost::kAddScaled, [&](int lane) {
      const float column = as_float(second ? columns.of[1](lane) : columns.of[0](lane));
      const float scale[2] = {as_float(rows[0](lane)) * column, as_float(rows[1](lane)) * column};
      for (int r = 0; r < 4 * R; ++r)
        sum[lane][r] =
            as_bits(isa.fma_rn_f32(as_float(partial[lane][r]), scale[r / 2 % 2], as_float(sum[lane][r])));
    });
  }

  AccumulatorFragments<R> strips_[kMostStrips];
};

}  // namespace sm100
