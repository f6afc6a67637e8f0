// pipeline_copy for the device: one __global__ function per compiled configuration, plain and traced.
#include <utility>

#include "kernels/copy/copy_kernel.h"
#include "kernels/cuda/compiled_kernels.h"
#include "kernels/cuda/copy_configurations.h"
#include "kernels/isa/device_recorder.cuh"
#include "kernels/isa/sm100.cuh"

namespace sm100::cuda {

template <int INDEX>  // nvcc's host stubs can't spell class-type template arguments
__global__ void __launch_bounds__(kCopyWarps * 32, 1) copy_entry(const __grid_constant__ CopyParams params) {
  Sm100<> isa;
  copy_kernel(isa, CompiledCopyConfig<kCopyConfigurations[INDEX]>{}, params);
}

template <int INDEX>  // nvcc's host stubs can't spell class-type template arguments
__global__ void __launch_bounds__(kCopyWarps * 32, 1)
    copy_entry_traced(const __grid_constant__ CopyParams params, const __grid_constant__ DeviceTrace trace) {
  Sm100<DeviceRecorder> isa{DeviceRecorder{trace}};
  copy_kernel(isa, CompiledCopyConfig<kCopyConfigurations[INDEX]>{}, params);
}

namespace {

template <int... I>
std::vector<CompiledConfiguration<CopyConfig>> entries(std::integer_sequence<int, I...>) {
  return {
      {kCopyConfigurations[I],
       {reinterpret_cast<const void*>(&copy_entry<I>), reinterpret_cast<const void*>(&copy_entry_traced<I>)}}...};
}

}  // namespace

const std::vector<CompiledConfiguration<CopyConfig>>& compiled_copies() {
  static const auto table = entries(std::make_integer_sequence<int, kCopyConfigurationCount>{});
  return table;
}

}  // namespace sm100::cuda
