// SPDX-License-Identifier: Apache-2.0
/// Split-K: partial sums through a workspace and locks in global memory.
#pragma once

#include "kernels/matmul/cuda/compiled_config.h"

namespace sm100 {

struct MatmulSplits {
  static constexpr NamedConfig entries[] = {
      // smoke test 6: accumulators with the halves of the columns side by side
      {"split2_pair_128x64_s17_4x4",
       {.mma_m = 128, .mma_n = 64, .cta_group = 2, .cluster_m = 4, .cluster_n = 4, .stages = 17, .num_split_k = 2}},
      {"split3_pair_256x128_s8_4x4",
       {.mma_m = 256,
        .mma_n = 128,
        .cta_group = 2,
        .cluster_m = 4,
        .cluster_n = 4,
        .stages = 8,
        .num_split_k = 3,
        .block_swizzle = 4}},
      {"split7_swapped_pair_256x128_s8_4x4",
       {.mma_m = 256,
        .mma_n = 128,
        .cta_group = 2,
        .cluster_m = 4,
        .cluster_n = 4,
        .stages = 8,
        .num_split_k = 7,
        .ab_swapped = true}},
      {"split4_128x128_s6", {.mma_m = 128, .mma_n = 128, .stages = 6, .num_split_k = 4}},
  };
};

}  // namespace sm100
