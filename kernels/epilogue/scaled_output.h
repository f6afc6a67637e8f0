// SPDX-License-Identifier: Apache-2.0
/// Writes one output tile in FP4 or FP8 with generated scales: tensor memory -> registers -> quantised strip in
/// shared memory -> TMA store; the scales (SFD) go to global memory with ordinary stores.
///
/// Tensor loads of shape 32x32b give each lane 32 columns of one row.  So a block along a row is in the registers
/// of one lane; a block along a column is in the same register of 16 or 32 lanes, which find its amax by shuffles
/// or by a reduction over the warp.
///
/// Scales are neighbours in memory in fours (an atom's row).  Along rows a lane gathers those of its row until four
/// are full or the tile ends, and stores them as one word; along columns a warp has one or two of each column, and
/// lane i stores column i's.  A store is left out when its first scale is outside the scale tensor; one that begins
/// inside may reach into the padding of its four, where the scales of nothing are zeros.
///
/// Nobody waits for the scales, and no barrier lies between them and the tile: both are visible when the kernel
/// ends.
#pragma once

#include "kernels/epilogue/block_quantizer.h"
#include "kernels/epilogue/element_functor.h"
#include "kernels/epilogue/lane_costs.h"
#include "kernels/epilogue/output_strip.h"
#include "kernels/epilogue/strip_store.h"
#include "kernels/epilogue/tile_writer.h"
#include "kernels/isa/arithmetic.h"
#include "kernels/pipeline/output_ring.h"

namespace sm100 {

inline constexpr int kMostBlocksOfStrip = kScaledStripColumns / 16;

using StripRow = LaneArray<uint32_t, kScaledStripColumns>;  ///< a lane's row of a strip, f32

/// Scales that a lane has and has not stored yet.
struct GatheredScales {
  LaneArray<uint32_t, 1> word;
  int first = 0, count = 0;  ///< of the row's scales

  /// Four are full.
  SM100_HD bool complete() const { return (first + count) % kScaleAtomScales == 0; }
};

/// Loads and waits.
template <Isa I>
SM100_KERNEL StripRow load_strip_row(I& isa, TmemAddr strip, int warp, Loc loc = Loc::current()) {
  TraceSpan span{isa, TraceEvent::tmem_load};
  StripRow x = isa.template tcgen05_ld_32x32b<kScaledStripColumns>(strip.plus_lanes(32u * uint32_t(warp)), loc);
  isa.tcgen05_wait_ld(x, loc);
  return x;
}

/// The functor without terms that are loaded.
template <Isa I, class Config>
SM100_KERNEL void apply_functor(I& isa, const Config& cfg, const FunctorParams& params, StripRow& x) {
  isa.for_each_lane(kScaledStripColumns * functor_instructions(cfg), [&](int lane) {
    for (int i = 0; i < kScaledStripColumns; ++i)
      x[lane][i] = as_bits(functor_of(
          isa, cfg, params, as_float(x[lane][i]), [] { return 0.f; }, [] { return 0.f; }));
  });
}

/// The largest magnitudes of a lane's blocks.
using BlockMaxima = LaneArray<float, kMostBlocksOfStrip>;
template <Isa I, class Config>
SM100_KERNEL BlockMaxima maxima_of_rows(I& isa, const Config& cfg, const StripRow& x) {
  BlockMaxima amax;
  isa.for_each_lane(kScaledStripColumns * lane_cost::kLargerMagnitude, [&](int lane) {
    for (int b = 0; b < kMostBlocksOfStrip; ++b) amax[lane][b] = 0;
    for (int i = 0; i < kScaledStripColumns; ++i) {
      float& of_block = amax[lane][i / elements_per_scale(cfg)];
      of_block = larger_magnitude(isa, of_block, x[lane][i]);
    }
  });
  return amax;
}

/// Of each column, over the 16 or 32 rows of the lane's block.
template <Isa I, class Config>
SM100_KERNEL StripRow maxima_of_columns(I& isa, const Config& cfg, const StripRow& x, Loc loc = Loc::current()) {
  StripRow amax;
  for (int i = 0; i < kScaledStripColumns; ++i) {
    LaneArray<uint32_t, 1> largest;
    isa.for_each_lane(1, [&](int lane) { largest(lane) = x[lane][i] & 0x7fffffffu; });
    if (elements_per_scale(cfg) == kWarpLanes) {
      largest = isa.redux_sync_max_abs_nan_f32(largest, loc);
    } else {
      for (int apart = elements_per_scale(cfg) / 2; apart > 0; apart /= 2) {
        const LaneArray<uint32_t, 1> other = isa.shfl_sync_bfly_b32(largest, apart, loc);
        isa.for_each_lane(lane_cost::kLargerMagnitude, [&](int lane) {
          largest(lane) = as_bits(larger_magnitude(isa, as_float(largest(lane)), other(lane)));
        });
      }
    }
    isa.for_each_lane(0, [&](int lane) { amax[lane][i] = largest(lane); });
  }
  return amax;
}

/// The first `count` scales of each lane, where its predicate holds: 1, 2 or 4, which begin at a multiple of their
/// number.
template <Isa I>
SM100_KERNEL void store_scales(I& isa, const LaneArray<GlobalAddr, 1>& at, const LaneArray<uint32_t, 1>& word,
                               const LaneArray<bool, 1>& inside, int count, Loc loc) {
  if (count == 4)
    isa.st_global_b32(at, word, inside, loc);
  else if (count == 2)
    isa.st_global_b16(at, word, inside, loc);
  else
    isa.st_global_b8(at, word, inside, loc);
}

/// @param row, scale  of the scale tensor: of lane 0, and what a lane adds
template <Isa I>
SM100_KERNEL void store_scales(I& isa, const ScaledOutputParams& params, int row, int scale, int count,
                               const LaneArray<uint32_t, 1>& word, Loc loc = Loc::current()) {
  LaneArray<GlobalAddr, 1> at;
  LaneArray<bool, 1> inside;
  isa.for_each_lane_address(lane_cost::kScaleAddress, [&](int lane) {
    at(lane) = params.scales + scale_offset(row + lane, scale, ceil_div(params.blocks, kScaleAtomScales));
    inside(lane) = row + lane < params.rows && scale < params.blocks;
  });
  store_scales(isa, at, word, inside, count, loc);
}

/// Blocks along rows: x becomes y; the scales are gathered.
template <Isa I, class Config>
SM100_KERNEL void quantise_rows(I& isa, const Config& cfg, const ScaledOutputParams& params,
                                const BlockMaxima& amax, StripRow& x, GatheredScales& gathered) {
  const int blocks = kScaledStripColumns / elements_per_scale(cfg), count = gathered.count;
  isa.for_each_lane(blocks * lane_cost::kBlockScale + kScaledStripColumns, [&](int lane) {
    if (count == 0) gathered.word(lane) = 0;
    for (int b = 0; b < kMostBlocksOfStrip; ++b) {
      if (b >= blocks) continue;
      const BlockScale scale = scale_of_block(isa, cfg.scaled_output, params, amax[lane][b]);
      gathered.word(lane) |= scale.code << 8 * (count + b);
      for (int i = 0; i < kScaledStripColumns; ++i)
        if (i / elements_per_scale(cfg) == b) x[lane][i] = as_bits(as_float(x[lane][i]) * scale.factor);
    }
  });
  gathered.count += blocks;
}

/// Blocks along columns: x becomes y.
/// @return  lane i: the scales of column i, one for each block of the warp's 32 rows
template <Isa I, class Config>
SM100_KERNEL LaneArray<uint32_t, 1> quantise_columns(I& isa, const Config& cfg, const ScaledOutputParams& params,
                                                     const StripRow& amax, StripRow& x, Loc loc = Loc::current()) {
  // With two blocks of 16 rows, lanes i and i ^ 16 have the scales of columns i and i ^ 16 in different blocks.
  constexpr int kHalf = kWarpLanes / 2;
  LaneArray<uint32_t, 1> own, others;
  isa.for_each_lane(kScaledStripColumns * (lane_cost::kBlockScale + lane_cost::kSelectScale + 1), [&](int lane) {
    own(lane) = others(lane) = 0;
    for (int i = 0; i < kScaledStripColumns; ++i) {
      const BlockScale scale = scale_of_block(isa, cfg.scaled_output, params, as_float(amax[lane][i]));
      if (i == lane) own(lane) = scale.code;
      if (i == (lane ^ kHalf)) others(lane) = scale.code;
      x[lane][i] = as_bits(as_float(x[lane][i]) * scale.factor);
    }
  });
  if (elements_per_scale(cfg) == kWarpLanes) return own;
  others = isa.shfl_sync_bfly_b32(others, kHalf, loc);
  isa.for_each_lane(2, [&](int lane) {
    own(lane) = lane < kHalf ? own(lane) | others(lane) << 8 : others(lane) | own(lane) << 8;
  });
  return own;
}

/// A lane's row of the strip: 16 bytes of e2m1, or 32 of e4m3.
template <Isa I, class Config>
SM100_KERNEL void write_strip_row(I& isa, const Config& cfg, SmemAddr strip, int first_row, const StripRow& y,
                                  Loc loc = Loc::current()) {
  const int per_word = 32 / output_bits(cfg);
  for (int first = 0; first < kScaledStripColumns; first += 4 * per_word) {
    LaneArray<SmemAddr, 1> at;
    LaneArray<uint32_t, 4> words;
    isa.for_each_lane(output_bits(cfg) == 4 ? lane_cost::kPackedRow : lane_cost::kPackedRowFp8, [&](int lane) {
      const uint32_t offset = uint32_t(first_row + lane) * strip_row_bytes(cfg) + uint32_t(first / per_word) * 4;
      at(lane) = {swizzle_address(strip_swizzle(cfg), strip.value + offset)};
      for (int w = 0; w < 4; ++w) words[lane][w] = packed_word(isa, cfg.output, &y[lane][first + w * per_word]);
    });
    isa.st_shared_v4(at, words, loc);
  }
}

/// All four warps of the group.
template <Isa I, class Config>
SM100_KERNEL void write_scaled_tile(I& isa, const Config& cfg, const WarpGroup& group, OutputRing<I>& ring,
                                    const ScaledOutputParams& params, const OutputTile<>& tile) {
  const OutputScaling how = cfg.scaled_output;
  const int block = elements_per_scale(cfg);
  const bool along_rows = how.direction == ScaleDirection::rows;
  const int warp = group.index(isa), strips = strips_per_tile(cfg);
  const int row = tile.row + warp * kWarpLanes;  // of C: lane 0's
  GatheredScales gathered;
  gathered.first = tile.column / block;

  for (int i = 0; i < strips; ++i) {
    const bool last = i + 1 == strips;
    const int buffer = i % kOutputBuffers, column = tile.column + i * kScaledStripColumns;
    const SmemAddr strip = tile.buffers + uint32_t(buffer) * strip_bytes(cfg);
    StripRow x = load_strip_row(isa, tile.result.accumulator.plus_columns(uint32_t(i * kScaledStripColumns)), warp);
    if (last) ring.consumer_release(tile.result);

    BlockMaxima row_maxima;
    StripRow column_maxima;
    const auto find_maxima = [&] {
      if (along_rows)
        row_maxima = maxima_of_rows(isa, cfg, x);
      else
        column_maxima = maxima_of_columns(isa, cfg, x);
    };
    if (!how.amax_of_results) find_maxima();
    if (has_functor(cfg)) apply_functor(isa, cfg, *tile.functor, x);
    if (how.amax_of_results) find_maxima();
    if (along_rows) {
      quantise_rows(isa, cfg, params, row_maxima, x, gathered);
      if (gathered.complete() || last) {
        store_scales(isa, params, row, gathered.first, gathered.count, gathered.word);
        gathered.first += gathered.count, gathered.count = 0;
      }
    } else {
      const LaneArray<uint32_t, 1> scales = quantise_columns(isa, cfg, params, column_maxima, x);
      store_scales(isa, params, column, row / block, kWarpLanes / block, scales);
    }
    {
      TraceSpan span{isa, TraceEvent::smem_write, {.stage = buffer}};
      write_strip_row(isa, cfg, strip, warp * kWarpLanes, x);
      publish_strip(isa, group);
    }
    if (warp == 0) store_strip(isa, tile.map, TensorCoords{column * output_bits(cfg) / 8, tile.row}, strip, buffer);
    wait_for_strip_buffer(isa, group, i, last);
  }
}

}  // namespace sm100
