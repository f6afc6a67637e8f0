// SPDX-License-Identifier: Apache-2.0
/// Writes one output tile: tensor memory -> registers -> swizzled strip -> TMA store, double buffered.
#pragma once

#include "kernels/epilogue/fragment_functor.h"
#include "kernels/epilogue/output_strip.h"
#include "kernels/epilogue/smem_writer.h"
#include "kernels/epilogue/strip_functor.h"
#include "kernels/epilogue/strip_source.h"
#include "kernels/epilogue/strip_store.h"
#include "kernels/pipeline/output_ring.h"

namespace sm100 {

template <class Map = const TensorMap*>  // or GlobalAddr: where the output's map lies
struct OutputTile {                      ///< where a tile goes
  Map map;
  const FunctorParams* functor;
  int column, row;          ///< element coordinates of the tile's corner
  SmemAddr buffers;         ///< kOutputBuffers strips
  AccumulatorStage result;  ///< the stage of the output ring that has the tile
};

/// One lane stores a warp's part of strip i: of straight strips one box, of transposed ones a box for each block.
/// @param half  layout B: 0 the left half of the columns, 1 the right; else 0
template <Isa I, class Config, class Map>
SM100_KERNEL void store_tile_strip(I& isa, const Config& cfg, const OutputTile<Map>& tile, SmemAddr strip, int i,
                                   int half, int buffer, Loc loc = Loc::current()) {
  const int column = tile.column + half * accumulator_columns(cfg) + i * strip_columns(cfg);
  const SmemAddr part = strip + uint32_t(half) * (strip_bytes(cfg) / 2);
  if (!cfg.ab_swapped) return store_strip(isa, tile.map, TensorCoords{column, tile.row}, part, buffer, loc);
  TraceSpan span{isa, TraceEvent::store_issue, {.stage = buffer}};
  isa.elected([&] {
    for (int block = 0; block < store_rows(cfg) / block_columns(cfg); ++block)
      isa.cp_async_bulk_tensor_global_shared(tile.map, TensorCoords{tile.row + block * block_columns(cfg), column},
                                             part + uint32_t(block * strip_columns(cfg) * 128), loc);
    isa.cp_async_bulk_commit_group();
  });
}

/// R: strip columns / 8.
template <int R, Isa I, class Config, class Source, class Map>
SM100_KERNEL void write_tile_strips(I& isa, const Config& cfg, const WarpGroup& group, Source&& source,
                                    const OutputTile<Map>& tile) {
  const int warp = group.index(isa);
  const WarpPart part = warp_part(cfg, warp);
  const int strips = strips_per_tile(cfg);
  source.for_each(strips, [&](int place) {
    const bool last = place + 1 == strips;
    const int i = strip_at(source, place), buffer = place % kOutputBuffers;
    const StripBuffer<Config> strip{cfg, tile.buffers + uint32_t(buffer) * strip_bytes(cfg)};
    AccumulatorFragments<R> f = source.template load<R>(i, warp, has_lower_fragment(cfg));
    // The overlap: all strips of an accumulator have been loaded, so the MMA warp may overwrite it
    // while this strip is still being cast and
    // stored.
    if (last) source.release();
    const int column = tile.column + i * strip_columns(cfg);
    if (has_functor(cfg) && cfg.register_epilogue)
      apply_functor(isa, cfg, *tile.functor, tile.row + part.row, column + part.half * accumulator_columns(cfg), f);

    {
      TraceSpan span{isa, TraceEvent::smem_write, {.stage = buffer}};
      f.walk(has_lower_fragment(cfg), [&](const auto& registers, int row) {
        write_fragment<R>(isa, cfg, strip, part.strip_row + row, registers);
      });
      if (has_functor(cfg) && !cfg.register_epilogue)
        apply_functor(isa, cfg, group, *tile.functor, tile.row, column, strip);
      publish_strip(isa, group);
    }
    if (warp == 0) store_tile_strip(isa, cfg, tile, strip.base, i, 0, buffer);
    if (halves_side_by_side(cfg) && warp == 2) store_tile_strip(isa, cfg, tile, strip.base, i, 1, buffer);
    wait_for_strip_buffer(isa, group, place, last);
  });
}

/// All four warps of the group.
template <Isa I, class Config, class Map>
SM100_KERNEL void write_tile(I& isa, const Config& cfg, const WarpGroup& group, OutputRing<I>& ring,
                             const OutputTile<Map>& tile) {
  AccumulatorStrips<I> strips{isa, ring, tile.result};
  with_strip_registers(cfg, [&](auto r) { write_tile_strips<r()>(isa, cfg, group, strips, tile); });
}

}  // namespace sm100
