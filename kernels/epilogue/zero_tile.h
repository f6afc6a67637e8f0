// SPDX-License-Identifier: Apache-2.0
/// Writes an output tile of zeros: a product over no k at all.  No accumulator takes part: tensor memory holds what
/// an earlier tile has left there.
#pragma once

#include "kernels/epilogue/tile_writer.h"

namespace sm100 {

/// R: strip columns / 8.
template <int R, Isa I, class Config, class Map>
SM100_KERNEL void write_zero_strips(I& isa, const Config& cfg, const WarpGroup& group,
                                    const OutputTile<Map>& tile) {
  const int warp = group.index(isa);
  const WarpPart part = warp_part(cfg, warp);
  const int strips = strips_per_tile(cfg);
  AccumulatorFragments<R> zeros;
  isa.for_each_lane(4 * R, [&](int lane) {
    for (int i = 0; i < 4 * R; ++i) zeros.upper[lane][i] = zeros.lower[lane][i] = 0;
  });
  for (int i = 0; i < strips; ++i) {
    const int buffer = i % kOutputBuffers;
    const StripBuffer<Config> strip{cfg, tile.buffers + uint32_t(buffer) * strip_bytes(cfg)};
    {
      TraceSpan span{isa, TraceEvent::smem_write, {.stage = buffer}};
      zeros.walk(has_lower_fragment(cfg), [&](const auto& registers, int row) {
        write_fragment<R>(isa, cfg, strip, part.strip_row + row, registers);
      });
      publish_strip(isa, group);
    }
    if (warp == 0) store_tile_strip(isa, cfg, tile, strip.base, i, 0, buffer);
    wait_for_strip_buffer(isa, group, i, i + 1 == strips);
  }
}

/// All four warps of the group; not for accumulators whose halves lie side by side (M = 128 of a pair).
template <Isa I, class Config, class Map>
SM100_KERNEL void write_zero_tile(I& isa, const Config& cfg, const WarpGroup& group, const OutputTile<Map>& tile) {
  with_strip_registers(cfg, [&](auto r) { write_zero_strips<r()>(isa, cfg, group, tile); });
}

}  // namespace sm100
