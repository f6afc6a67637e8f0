// SPDX-License-Identifier: Apache-2.0
// The compiled fallback kernels: every configuration with and without trace points.
#include "kernels/fallback/cuda/fallback.h"

#include <utility>

#include "kernels/fallback/cuda/fallback_configurations.h"
#include "kernels/fallback/fallback_kernel.h"
#include "kernels/isa/device_recorder.cuh"
#include "kernels/isa/sm100.cuh"

namespace sm100 {

/// One CTA per SM: it allocates all of tensor memory.
template <class Config, class Recorder>
__global__ void __launch_bounds__(kFallbackThreads, 1)
    fallback_entry(const __grid_constant__ FallbackParams params,
                   const __grid_constant__ typename Recorder::Params trace) {
  Sm100<Recorder> isa{Recorder{trace}};
  fallback_kernel(isa, Config{}, params);
}

namespace {

template <size_t kIndex>
FallbackKernel fallback_kernel_of() {
  using Config = CompiledFallbackConfig<kIndex>;
  return {kFallbackConfigurations[kIndex].name, Config::value,
          reinterpret_cast<const void*>(&fallback_entry<Config, NoRecorder>),
          reinterpret_cast<const void*>(&fallback_entry<Config, DeviceRecorder>)};
}

template <size_t... kIndices>
std::span<const FallbackKernel> all_kernels(std::index_sequence<kIndices...>) {
  static const FallbackKernel kernels[] = {fallback_kernel_of<kIndices>()...};
  return kernels;
}

}  // namespace

std::span<const FallbackKernel> fallback_kernels() {
  return all_kernels(std::make_index_sequence<kFallbackConfigurationCount>());
}

}  // namespace sm100
