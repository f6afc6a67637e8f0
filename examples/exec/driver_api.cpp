// SPDX-License-Identifier: Apache-2.0
// The driver API without the runtime: loads PTX, encodes a tensor map, and copies tiles with it.
//
//   nvcc -ptx -arch=compute_100a -lineinfo -o tiles.ptx tiles.cu
//   g++ -o driver_api driver_api.cpp -I $CUDA/include -L $CUDA/lib64/stubs -lcuda
//   sm100sim exec --sms 4 ./driver_api tiles.ptx
//
// A program that compiles its kernels at run time does the same with the text that NVRTC gives it (nvrtcGetPTX).
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* name = "unknown";
  cuGetErrorName(result, &name);
  std::printf("%s: %s\n", what, name);
  std::exit(1);
}
#define CHECK(call) check(call, #call)

constexpr uint32_t kTile = 32, kWidth = 4 * kTile, kHeight = 2 * kTile;
constexpr size_t kBytes = size_t{kWidth} * kHeight * sizeof(float);

/// A matrix of floats, in tiles of kTile x kTile.
CUtensorMap map_of(CUdeviceptr matrix) {
  CUtensorMap map;
  const cuuint64_t extents[] = {kWidth, kHeight}, pitch[] = {kWidth * sizeof(float)};
  const cuuint32_t box[] = {kTile, kTile}, steps[] = {1, 1};
  CHECK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, reinterpret_cast<void*>(matrix), extents,
                               pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::printf("driver_api FILE.ptx\n"), 1;
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction transpose;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoad(&module, argv[1]));
  CHECK(cuModuleGetFunction(&transpose, module, "transpose_tiles"));

  std::vector<float> matrix(kWidth * kHeight), result(kWidth * kHeight);
  for (uint32_t i = 0; i < kWidth * kHeight; ++i) matrix[i] = float(i);
  CUdeviceptr from, to;
  CHECK(cuMemAlloc(&from, kBytes));
  CHECK(cuMemAlloc(&to, kBytes));
  CHECK(cuMemcpyHtoD(from, matrix.data(), kBytes));

  CUtensorMap map = map_of(from);
  uint32_t height = kHeight;
  void* parameters[] = {&map, &to, &height};
  CHECK(cuLaunchKernel(transpose, kWidth / kTile, kHeight / kTile, 1, 256, 1, 1, 0, nullptr, parameters, nullptr));
  CHECK(cuCtxSynchronize());
  CHECK(cuMemcpyDtoH(result.data(), to, kBytes));

  int wrong = 0;
  for (uint32_t row = 0; row < kHeight; ++row)
    for (uint32_t column = 0; column < kWidth; ++column)
      wrong += result[column * kHeight + row] != matrix[row * kWidth + column];
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
