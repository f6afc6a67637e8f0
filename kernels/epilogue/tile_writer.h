/// Writes one output tile: tensor memory -> registers -> swizzled strip -> TMA store, double buffered.
#pragma once

#include "kernels/epilogue/output_strip.h"
#include "kernels/epilogue/smem_writer.h"
#include "kernels/epilogue/strip_store.h"
#include "kernels/pipeline/output_ring.h"

namespace sm100 {

/// Where a tile goes.
struct OutputTile {
  const TensorMap* map;
  int column, row;       ///< element coordinates of the tile's corner
  SmemAddr buffers;      ///< kOutputBuffers strips
  TmemAddr accumulator;  ///< first column of the accumulator stage
  int stage;             ///< of the output ring
};

/// R: strip columns / 8.
template <int R, Isa I, class Config>
SM100_KERNEL void write_tile_strips(I& isa, const Config& cfg, OutputRing<I>& ring, const OutputTile& tile) {
  constexpr int kColumns = 8 * R;
  const int warp = isa.warpid();
  const bool lower = has_lower_fragment(cfg);
  const int first_row = warp * (lower ? 32 : 16);
  const int strips = strips_per_tile(cfg);

  for (int i = 0; i < strips; ++i) {
    const bool last = i + 1 == strips;
    const int buffer = i % kOutputBuffers;
    const StripBuffer strip{tile.buffers + uint32_t(buffer) * strip_bytes(cfg), strip_row_bytes(cfg),
                            strip_swizzle(cfg)};
    const AccumulatorFragments<R> f =
        load_fragments<R>(isa, tile.accumulator.plus_columns(uint32_t(i * kColumns)), warp, lower);
    // The overlap: the MMA warp may overwrite the accumulator while this strip is still being cast and
    // stored.
    if (last) ring.consumer_release(tile.stage, cfg.cta_group);

    {
      TraceSpan span{isa, TraceEvent::smem_write, {.stage = buffer}};
      if (cfg.output == DataType::f32) {
        write_fragment_f32<R>(isa, strip, first_row, f.upper);
        if (lower) write_fragment_f32<R>(isa, strip, first_row + 16, f.lower);
      } else {
        write_fragment_bf16<R>(isa, strip, first_row, f.upper);
        if (lower) write_fragment_bf16<R>(isa, strip, first_row + 16, f.lower);
      }
      publish_strip(isa);
    }
    if (warp == 0)
      store_strip(isa, tile.map, TensorCoords{tile.column + i * kColumns, tile.row}, strip.base, buffer);
    if (halves_side_by_side(cfg) && warp == 2)
      store_strip(isa, tile.map, TensorCoords{tile.column + cfg.mma_n / 2 + i * kColumns, tile.row},
                  strip.base + strip_bytes(cfg) / 2, buffer);
    wait_for_strip_buffer(isa, i, last);
  }
}

template <Isa I, class Config>
SM100_KERNEL void write_tile(I& isa, const Config& cfg, OutputRing<I>& ring, const OutputTile& tile) {
  switch (strip_columns(cfg)) {  // register blocks have fixed sizes
    case 32: return write_tile_strips<4>(isa, cfg, ring, tile);
    case 16: return write_tile_strips<2>(isa, cfg, ring, tile);
    default: return write_tile_strips<1>(isa, cfg, ring, tile);
  }
}

}  // namespace sm100
