// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/run/reference.h"

#include <cublas_v2.h>
#include <dlfcn.h>

#include <cstring>
#include <memory>
#include <optional>

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

namespace {

/// A handle of cuBLAS, for as long as it is there.
class CublasProducts {
 public:
  CublasProducts() {
    if (cublas_.present() && cublas_.create(&handle_) != CUBLAS_STATUS_SUCCESS) handle_ = nullptr;
  }
  ~CublasProducts() {
    if (handle_ && device_answers()) cublas_.destroy(handle_);
  }
  CublasProducts(const CublasProducts&) = delete;
  CublasProducts& operator=(const CublasProducts&) = delete;

  bool present() const { return handle_ != nullptr; }
  /// C = A * B^T, launched; false: refused.
  bool launch(const host::ProductShape& s, GlobalAddr a, GlobalAddr b, GlobalAddr c, cudaDataType type) const {
    const float one = 1, zero = 0;
    // cuBLAS is column-major: our row-major C (m x n) is its C^T (n x m) = B * A^T, and row-major B (n x k) its k x
    // n.
    return cublas_.gemm(handle_, CUBLAS_OP_T, CUBLAS_OP_N, s.n, s.m, s.k, &one,
                        reinterpret_cast<const void*>(b.value), CUDA_R_16BF, s.k,
                        reinterpret_cast<const void*>(a.value), CUDA_R_16BF, s.k, &zero,
                        reinterpret_cast<void*>(c.value), type, s.n, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
  }

 private:
  Cublas cublas_;
  cublasHandle_t handle_ = nullptr;
};

/// Of a plain product of BF16 operands.
std::optional<host::ProductShape> plain_product(const host::KernelRun& run) {
  const auto* of_two = dynamic_cast<const host::Product*>(&run);
  if (!of_two || !of_two->is_plain() || of_two->shape().operands != DataType::bf16) return std::nullopt;
  return of_two->shape();
}

/// The product in float; false: no cuBLAS.
bool cublas_product(const host::ProductShape& s, GlobalAddr a, GlobalAddr b, std::vector<float>& c) {
  const CublasProducts cublas;
  if (!cublas.present()) return false;
  DeviceBuffer product(uint64_t(s.m) * uint64_t(s.n) * 4);
  const bool launched = cublas.launch(s, a, b, product.address(), CUDA_R_32F);
  check(cudaDeviceSynchronize(), "cublasGemmEx");
  if (!launched) return false;
  c.resize(size_t(s.m) * size_t(s.n));
  product.download(c.data(), product.bytes());
  return true;
}

}  // namespace

std::function<void()> cublas_launch(const host::KernelRun& run, const std::vector<GlobalAddr>& addresses) {
  const std::optional<host::ProductShape> shape = plain_product(run);
  auto cublas = std::make_shared<CublasProducts>();
  if (!shape || !cublas->present()) return {};
  const cudaDataType type = shape->output == DataType::f32 ? CUDA_R_32F : CUDA_R_16BF;
  auto product = std::make_shared<DeviceBuffer>(uint64_t(shape->m) * uint64_t(shape->n) * 4);
  return [=, s = *shape] {
    if (!cublas->launch(s, addresses[0], addresses[1], product->address(), type))
      throw CudaError("cublasGemmEx", cudaErrorUnknown);
  };
}

host::Check check_result(const host::KernelRun& run, const std::vector<std::vector<uint8_t>>& bytes,
                         const std::vector<GlobalAddr>& addresses) {
  std::vector<float> product;
  const std::optional<host::ProductShape> plain = plain_product(run);
  if (plain && cublas_product(*plain, addresses[0], addresses[1], product)) {
    const host::ProductShape& s = *plain;
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
