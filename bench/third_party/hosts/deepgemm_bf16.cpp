// SPDX-License-Identifier: Apache-2.0
// A loader for DeepGEMM's sm100_bf16_gemm_impl: what its JIT does with the driver, from PTX instead of a cubin.
//   deepgemm_bf16 KERNEL.ptx ENTRY
// The kernel is the instantiation of bench/third_party/kernels.py: tiles of 128 x 128 x 64, pairs, 8 stages, 8 SMs.
#include <cuda.h>

#include <cstdlib>

#include "product.h"

namespace {

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "?";
  cuGetErrorString(result, &text);
  std::printf("%s: %s\n", what, text);
  std::exit(1);
}
#define CHECK(call) check(call, #call)

constexpr int kM = 1024, kN = 512, kK = 512, kSms = 8;
constexpr unsigned kSmemBytes = 2 * 16384 + 8 * 24576 + 256;

/// Rows of `columns` bf16, in boxes of 64 columns.
CUtensorMap map_of(CUdeviceptr matrix, int rows, int columns, unsigned box_rows) {
  alignas(64) CUtensorMap map;
  const cuuint64_t extents[] = {cuuint64_t(columns), cuuint64_t(rows)}, pitch[] = {cuuint64_t(columns) * 2};
  const cuuint32_t box[] = {64, box_rows}, steps[] = {1, 1};
  CHECK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, reinterpret_cast<void*>(matrix), extents,
                               pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

CUdeviceptr copy_of(const std::vector<uint16_t>& matrix) {
  CUdeviceptr device;
  CHECK(cuMemAlloc(&device, matrix.size() * 2));
  CHECK(cuMemcpyHtoD(device, matrix.data(), matrix.size() * 2));
  return device;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::printf("deepgemm_bf16 KERNEL.ptx ENTRY\n"), 1;
  CUdevice device;
  CUcontext context;
  CUlibrary library;
  CUkernel kernel;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuLibraryLoadFromFile(&library, argv[1], nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cuLibraryGetKernel(&kernel, library, argv[2]));
  CHECK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kSmemBytes, kernel, device));

  const std::vector<uint16_t> a = operand(kM, kK, 1), b = operand(kN, kK, 2);
  std::vector<uint16_t> d(size_t{kM} * kN);
  const CUdeviceptr da = copy_of(a), db = copy_of(b), dd = copy_of(d);
  CUtensorMap map_a = map_of(da, kM, kK, 128), map_b = map_of(db, kN, kK, 64), map_d = map_of(dd, kM, kN, 128);

  int* layout = nullptr;  // of groups; this kernel has none
  unsigned m = kM, n = kN, k = kK;
  void* arguments[] = {&layout, &m, &n, &k, &map_a, &map_b, &map_d};
  CUlaunchAttribute attributes[2] = {};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[0].value.clusterDim = {2, 1, 1};
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attributes[1].value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = kSms, config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 256, config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = kSmemBytes;
  config.attrs = attributes;
  config.numAttrs = 2;
  CHECK(cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(kernel), arguments, nullptr));
  CHECK(cuCtxSynchronize());
  CHECK(cuMemcpyDtoH(d.data(), dd, d.size() * 2));
  return is_product("sm100_bf16_gemm_impl", a, b, d, kM, kN, kK) ? 0 : 1;
}
