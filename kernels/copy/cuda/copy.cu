// SPDX-License-Identifier: Apache-2.0
// The compiled pipeline_copy kernels: every configuration with and without trace points.
#include <utility>

#include "kernels/copy/copy_kernel.h"
#include "kernels/copy/cuda/copy.h"
#include "kernels/copy/cuda/copy_configurations.h"
#include "kernels/isa/device_recorder.cuh"
#include "kernels/isa/sm100.cuh"

namespace sm100 {

template <class Config, class Recorder>
__global__ void __launch_bounds__(kCopyThreads, 1)
    copy_entry(const __grid_constant__ CopyParams params, const __grid_constant__ typename Recorder::Params trace) {
  Sm100<Recorder> isa{Recorder{trace}};
  copy_kernel(isa, Config{}, params);
}

namespace {

template <size_t kIndex>
CopyKernel copy_kernel_of() {
  using Config = CompiledCopyConfig<kIndex>;
  return {kCopyConfigurations[kIndex].name, Config::value,
          reinterpret_cast<const void*>(&copy_entry<Config, NoRecorder>),
          reinterpret_cast<const void*>(&copy_entry<Config, DeviceRecorder>)};
}

template <size_t... kIndices>
std::span<const CopyKernel> all_kernels(std::index_sequence<kIndices...>) {
  static const CopyKernel kernels[] = {copy_kernel_of<kIndices>()...};
  return kernels;
}

}  // namespace

std::span<const CopyKernel> copy_kernels() {
  return all_kernels(std::make_index_sequence<kCopyConfigurationCount>());
}

}  // namespace sm100
