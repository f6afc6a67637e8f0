/// Configurations of the dense matmul that are compiled for the device: those of the sound files in scenarios/.
#pragma once

#include "kernels/matmul/config.h"

namespace sm100::cuda {

inline constexpr MatmulConfig kMatmulConfigurations[] = {
    {.stages = 6},
};
inline constexpr int kMatmulConfigurationCount = int(sizeof kMatmulConfigurations / sizeof *kMatmulConfigurations);

/// A configuration as a type: every expression of it folds.
template <MatmulConfig V>
struct CompiledMatmulConfig {
  static constexpr DataType dtype = V.dtype, output = V.output;
  static constexpr int mma_m = V.mma_m, mma_n = V.mma_n, mma_k = V.mma_k;
  static constexpr int cta_group = V.cta_group, cluster_m = V.cluster_m, cluster_n = V.cluster_n;
  static constexpr int stages = V.stages, k_group_size = V.k_group_size;
  static constexpr int accum_stages = V.accum_stages, clc_stages = V.clc_stages;
  static constexpr Swizzle swizzle = V.swizzle;
  static constexpr RasterOrder raster_order = V.raster_order;
  static constexpr int block_swizzle = V.block_swizzle;
  static constexpr bool mma_prefetch = V.mma_prefetch;
};

}  // namespace sm100::cuda
