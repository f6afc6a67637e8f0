// SPDX-License-Identifier: Apache-2.0
// The compiled grouped 1D-2D kernels: every configuration with and without trace points.
#include "kernels/grouped_1d2d/cuda/grouped_1d2d.h"

#include <iterator>
#include <utility>

#include "kernels/grouped_1d2d/cuda/grouped_1d2d_configurations.h"
#include "kernels/isa/device_recorder.cuh"
#include "kernels/isa/sm100.cuh"

namespace sm100 {

/// One CTA per SM: it allocates all of tensor memory.
template <class Config, class Recorder>
__global__ void __launch_bounds__(32 * kMatmulWarps, 1)
    grouped_1d2d_entry(const __grid_constant__ Grouped1d2dParams params,
                       const __grid_constant__ typename Recorder::Params trace) {
  Sm100<Recorder> isa{Recorder{trace}};
  grouped_1d2d_kernel(isa, Config{}, params);
}

namespace {

template <size_t kIndex>
Grouped1d2dKernel kernel_of() {
  using Config = CompiledGrouped1d2dConfig<kIndex>;
  return {Grouped1d2dConfigurations::entries[kIndex].name, Config::value,
          reinterpret_cast<const void*>(&grouped_1d2d_entry<Config, NoRecorder>),
          reinterpret_cast<const void*>(&grouped_1d2d_entry<Config, DeviceRecorder>)};
}

template <size_t... kIndices>
std::span<const Grouped1d2dKernel> all_kernels(std::index_sequence<kIndices...>) {
  static const Grouped1d2dKernel kernels[] = {kernel_of<kIndices>()...};
  return kernels;
}

}  // namespace

std::span<const Grouped1d2dKernel> grouped_1d2d_kernels() {
  return all_kernels(std::make_index_sequence<std::size(Grouped1d2dConfigurations::entries)>());
}

}  // namespace sm100
