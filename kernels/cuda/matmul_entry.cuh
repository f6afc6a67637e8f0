/// Kernel entry of the dense matmul: makes the Isa object and calls the portable kernel.
#pragma once

#include "kernels/cuda/configurations.h"
#include "kernels/cuda/matmul.h"
#include "kernels/isa/device_recorder.cuh"
#include "kernels/isa/sm100.cuh"
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

}  // namespace sm100
