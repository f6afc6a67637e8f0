// SPDX-License-Identifier: Apache-2.0
/// Tile shapes: one CTA, BF16.
#pragma once

#include "kernels/matmul/cuda/compiled_config.h"

namespace sm100 {

struct MatmulTiles {
  static constexpr NamedConfig entries[] = {
      // scenarios: dense_small, more_tiles_than_sms, single_k_step
      {"128x128_s6", {.mma_m = 128, .mma_n = 128, .stages = 6}},
      // scenarios/bugs: the sound twins
      {"128x128_s4", {.mma_m = 128, .mma_n = 128, .stages = 4}},
      // one_stage
      {"128x128_s1_a1", {.mma_m = 128, .mma_n = 128, .stages = 1, .accum_stages = 1}},
      // ragged, stages_exceed_k
      {"128x64_s8", {.mma_m = 128, .mma_n = 64, .stages = 8}},
      // m64
      {"64x256_s5", {.mma_m = 64, .mma_n = 256, .stages = 5}},
      // deep_ring
      {"64x32_s18", {.mma_m = 64, .mma_n = 32, .stages = 18}},
      // small_n
      {"64x8_s24", {.mma_m = 64, .mma_n = 8, .stages = 24}},
      // 16-column strips
      {"128x48_s9", {.mma_m = 128, .mma_n = 48, .stages = 9}},
  };
};

}  // namespace sm100
