// SPDX-License-Identifier: Apache-2.0
/// The configurations of the kernel that holds SMs that exist as CUDA kernels.
#pragma once

#include <cstddef>
#include <iterator>

#include "kernels/hold/config.h"

namespace sm100 {

struct NamedHoldConfig {
  const char* name;
  HoldConfig config;
};

inline constexpr NamedHoldConfig kHoldConfigurations[] = {
    {"b200", {.smem_bytes = 232448}},
    {"small", {}},
};
inline constexpr size_t kHoldConfigurationCount = std::size(kHoldConfigurations);

/// Configuration number `kIndex` as the type that role code takes for `Config`.
template <size_t kIndex>
struct CompiledHoldConfig {
  static constexpr HoldConfig value = kHoldConfigurations[kIndex].config;

  static constexpr uint32_t smem_bytes = value.smem_bytes;
};

}  // namespace sm100
