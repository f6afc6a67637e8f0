// SPDX-License-Identifier: Apache-2.0
// The compiled hopper_matmul kernels: every configuration with and without trace points.
#include "kernels/hopper_matmul/cuda/hopper_matmul.h"

#include <utility>

#include "kernels/hopper_matmul/cuda/hopper_matmul_configurations.h"
#include "kernels/hopper_matmul/hopper_matmul_kernel.h"
#include "kernels/isa/device_recorder.cuh"
#include "kernels/isa/sm100.cuh"

namespace sm100 {

/// One CTA per SM: ptxas keeps to 168 registers, and setmaxnreg moves the producer's to the consumers.
template <class Config, class Recorder>
__global__ void __launch_bounds__(kHopperThreads, 1)
    hopper_matmul_entry(const __grid_constant__ HopperMatmulParams params,
                        const __grid_constant__ typename Recorder::Params trace) {
  Sm100<Recorder> isa{Recorder{trace}};
  hopper_matmul_kernel(isa, Config{}, params);
}

namespace {

template <size_t kIndex>
HopperMatmulKernel hopper_matmul_kernel_of() {
  using Config = CompiledHopperMatmulConfig<kIndex>;
  return {kHopperMatmulConfigurations[kIndex].name, Config::value,
          reinterpret_cast<const void*>(&hopper_matmul_entry<Config, NoRecorder>),
          reinterpret_cast<const void*>(&hopper_matmul_entry<Config, DeviceRecorder>)};
}

template <size_t... kIndices>
std::span<const HopperMatmulKernel> all_kernels(std::index_sequence<kIndices...>) {
  static const HopperMatmulKernel kernels[] = {hopper_matmul_kernel_of<kIndices>()...};
  return kernels;
}

}  // namespace

std::span<const HopperMatmulKernel> hopper_matmul_kernels() {
  return all_kernels(std::make_index_sequence<kHopperMatmulConfigurationCount>());
}

}  // namespace sm100
