// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/run/reference.h"

#include <cublas_v2.h>
#include <dlfcn.h>

#include <cstring>

#include "kernels/cuda/run/gpu.h"
#include "kernels/host/comparison.h"
#include "kernels/host/product.h"
#include "kernels/isa/number_formats.h"

namespace sm100::cuda {
namespace {

/// cuBLAS, opened at run time: the program must start on machines without it.
struct Cublas {
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  /// cublasGemmEx of cublas_api.h; C++ has an overload beside it, so the type is spelled out.
  using GemmEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                    const void*, const void*, cudaDataType, int, const void*, cudaDataType, int,
                                    const void*, void*, cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
  GemmEx gemm = nullptr;

  Cublas() {
    void* library = nullptr;
    for (const char* name : {"libcublas.so", "libcublas.so.13", "libcublas.so.12"})
      if (!library) library = dlopen(name, RTLD_NOW);
    if (!library) return;
    create = reinterpret_cast<decltype(create)>(dlsym(library, "cublasCreate_v2"));
    destroy = reinterpret_cast<decltype(destroy)>(dlsym(library, "cublasDestroy_v2"));
    gemm = reinterpret_cast<decltype(gemm)>(dlsym(library, "cublasGemmEx"));
  }
  bool present() const { return create && destroy && gemm; }
};

float element(const uint8_t* data, size_t i, DataType type) {
  if (type == DataType::f32) {
    float value;
    std::memcpy(&value, data + 4 * i, 4);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, data + 2 * i, 2);
  return decode_bf16(bits);
}

}  // namespace

bool cublas_product(int m, int n, int k, GlobalAddr a, GlobalAddr b, std::vector<float>& c) {
  const Cublas cublas;
  cublasHandle_t handle = nullptr;
  if (!cublas.present() || cublas.create(&handle) != CUBLAS_STATUS_SUCCESS) return false;
  DeviceBuffer product(uint64_t(m) * uint64_t(n) * 4);
  const float one = 1, zero = 0;
  // cuBLAS is column-major: our row-major C (m x n) is its C^T (n x m) = B * A^T, and row-major B (n x k) its k x
  // n.
  const cublasStatus_t status = cublas.gemm(
      handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, reinterpret_cast<const void*>(b.value), CUDA_R_16BF, k,
      reinterpret_cast<const void*>(a.value), CUDA_R_16BF, k, &zero,
      reinterpret_cast<void*>(product.address().value), CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  const cudaError_t finished = cudaDeviceSynchronize();
  cublas.destroy(handle);
  if (status != CUBLAS_STATUS_SUCCESS) return false;
  check(finished, "cublasGemmEx");
  c.resize(size_t(m) * size_t(n));
  product.download(c.data(), product.bytes());
  return true;
}

host::Check check_result(const host::KernelRun& run, const std::vector<std::vector<uint8_t>>& bytes,
                         const std::vector<GlobalAddr>& addresses) {
  std::vector<float> product;
  const auto* of_two = dynamic_cast<const host::Product*>(&run);
  const host::ProductShape s = of_two ? of_two->shape() : host::ProductShape{};
  const bool plain = of_two && of_two->is_plain() && s.operands == DataType::bf16;
  if (plain && cublas_product(s.m, s.n, s.k, addresses[0], addresses[1], product)) {
    host::Comparison comparison(host::error_limit(s.output));
    for (size_t i = 0; i < product.size(); ++i)
      comparison.add(element(bytes.back().data(), i, s.output), product[i], int(i / size_t(s.n)),
                     int(i % size_t(s.n)));
    host::Check check = comparison.result(s.m);
    check.of_rows = s.m;
    check.reference = "cuBLAS";
    return check;
  }
  std::vector<const uint8_t*> pointers;
  for (const auto& tensor : bytes) pointers.push_back(tensor.data());
  return run.check(pointers);
}

}  // namespace sm100::cuda
