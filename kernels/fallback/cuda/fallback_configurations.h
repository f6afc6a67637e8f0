// SPDX-License-Identifier: Apache-2.0
/// The fallback configurations that exist as CUDA kernels.
#pragma once

#include <cstddef>
#include <iterator>

#include "kernels/fallback/config.h"
#include "kernels/fallback/shared_storage.h"

namespace sm100 {

struct NamedFallbackConfig {
  const char* name;
  FallbackConfig config;
};

inline constexpr NamedFallbackConfig kFallbackConfigurations[] = {
    // scenarios/fallback
    {"128x64", {.block_m = 128, .block_n = 64}},
    // the accumulators before rounding, 8-column loads
    {"64x24_f32", {.output = DataType::f32, .block_m = 64, .block_n = 24}},
};
inline constexpr size_t kFallbackConfigurationCount = std::size(kFallbackConfigurations);

/// Configuration number `kIndex` as the type that role code takes for `Config`.
template <size_t kIndex>
struct CompiledFallbackConfig {
  static constexpr FallbackConfig value = kFallbackConfigurations[kIndex].config;

  static constexpr DataType output = value.output;
  static constexpr int block_m = value.block_m, block_n = value.block_n;
  static constexpr Swizzle swizzle = value.swizzle;

  static_assert(storage_bytes<FallbackStorage>(value) <= uint32_t(kSmemBudgetBytes),
                "the tiles do not fit a CTA's memory");
};

}  // namespace sm100
