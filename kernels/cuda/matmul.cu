// The dense matmul for the device: one __global__ function per compiled configuration, plain and traced.
#include <utility>

#include "kernels/cuda/compiled_kernels.h"
#include "kernels/cuda/matmul_configurations.h"
#include "kernels/isa/device_recorder.cuh"
#include "kernels/isa/sm100.cuh"
#include "kernels/matmul/matmul_kernel.h"

namespace sm100::cuda {

template <int INDEX>  // nvcc's host stubs can't spell class-type template arguments
__global__ void __launch_bounds__(kMatmulWarps * 32, 1) matmul_entry(const __grid_constant__ MatmulParams params) {
  Sm100<> isa;
  matmul_kernel(isa, CompiledMatmulConfig<kMatmulConfigurations[INDEX]>{}, params);
}

template <int INDEX>  // nvcc's host stubs can't spell class-type template arguments
__global__ void __launch_bounds__(kMatmulWarps * 32, 1)
    matmul_entry_traced(const __grid_constant__ MatmulParams params, const __grid_constant__ DeviceTrace trace) {
  Sm100<DeviceRecorder> isa{DeviceRecorder{trace}};
  matmul_kernel(isa, CompiledMatmulConfig<kMatmulConfigurations[INDEX]>{}, params);
}

namespace {

template <int... I>
std::vector<CompiledConfiguration<MatmulConfig>> entries(std::integer_sequence<int, I...>) {
  return {{kMatmulConfigurations[I],
           {reinterpret_cast<const void*>(&matmul_entry<I>),
            reinterpret_cast<const void*>(&matmul_entry_traced<I>)}}...};
}

}  // namespace

const std::vector<CompiledConfiguration<MatmulConfig>>& compiled_matmuls() {
  static const auto table = entries(std::make_integer_sequence<int, kMatmulConfigurationCount>{});
  return table;
}

}  // namespace sm100::cuda
