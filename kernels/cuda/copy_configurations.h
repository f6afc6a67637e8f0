/// Configurations of pipeline_copy that are compiled for the device: those of scenarios/copy/.
#pragma once

#include "kernels/copy/config.h"

namespace sm100::cuda {

inline constexpr CopyConfig kCopyConfigurations[] = {
    {.stages = 1},
    {.stages = 2},
    {.stages = 3},
    {.stages = 4},
    {.stages = 6},
    {.stages = 8},
    {.stages = 8, .k_group_size = 2},
    {.stages = 8, .k_group_size = 4},
    {.tile_m = 64, .tile_n = 256, .stages = 6, .swizzle = Swizzle::b64},
    {.tile_m = 64, .tile_n = 128, .stages = 4, .swizzle = Swizzle::b32},
    {.cluster = 2, .stages = 4},
    {.cluster = 4, .stages = 2, .raster_order = RasterOrder::along_n},
    {.cluster = 2, .multicast = true, .stages = 1},
    {.cluster = 2, .multicast = true, .stages = 4},
    {.cluster = 4, .multicast = true, .stages = 6},
    {.cluster = 4, .multicast = true, .stages = 4, .k_group_size = 2},
};
inline constexpr int kCopyConfigurationCount = int(sizeof kCopyConfigurations / sizeof *kCopyConfigurations);

/// A configuration as a type: every expression of it folds.
template <CopyConfig V>
struct CompiledCopyConfig {
  static constexpr int tile_m = V.tile_m, tile_n = V.tile_n, cluster = V.cluster;
  static constexpr bool multicast = V.multicast;
  static constexpr int stages = V.stages, k_group_size = V.k_group_size;
  static constexpr Swizzle swizzle = V.swizzle;
  static constexpr RasterOrder raster_order = V.raster_order;
};

}  // namespace sm100::cuda
