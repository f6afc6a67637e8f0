// SPDX-License-Identifier: Apache-2.0
/// The pipeline_copy configurations that exist as CUDA kernels: those of scenarios/copy/.
#pragma once

#include <cstddef>
#include <iterator>

#include "kernels/copy/config.h"
#include "kernels/copy/shared_storage.h"

namespace sm100 {

struct NamedCopyConfig {
  const char* name;
  CopyConfig config;
};

inline constexpr NamedCopyConfig kCopyConfigurations[] = {
    {"s1", {.stages = 1}},
    {"s2", {.stages = 2}},
    {"s3", {.stages = 3}},
    {"s4", {.stages = 4}},
    {"s6", {.stages = 6}},
    {"s8", {.stages = 8}},
    {"s8_k2", {.stages = 8, .k_group_size = 2}},
    {"s8_k4", {.stages = 8, .k_group_size = 4}},
    {"64x256_b64_s6", {.tile_m = 64, .tile_n = 256, .stages = 6, .swizzle = Swizzle::b64}},
    {"64x128_b32_s4", {.tile_m = 64, .tile_n = 128, .stages = 4, .swizzle = Swizzle::b32}},
    {"cluster2_s4", {.cluster = 2, .stages = 4}},
    {"cluster4_s2_n", {.cluster = 4, .stages = 2, .raster_order = RasterOrder::along_n}},
    {"multicast2_s1", {.cluster = 2, .multicast = true, .stages = 1}},
    {"multicast2_s4", {.cluster = 2, .multicast = true, .stages = 4}},
    {"multicast4_s6", {.cluster = 4, .multicast = true, .stages = 6}},
    {"multicast4_s4_k2", {.cluster = 4, .multicast = true, .stages = 4, .k_group_size = 2}},
    {"s4_pdl", {.stages = 4, .pdl = true}},
};
inline constexpr size_t kCopyConfigurationCount = std::size(kCopyConfigurations);

/// Configuration number `kIndex` as the type that role code takes for `Config`.
template <size_t kIndex>
struct CompiledCopyConfig {
  static constexpr CopyConfig value = kCopyConfigurations[kIndex].config;

  static constexpr int tile_m = value.tile_m, tile_n = value.tile_n;
  static constexpr int cluster = value.cluster;
  static constexpr bool multicast = value.multicast;
  static constexpr int stages = value.stages;
  static constexpr int k_group_size = value.k_group_size;
  static constexpr Swizzle swizzle = value.swizzle;
  static constexpr RasterOrder raster_order = value.raster_order;
  static constexpr bool pdl = value.pdl;

  static_assert(stages >= 1, "a compiled configuration names its stages: nothing resolves `auto` here");
  static_assert(storage_bytes<CopyStorage>(value) <= uint32_t(kSmemBudgetBytes),
                "the stages do not fit a CTA's memory");
};

}  // namespace sm100
