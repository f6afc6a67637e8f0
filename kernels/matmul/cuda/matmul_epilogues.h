// SPDX-License-Identifier: Apache-2.0
/// Epilogues that transpose or compute.
#pragma once

#include "kernels/matmul/cuda/compiled_config.h"

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
      {"128x128_s6_silu_all_terms",
       {.mma_m = 128,
        .mma_n = 128,
        .stages = 6,
        .scaled = true,
        .bias = true,
        .residual = true,
        .activation = Activation::silu}},
      {"128x128_s6_e4m3_residual",
       {.output = DataType::e4m3, .mma_m = 128, .mma_n = 128, .stages = 6, .residual = true}},
      {"swapped_128x128_s6_residual",
       {.mma_m = 128, .mma_n = 128, .stages = 6, .residual = true, .ab_swapped = true}},
      // the functor on the strip in shared memory
      {"128x128_s6_silu_all_terms_smem",
       {.mma_m = 128,
        .mma_n = 128,
        .stages = 6,
        .scaled = true,
        .bias = true,
        .residual = true,
        .activation = Activation::silu,
        .register_epilogue = false}},
      {"swapped_128x128_s6_bias_residual_smem",
       {.mma_m = 128,
        .mma_n = 128,
        .stages = 6,
        .bias = true,
        .residual = true,
        .register_epilogue = false,
        .ab_swapped = true}},
      {"pair_128x128_s6_f32_bias_residual_smem",
       {.output = DataType::f32,
        .mma_m = 128,
        .mma_n = 128,
        .cta_group = 2,
        .cluster_m = 2,
        .stages = 6,
        .bias = true,
        .residual = true,
        .register_epilogue = false}},
  };
};

}  // namespace sm100
