// The compiled matmul kernels: every configuration with and without trace points.
#include "kernels/cuda/matmul_entry.cuh"

namespace sm100 {
namespace {

template <size_t kIndex>
MatmulKernel matmul_kernel_of() {
  using Config = CompiledConfig<kIndex>;
  return {kMatmulConfigurations[kIndex].name, Config::value,
          reinterpret_cast<const void*>(&matmul_entry<Config, NoRecorder>),
          reinterpret_cast<const void*>(&matmul_entry<Config, DeviceRecorder>)};
}

template <size_t... kIndices>
std::span<const MatmulKernel> all_kernels(std::index_sequence<kIndices...>) {
  static const MatmulKernel kernels[] = {matmul_kernel_of<kIndices>()...};
  return kernels;
}

}  // namespace

std::span<const MatmulKernel> matmul_kernels() {
  return all_kernels(std::make_index_sequence<kMatmulConfigurationCount>());
}

}  // namespace sm100
