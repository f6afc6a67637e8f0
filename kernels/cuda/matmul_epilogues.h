/// Epilogues that transpose or compute.
#pragma once

#include "kernels/cuda/compiled_config.h"

namespace sm100 {

struct MatmulEpilogues {
  static constexpr NamedConfig entries[] = {
      // smoke tests 4 and 10: swapped operands, transposed output
      {"swapped_128x64_s8_4x4",
       {.mma_m = 128, .mma_n = 64, .cluster_m = 4, .cluster_n = 4, .stages = 8, .ab_swapped = true}},
      {"swapped_pair_256x128_s8_4x4",
       {.mma_m = 256,
        .mma_n = 128,
        .cta_group = 2,
        .cluster_m = 4,
        .cluster_n = 4,
        .stages = 8,
        .ab_swapped = true}},
      {"swapped_128x128_s6_f32",
       {.output = DataType::f32, .mma_m = 128, .mma_n = 128, .stages = 6, .ab_swapped = true}},
      {"128x128_s6_bias_silu",
       {.mma_m = 128, .mma_n = 128, .stages = 6, .scaled = true, .bias = true, .activation = Activation::silu}},
      {"128x128_s6_residual_relu",
       {.mma_m = 128, .mma_n = 128, .stages = 6, .residual = true, .activation = Activation::relu}},
  };
};

}  // namespace sm100
