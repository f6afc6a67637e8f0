// SPDX-License-Identifier: Apache-2.0
// The compiled kernels that hold SMs: every configuration with and without trace points.
#include "kernels/hold/cuda/hold.h"

#include <utility>

#include "kernels/hold/cuda/hold_configurations.h"
#include "kernels/hold/hold_kernel.h"
#include "kernels/isa/device_recorder.cuh"
#include "kernels/isa/sm100.cuh"

namespace sm100 {

template <class Config, class Recorder>
__global__ void __launch_bounds__(kHoldThreads)
    hold_entry(const __grid_constant__ HoldParams params, const __grid_constant__ typename Recorder::Params trace) {
  Sm100<Recorder> isa{Recorder{trace}};
  hold_kernel(isa, Config{}, params);
}

namespace {

template <size_t kIndex>
HoldKernel hold_kernel_of() {
  using Config = CompiledHoldConfig<kIndex>;
  return {kHoldConfigurations[kIndex].name, Config::value,
          reinterpret_cast<const void*>(&hold_entry<Config, NoRecorder>),
          reinterpret_cast<const void*>(&hold_entry<Config, DeviceRecorder>)};
}

template <size_t... kIndices>
std::span<const HoldKernel> all_kernels(std::index_sequence<kIndices...>) {
  static const HoldKernel kernels[] = {hold_kernel_of<kIndices>()...};
  return kernels;
}

}  // namespace

std::span<const HoldKernel> hold_kernels() {
  return all_kernels(std::make_index_sequence<kHoldConfigurationCount>());
}

}  // namespace sm100
