// SPDX-License-Identifier: Apache-2.0
// The compiled reduction kernels: every configuration with and without trace points.
#include "kernels/reduce/cuda/reduce.h"

#include <utility>

#include "kernels/isa/device_recorder.cuh"
#include "kernels/isa/sm100.cuh"
#include "kernels/reduce/cuda/reduce_configurations.h"
#include "kernels/reduce/reduce_kernel.h"

namespace sm100 {

template <class Config, class Recorder>
__global__ void __launch_bounds__(kReduceThreads)
    reduce_entry(const __grid_constant__ ReduceParams params,
                 const __grid_constant__ typename Recorder::Params trace) {
  Sm100<Recorder> isa{Recorder{trace}};
  reduce_kernel(isa, Config{}, params);
}

namespace {

template <size_t kIndex>
ReduceKernel reduce_kernel_of() {
  using Config = CompiledReduceConfig<kIndex>;
  return {kReduceConfigurations[kIndex].name, Config::value,
          reinterpret_cast<const void*>(&reduce_entry<Config, NoRecorder>),
          reinterpret_cast<const void*>(&reduce_entry<Config, DeviceRecorder>)};
}

template <size_t... kIndices>
std::span<const ReduceKernel> all_kernels(std::index_sequence<kIndices...>) {
  static const ReduceKernel kernels[] = {reduce_kernel_of<kIndices>()...};
  return kernels;
}

}  // namespace

std::span<const ReduceKernel> reduce_kernels() {
  return all_kernels(std::make_index_sequence<kReduceConfigurationCount>());
}

}  // namespace sm100
