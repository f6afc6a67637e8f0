// SPDX-License-Identifier: Apache-2.0
/// Operands and outputs other than BF16.
#pragma once

#include "kernels/matmul/cuda/compiled_config.h"

namespace sm100 {

struct MatmulTypes {
  static constexpr NamedConfig entries[] = {
      // the accumulators before rounding, stored without stmatrix
      {"128x128_s6_f32", {.output = DataType::f32, .mma_m = 128, .mma_n = 128, .stages = 6}},
      {"64x8_s24_f32", {.output = DataType::f32, .mma_m = 64, .mma_n = 8, .stages = 24}},
      {"e4m3_128x128_s6", {.dtype = DataType::e4m3, .mma_m = 128, .mma_n = 128, .mma_k = 32, .stages = 6}},
      {"e5m2_pair_256x128_s6_2x1_e4m3",
       {.dtype = DataType::e5m2,
        .output = DataType::e4m3,
        .mma_m = 256,
        .mma_n = 128,
        .mma_k = 32,
        .cta_group = 2,
        .cluster_m = 2,
        .stages = 6}},
      {"f16_128x128_s6_f16",
       {.dtype = DataType::f16, .output = DataType::f16, .mma_m = 128, .mma_n = 128, .stages = 6}},
      {"tf32_128x128_s6_f32",
       {.dtype = DataType::tf32, .output = DataType::f32, .mma_m = 128, .mma_n = 128, .mma_k = 8, .stages = 6}},
  };
};

}  // namespace sm100
