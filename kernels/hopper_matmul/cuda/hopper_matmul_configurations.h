// SPDX-License-Identifier: Apache-2.0
/// The hopper_matmul configurations that exist as CUDA kernels.
#pragma once

#include <cstddef>
#include <iterator>

#include "kernels/hopper_matmul/config.h"
#include "kernels/hopper_matmul/shared_storage.h"

namespace sm100 {

struct NamedHopperMatmulConfig {
  const char* name;
  HopperMatmulConfig config;
};

inline constexpr NamedHopperMatmulConfig kHopperMatmulConfigurations[] = {
    // scenarios/hopper
    {"128x128_s4", {.block_n = 128, .stages = 4, .mma_n = 128}},
    {"128x256_s4_c2", {.block_n = 256, .cluster = 2, .stages = 4, .mma_n = 256}},
    {"pingpong_64x128_s6", {.schedule = HopperSchedule::pingpong, .block_n = 128, .stages = 6, .mma_n = 128}},
    {"pingpong_64x256_s4_c2",
     {.schedule = HopperSchedule::pingpong, .block_n = 256, .cluster = 2, .stages = 4, .mma_n = 256}},
    {"e4m3_128x128_s4", {.dtype = DataType::e4m3, .block_n = 128, .stages = 4, .mma_n = 128}},
    {"e4m3_pingpong_64x128_s6_c2",
     {.dtype = DataType::e4m3,
      .schedule = HopperSchedule::pingpong,
      .block_n = 128,
      .cluster = 2,
      .stages = 6,
      .mma_n = 128}},
    {"f32_128x32_s9", {.output = DataType::f32, .block_n = 32, .stages = 9, .mma_n = 32}},
    {"pingpong_64x64_s13_c4",
     {.schedule = HopperSchedule::pingpong, .block_n = 64, .cluster = 4, .stages = 13, .mma_n = 64}},
    // Larger and smaller tiles, with and without a cluster: what an H200 is compared with
    {"128x256_s4", {.block_n = 256, .stages = 4, .mma_n = 256}},
    {"128x128_s4_c2", {.block_n = 128, .cluster = 2, .stages = 4, .mma_n = 128}},
    {"pingpong_64x256_s4", {.schedule = HopperSchedule::pingpong, .block_n = 256, .stages = 4, .mma_n = 256}},
    {"e4m3_128x256_s4_c2", {.dtype = DataType::e4m3, .block_n = 256, .cluster = 2, .stages = 4, .mma_n = 256}},
};
inline constexpr size_t kHopperMatmulConfigurationCount = std::size(kHopperMatmulConfigurations);

/// Configuration number `kIndex` as the type that role code takes for `Config`.
template <size_t kIndex>
struct CompiledHopperMatmulConfig {
  static constexpr HopperMatmulConfig value = kHopperMatmulConfigurations[kIndex].config;

  static constexpr DataType dtype = value.dtype, output = value.output;
  static constexpr HopperSchedule schedule = value.schedule;
  static constexpr int block_n = value.block_n, mma_n = value.mma_n;
  static constexpr int cluster = value.cluster, stages = value.stages;
  static constexpr RasterOrder raster_order = value.raster_order;
  static constexpr int mma_m = value.mma_m, cta_group = value.cta_group;
  static constexpr bool ab_swapped = value.ab_swapped;

  static_assert(stages >= 2 && mma_n == block_n, "a compiled configuration says all: nothing resolves `auto` here");
  static_assert(storage_bytes<HopperStorage>(value) <= uint32_t(kSmemBudgetBytes),
                "the stages do not fit a CTA's memory");
};

}  // namespace sm100
