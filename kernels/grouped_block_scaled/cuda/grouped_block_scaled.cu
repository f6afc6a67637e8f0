// SPDX-License-Identifier: Apache-2.0
// The compiled grouped block-scaled kernels: every configuration with and without trace points.
#include "kernels/grouped_block_scaled/cuda/grouped_block_scaled.h"

#include <iterator>
#include <utility>

#include "kernels/grouped_block_scaled/cuda/grouped_block_scaled_configurations.h"
#include "kernels/isa/device_recorder.cuh"
#include "kernels/isa/sm100.cuh"

namespace sm100 {

/// One CTA per SM: it allocates all of tensor memory.
template <class Config, class Recorder>
__global__ void __launch_bounds__(32 * warps(Config::value), 1)
    grouped_block_scaled_entry(const __grid_constant__ GroupedBlockScaledParams params,
                               const __grid_constant__ typename Recorder::Params trace) {
  Sm100<Recorder> isa{Recorder{trace}};
  grouped_block_scaled_kernel(isa, Config{}, params);
}

namespace {

template <size_t kIndex>
GroupedBlockScaledKernel kernel_of() {
  using Config = CompiledGroupedConfig<kIndex>;
  return {GroupedBlockScaledConfigurations::entries[kIndex].name, Config::value,
          reinterpret_cast<const void*>(&grouped_block_scaled_entry<Config, NoRecorder>),
          reinterpret_cast<const void*>(&grouped_block_scaled_entry<Config, DeviceRecorder>)};
}

template <size_t... kIndices>
std::span<const GroupedBlockScaledKernel> all_kernels(std::index_sequence<kIndices...>) {
  static const GroupedBlockScaledKernel kernels[] = {kernel_of<kIndices>()...};
  return kernels;
}

}  // namespace

std::span<const GroupedBlockScaledKernel> grouped_block_scaled_kernels() {
  return all_kernels(std::make_index_sequence<std::size(GroupedBlockScaledConfigurations::entries)>());
}

}  // namespace sm100
