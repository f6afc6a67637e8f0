// SPDX-License-Identifier: Apache-2.0
/// The direct configurations that exist as CUDA kernels.
#pragma once

#include <cstddef>
#include <iterator>

#include "kernels/direct/config.h"
#include "kernels/direct/shared_storage.h"

namespace sm100 {

struct NamedDirectConfig {
  const char* name;
  DirectConfig config;
};

/// The rungs of gau-nernst's ladder: scenarios/direct.
inline constexpr NamedDirectConfig kDirectConfigurations[] = {
    {"v1a",
     {.block_n = 256,
      .block_k = 256,
      .stages = 1,
      .cta_group = 1,
      .roles = DirectRoles::one_thread,
      .swizzle = Swizzle::none,
      .tma_rank = 2}},
    {"v1b",
     {.block_n = 256,
      .block_k = 256,
      .stages = 1,
      .cta_group = 1,
      .roles = DirectRoles::one_thread,
      .swizzle = Swizzle::none}},
    {"v2a",
     {.block_n = 256,
      .block_k = 256,
      .stages = 1,
      .cta_group = 1,
      .roles = DirectRoles::one_thread,
      .tma_rank = 2}},
    {"v2b", {.block_n = 256, .block_k = 256, .stages = 1, .cta_group = 1, .roles = DirectRoles::one_thread}},
    {"v3", {.block_n = 256, .block_k = 128, .stages = 2, .cta_group = 1, .roles = DirectRoles::one_thread}},
    {"v4", {.block_n = 128, .block_k = 64, .stages = 7, .cta_group = 1}},
    {"v5", {.block_n = 256, .block_k = 64, .stages = 7, .cta_group = 2}},
    {"v6",
     {.block_n = 256,
      .block_k = 64,
      .stages = 7,
      .cta_group = 2,
      .roles = DirectRoles::persistent,
      .accum_stages = 2}},
    {"v7",
     {.block_n = 256,
      .block_k = 64,
      .stages = 7,
      .cta_group = 2,
      .roles = DirectRoles::persistent,
      .accum_stages = 2,
      .store_bytes = 32}},
};
inline constexpr size_t kDirectConfigurationCount = std::size(kDirectConfigurations);

/// Configuration number `kIndex` as the type that role code takes for `Config`.
template <size_t kIndex>
struct CompiledDirectConfig {
  static constexpr DirectConfig value = kDirectConfigurations[kIndex].config;

  static constexpr int block_n = value.block_n, block_k = value.block_k, stages = value.stages;
  static constexpr int cta_group = value.cta_group;
  static constexpr DirectRoles roles = value.roles;
  static constexpr Swizzle swizzle = value.swizzle;
  static constexpr int tma_rank = value.tma_rank, accum_stages = value.accum_stages;
  static constexpr int store_bytes = value.store_bytes;

  static_assert(storage_bytes<DirectStorage>(value) <= uint32_t(kSmemBudgetBytes),
                "the stages do not fit a CTA's memory");
};

}  // namespace sm100
