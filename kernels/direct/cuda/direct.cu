// SPDX-License-Identifier: Apache-2.0
// The compiled direct kernels: every configuration with and without trace points.
#include "kernels/direct/cuda/direct.h"

#include <utility>

#include "kernels/direct/cuda/direct_configurations.h"
#include "kernels/direct/direct_kernel.h"
#include "kernels/isa/device_recorder.cuh"
#include "kernels/isa/sm100.cuh"

namespace sm100 {

template <class Config, class Recorder>
__global__ void __launch_bounds__(direct_threads(Config::value), 1)
    direct_entry(const __grid_constant__ DirectParams params,
                 const __grid_constant__ typename Recorder::Params trace) {
  Sm100<Recorder> isa{Recorder{trace}};
  direct_kernel(isa, Config{}, params);
}

namespace {

template <size_t kIndex>
DirectKernelEntry direct_kernel_of() {
  using Config = CompiledDirectConfig<kIndex>;
  return {kDirectConfigurations[kIndex].name, Config::value,
          reinterpret_cast<const void*>(&direct_entry<Config, NoRecorder>),
          reinterpret_cast<const void*>(&direct_entry<Config, DeviceRecorder>)};
}

template <size_t... kIndices>
std::span<const DirectKernelEntry> all_kernels(std::index_sequence<kIndices...>) {
  static const DirectKernelEntry kernels[] = {direct_kernel_of<kIndices>()...};
  return kernels;
}

}  // namespace

std::span<const DirectKernelEntry> direct_kernels() {
  return all_kernels(std::make_index_sequence<kDirectConfigurationCount>());
}

}  // namespace sm100
