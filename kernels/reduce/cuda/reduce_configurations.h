// SPDX-License-Identifier: Apache-2.0
/// The reduction configurations that exist as CUDA kernels.
#pragma once

#include <cstddef>
#include <iterator>

#include "kernels/reduce/config.h"

namespace sm100 {

struct NamedReduceConfig {
  const char* name;
  ReduceConfig config;
};

inline constexpr NamedReduceConfig kReduceConfigurations[] = {
    {"2_bf16", {}},
    {"2_bf16_pdl", {.pdl = true}},
    {"4_f32", {.slices = 4, .output = DataType::f32}},
};
inline constexpr size_t kReduceConfigurationCount = std::size(kReduceConfigurations);

/// Configuration number `kIndex` as the type that role code takes for `Config`.
template <size_t kIndex>
struct CompiledReduceConfig {
  static constexpr ReduceConfig value = kReduceConfigurations[kIndex].config;

  static constexpr int slices = value.slices;
  static constexpr DataType output = value.output;
  static constexpr bool pdl = value.pdl;

  static_assert(slices >= 2 && slices <= kReduceMostSlices);
};

}  // namespace sm100
