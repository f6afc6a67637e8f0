// SPDX-License-Identifier: Apache-2.0
// The compiled block-scaled kernels in CUTLASS's arrangement: every configuration with and without trace points.
#include "kernels/cutlass_block_scaled/cuda/cutlass_block_scaled.h"

#include <iterator>
#include <utility>

#include "kernels/cutlass_block_scaled/cuda/cutlass_block_scaled_configurations.h"
#include "kernels/isa/device_recorder.cuh"
#include "kernels/isa/sm100.cuh"

namespace sm100 {

/// One CTA per SM: it allocates all of tensor memory.
template <class Config, class Recorder>
__global__ void __launch_bounds__(32 * warps(Config::value), 1)
    cutlass_block_scaled_entry(const __grid_constant__ CutlassBlockScaledParams params,
                               const __grid_constant__ typename Recorder::Params trace) {
  Sm100<Recorder> isa{Recorder{trace}};
  cutlass_block_scaled_kernel(isa, Config{}, params);
}

namespace {

template <size_t kIndex>
CutlassBlockScaledKernel kernel_of() {
  using Config = CompiledCutlassConfig<kIndex>;
  return {CutlassConfigurations::entries[kIndex].name, Config::value,
          reinterpret_cast<const void*>(&cutlass_block_scaled_entry<Config, NoRecorder>),
          reinterpret_cast<const void*>(&cutlass_block_scaled_entry<Config, DeviceRecorder>)};
}

template <size_t... kIndices>
std::span<const CutlassBlockScaledKernel> all_kernels(std::index_sequence<kIndices...>) {
  static const CutlassBlockScaledKernel kernels[] = {kernel_of<kIndices>()...};
  return kernels;
}

}  // namespace

std::span<const CutlassBlockScaledKernel> cutlass_block_scaled_kernels() {
  return all_kernels(std::make_index_sequence<std::size(CutlassConfigurations::entries)>());
}

}  // namespace sm100
