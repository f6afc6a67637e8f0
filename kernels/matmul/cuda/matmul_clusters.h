// SPDX-License-Identifier: Apache-2.0
/// Clusters with multicast, and CTA pairs.
#pragma once

#include "kernels/matmul/cuda/compiled_config.h"

namespace sm100 {

struct MatmulClusters {
  static constexpr NamedConfig entries[] = {
      // smoke tests 2, 3, 5 and 9, and 6 without its split, of the family
      {"128x64_s8_4x4",
       {.mma_m = 128, .mma_n = 64, .cluster_m = 4, .cluster_n = 4, .stages = 8, .block_swizzle = 4}},
      {"pair_256x128_s8_4x4",
       {.mma_m = 256,
        .mma_n = 128,
        .cta_group = 2,
        .cluster_m = 4,
        .cluster_n = 4,
        .stages = 8,
        .block_swizzle = 4}},
      {"64x32_s18_4x2_k2",
       {.mma_m = 64, .mma_n = 32, .cluster_m = 4, .cluster_n = 2, .stages = 18, .k_group_size = 2}},
      {"pair_128x64_s17_4x4",
       {.mma_m = 128, .mma_n = 64, .cta_group = 2, .cluster_m = 4, .cluster_n = 4, .stages = 17}},
      {"64x32_s18_8x2",
       {.mma_m = 64, .mma_n = 32, .cluster_m = 8, .cluster_n = 2, .stages = 18, .block_swizzle = 2}},
      // the headline: pairs, the largest tile
      {"pair_256x256_s4_2x1", {.mma_m = 256, .mma_n = 256, .cta_group = 2, .cluster_m = 2, .stages = 4}},
  };
};

}  // namespace sm100
