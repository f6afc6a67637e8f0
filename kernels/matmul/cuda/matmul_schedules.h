// SPDX-License-Identifier: Apache-2.0
/// Who computes which tile when: without cluster launch control, other orders, dependent launch.
#pragma once

#include "kernels/matmul/cuda/compiled_config.h"

namespace sm100 {

struct MatmulSchedules {
  static constexpr NamedConfig entries[] = {
      // no cluster launch control: the hardware launches every tile
      {"128x128_s6_noclc", {.mma_m = 128, .mma_n = 128, .stages = 6, .clc_stages = 0}},
      // persistent, tiles handed out by counting
      {"128x128_s6_static", {.mma_m = 128, .mma_n = 128, .stages = 6, .clc_stages = 0, .static_scheduler = true}},
      // the other raster order, tiles in blocks of four, a narrower k tile, no prefetch of the next tile
      {"128x128_s12_b64_n_w4",
       {.mma_m = 128,
        .mma_n = 128,
        .stages = 12,
        .swizzle = Swizzle::b64,
        .raster_order = RasterOrder::along_n,
        .block_swizzle = 4,
        .mma_prefetch = false}},
      // programmatic dependent launch
      {"128x128_s6_pdl", {.mma_m = 128, .mma_n = 128, .stages = 6, .pdl = true}},
  };
};

}  // namespace sm100
