// SPDX-License-Identifier: Apache-2.0
/// What both measurement programs share: a list of tests, each run in a child process (a trapping launch poisons
/// only its child, which the parent replaces), a table on stdout and a JSON file, statistics, device buffers and
/// tensor maps.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hw {

/// Where a test puts its results.  Ids are unique, lower case, dotted.
class Out {
 public:
  /// One measured quantity from repeated samples: min, median, p90 are reported.
  void samples(const std::string& id, const std::string& what, const std::string& unit, std::vector<double> values,
               const std::string& note = "");
  void value(const std::string& id, const std::string& what, const std::string& unit, double v,
             const std::string& note = "");
  void text(const std::string& id, const std::string& what, const std::string& text);
  /// A question with a known answer: PASS when seen == expected.
  void answer(const std::string& id, const std::string& question, const std::string& expected,
              const std::string& seen);
  /// An open question: only what is seen.
  void open(const std::string& id, const std::string& question, const std::string& seen);
};

struct Test {
  const char* name;
  std::function<void(Out&)> run;
};
struct Register {
  Register(const char* name, std::function<void(Out&)> run);
};

/// Waits for the device; the error's name, or "completed".  After an error the child ends with its current test.
std::string finish();
/// The same, but an error ends the test ("failed: ...").
void must_finish(const char* what);
void check(cudaError_t e, const char* what);

template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t n, int fill = 0) : n_(n) {
    check(cudaMalloc(&p_, n * sizeof(T)), "cudaMalloc");
    check(cudaMemset(p_, fill, n * sizeof(T)), "cudaMemset");
  }
  ~Buffer() { cudaFree(p_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* get() const { return p_; }
  std::vector<T> host() const {
    std::vector<T> v(n_);
    check(cudaMemcpy(v.data(), p_, n_ * sizeof(T), cudaMemcpyDeviceToHost), "download");
    return v;
  }
  void put(const std::vector<T>& v) {
    check(cudaMemcpy(p_, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
  }
  std::size_t size() const { return n_; }

 private:
  T* p_ = nullptr;
  std::size_t n_;
};

/// cuTensorMapEncodeTiled, dimension 0 first; strides in bytes of dimensions 1...
struct MapSpec {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  std::vector<cuuint64_t> dims;
  std::vector<cuuint64_t> strides;
  std::vector<cuuint32_t> box;
  std::vector<cuuint32_t> element_strides = {};
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
};
/// False when the driver refuses the map.
bool encode(const MapSpec& spec, const void* address, CUtensorMap& map);
CUtensorMap must_encode(const MapSpec& spec, const void* address);

std::vector<double> to_double(const std::vector<long long>& v, double scale = 1.0, double minus = 0.0);
double median(std::vector<double> v);
int sm_count();

/// Launches with a cluster of `cluster` CTAs along x, `smem` bytes of dynamic shared memory (opted in).
template <class... P, class... A>
cudaError_t launch(void (*kernel)(P...), int grid, int block, int smem, int cluster, A... args) {
  if (smem > 0) cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, smem);
  if (cluster > 8) cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(grid));
  config.blockDim = dim3(static_cast<unsigned>(block));
  config.dynamicSmemBytes = static_cast<std::size_t>(smem);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(cluster);
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = cluster > 1 ? 1 : 0;
  const cudaError_t e = cudaLaunchKernelEx(&config, kernel, P(args)...);
  return e;
}
template <class K, class... A>
void run(const char* what, K kernel, int grid, int block, int smem, int cluster, A... args) {
  check(launch(kernel, grid, block, smem, cluster, args...), what);
  must_finish(what);
}

std::string format(const char* f, ...) __attribute__((format(printf, 1, 2)));

}  // namespace hw

#define HW_CAT2(a, b) a##b
#define HW_CAT(a, b) HW_CAT2(a, b)
/// HW_TEST("name") { ... out ... }
#define HW_TEST(name)                                                              \
  static void HW_CAT(hw_test_, __LINE__)(hw::Out&);                                \
  static hw::Register HW_CAT(hw_reg_, __LINE__)(name, HW_CAT(hw_test_, __LINE__)); \
  static void HW_CAT(hw_test_, __LINE__)(hw::Out & out)
