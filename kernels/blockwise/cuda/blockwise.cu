// SPDX-License-Identifier: Apache-2.0
// The compiled blockwise kernels: every configuration with and without trace points.
#include "kernels/blockwise/cuda/blockwise.h"

#include <iterator>
#include <utility>

#include "kernels/blockwise/cuda/blockwise_configurations.h"
#include "kernels/isa/device_recorder.cuh"
#include "kernels/isa/sm100.cuh"

namespace sm100 {

/// One CTA per SM: it allocates all of tensor memory.
template <class Config, class Recorder>
__global__ void __launch_bounds__(32 * kMatmulWarps, 1)
    blockwise_entry(const __grid_constant__ BlockwiseParams params,
                    const __grid_constant__ typename Recorder::Params trace) {
  Sm100<Recorder> isa{Recorder{trace}};
  blockwise_kernel(isa, Config{}, params);
}

namespace {

template <size_t kIndex>
BlockwiseKernel kernel_of() {
  using Config = CompiledBlockwiseConfig<kIndex>;
  return {BlockwiseConfigurations::entries[kIndex].name, Config::value,
          reinterpret_cast<const void*>(&blockwise_entry<Config, NoRecorder>),
          reinterpret_cast<const void*>(&blockwise_entry<Config, DeviceRecorder>)};
}

template <size_t... kIndices>
std::span<const BlockwiseKernel> all_kernels(std::index_sequence<kIndices...>) {
  static const BlockwiseKernel kernels[] = {kernel_of<kIndices>()...};
  return kernels;
}

}  // namespace

std::span<const BlockwiseKernel> blockwise_kernels() {
  return all_kernels(std::make_index_sequence<std::size(BlockwiseConfigurations::entries)>());
}

}  // namespace sm100
