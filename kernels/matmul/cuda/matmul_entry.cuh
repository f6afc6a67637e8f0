// SPDX-License-Identifier: Apache-2.0
/// Kernel entry of the dense matmul: makes the Isa object and calls the portable kernel; and the table of a list's
/// kernels.
#pragma once

#include <iterator>
#include <utility>

#include "kernels/isa/device_recorder.cuh"
#include "kernels/isa/sm100.cuh"
#include "kernels/matmul/cuda/compiled_config.h"
#include "kernels/matmul/cuda/matmul.h"
#include "kernels/matmul/matmul_kernel.h"

namespace sm100 {

/// One CTA per SM: it allocates all of tensor memory.
template <class Config, class Recorder>
__global__ void __launch_bounds__(kMatmulThreads, 1)
    matmul_entry(const __grid_constant__ MatmulParams params,
                 const __grid_constant__ typename Recorder::Params trace) {
  Sm100<Recorder> isa{Recorder{trace}};
  matmul_kernel(isa, Config{}, params);
}

/// Every configuration of the list with and without trace points.
template <class List, size_t... kIndices>
std::span<const MatmulKernel> kernel_table(std::index_sequence<kIndices...>) {
  static const MatmulKernel kernels[] = {
      {List::entries[kIndices].name, List::entries[kIndices].config,
       reinterpret_cast<const void*>(&matmul_entry<CompiledConfig<List, kIndices>, NoRecorder>),
       reinterpret_cast<const void*>(&matmul_entry<CompiledConfig<List, kIndices>, DeviceRecorder>)}...};
  return kernels;
}

template <class List>
std::span<const MatmulKernel> compiled_kernels() {
  return kernel_table<List>(std::make_index_sequence<std::size(List::entries)>());
}

}  // namespace sm100
