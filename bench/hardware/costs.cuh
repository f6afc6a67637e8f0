// SPDX-License-Identifier: Apache-2.0
/// What the programs share that measure the functions of the seam in SM cycles: a clock, the cost of a call, tensor
/// maps, the median over launches, and lines that are printed and written as JSON.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/isa/device_recorder.cuh"
#include "kernels/isa/sm100.cuh"

namespace {

using namespace sm100;
using Device = Sm100<>;

constexpr int kTimes = 64;    // repetitions between two clock reads
constexpr int kSamples = 15;  // launches; the median is reported

#define CHECK_CUDA(call)                                                 \
  do {                                                                   \
    const cudaError_t code = (call);                                     \
    if (code != cudaSuccess) {                                           \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code)); \
      std::exit(5);                                                      \
    }                                                                    \
  } while (0)

struct Maps {
  TensorMap wide, narrow, narrowest;  ///< boxes of 128 rows x 128 B, 64 x 64 B, 64 x 32 B; rows of 4096 B
};

__device__ uint64_t clock_now() {
  uint64_t cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}

/// Cycles of one of `times` calls of f, by this warp.
template <class F>
__device__ int64_t cost(int times, F&& f) {
  f();  // fetches the code
  const uint64_t begin = clock_now();
#pragma unroll 1
  for (int i = 0; i < times; ++i) f();
  const uint64_t end = clock_now();
  return int64_t(end - begin) * 16 / times;  // in sixteenths
}

/// A stream of boxes of one shape, kDepth of them in flight, in slots of shared memory and, of loads, with a
/// barrier each.
template <int kDepth>
struct BoxStream {
  const TensorMap* map;
  SmemAddr slots;
  uint32_t slot_bytes, box_bytes;

  /// Waits for each; `next()`: where the next one lies.
  template <class Next>
  __device__ void load(Device& isa, SmemAddr barriers, int boxes, Next&& next) const {
    const auto issue = [&](int box) {
      const TensorCoords from = next();
      isa.elected([&] {
        const SmemAddr full = barriers + 8 * uint32_t(box % kDepth);
        isa.mbarrier_arrive_expect_tx(full, box_bytes, Scope::cta);
        isa.cp_async_bulk_tensor_shared_global(slots + uint32_t(box % kDepth) * slot_bytes, map, from, full);
      });
    };
    for (int box = 0; box < kDepth; ++box) issue(box);
    for (int box = 0; box < boxes; ++box) {
      while (!isa.mbarrier_try_wait_parity(barriers + 8 * uint32_t(box % kDepth), uint32_t(box / kDepth) & 1,
                                           Scope::cta)) {}
      if (box + kDepth < boxes) issue(box + kDepth);
    }
  }
  template <class Next>
  __device__ void store(Device& isa, int boxes, Next&& next) const {
    for (int box = 0; box < boxes; ++box) {
      const TensorCoords to = next();
      isa.elected([&] {
        isa.cp_async_bulk_tensor_global_shared(map, to, slots + uint32_t(box % kDepth) * slot_bytes);
        isa.cp_async_bulk_commit_group();
      });
      isa.cp_async_bulk_wait_group_read<kDepth - 1>();
    }
    isa.cp_async_bulk_wait_group<0>();
  }
};

/// The barriers of a stream, by the first warp; for all threads of the CTA.
__device__ void init_barriers(Device& isa, SmemAddr barriers, int count) {
  if (isa.warpid() == 0)
    isa.elected([&] {
      for (int i = 0; i < count; ++i) isa.mbarrier_init(barriers + 8 * i, 1);
    });
  isa.fence_mbarrier_init();
  __syncthreads();
}

/// Writes the cycles since `begin` for each of so many boxes, those of the slowest lane, if the warp is the
/// reported one.
__device__ void report_boxes(Device& isa, int64_t* out, uint64_t begin, int boxes, int reported_warp) {
  int64_t each = int64_t(clock_now() - begin) * 16 / boxes;
  for (int lane = 0; lane < 32; ++lane) each = max(each, __shfl_sync(~0u, each, lane));
  if (threadIdx.x % 32 == 0 && isa.warpid() == reported_warp) out[size_t{8} * blockIdx.x] = each;
}

TensorMap encode(void* data, int box_columns, int box_rows, CUtensorMapSwizzle swizzle) {
  static decltype(&cuTensorMapEncodeTiled) function = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    CHECK_CUDA(
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  }();
  const cuuint64_t dims[2] = {2048, 1 << 18}, strides[1] = {4096};
  const cuuint32_t box[2] = {cuuint32_t(box_columns), cuuint32_t(box_rows)}, ones[2] = {1, 1};
  CUtensorMap map;
  if (function(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, dims, strides, box, ones,
               CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled failed\n");
    std::exit(5);
  }
  TensorMap result;
  std::memcpy(result.bytes, &map, sizeof map);
  return result;
}

struct Line {
  std::string what;
  double cycles;
};
std::vector<Line> lines;
std::string device_name;

void report(const std::string& what, double cycles) {
  lines.push_back({what, cycles});
  std::printf("  %-72s %9.2f\n", what.c_str(), cycles);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int64_t* results = nullptr;

/// Median over launches of the results of `ctas` CTAs (their median).
template <class Launch>
double measure(int ctas, Launch launch) {
  std::vector<double> samples;
  for (int i = 0; i < kSamples; ++i) {
    CHECK_CUDA(cudaMemset(results, 0, 8 * 8 * size_t(ctas)));
    launch(i);
    CHECK_CUDA(cudaDeviceSynchronize());
    std::vector<int64_t> host(size_t(8 * ctas));
    CHECK_CUDA(cudaMemcpy(host.data(), results, 8 * host.size(), cudaMemcpyDeviceToHost));
    std::vector<double> of_ctas;
    for (int c = 0; c < ctas; ++c) of_ctas.push_back(double(host[size_t(8 * c)]) / 16);
    samples.push_back(median(of_ctas));
  }
  return median(samples);
}

/// Says which GPU this is and makes room for the results of two CTAs on each of its SMs.  @return its SMs
int open_device() {
  cudaDeviceProp properties{};
  CHECK_CUDA(cudaGetDeviceProperties(&properties, 0));
  int driver = 0, runtime = 0;
  CHECK_CUDA(cudaDriverGetVersion(&driver));
  CHECK_CUDA(cudaRuntimeGetVersion(&runtime));
  std::printf("%s, sm_%d%d, %d SMs, L2 %d MiB, driver API %d, runtime %d\n", properties.name, properties.major,
              properties.minor, properties.multiProcessorCount, properties.l2CacheSize >> 20, driver, runtime);
  device_name = properties.name;
  CHECK_CUDA(cudaMalloc(&results, 2 * 8 * 8 * size_t(properties.multiProcessorCount)));
  return properties.multiProcessorCount;
}

/// A matrix of 1 GiB, far more than L2.
void* allocate_matrix() {
  void* data = nullptr;
  const size_t data_bytes = size_t{4096} << 18;
  CHECK_CUDA(cudaMalloc(&data, data_bytes));
  CHECK_CUDA(cudaMemset(data, 0, data_bytes));
  return data;
}

/// Maps of one.
Maps encode_maps() {
  void* data = allocate_matrix();
  return {encode(data, 64, 128, CU_TENSOR_MAP_SWIZZLE_128B), encode(data, 32, 64, CU_TENSOR_MAP_SWIZZLE_64B),
          encode(data, 16, 64, CU_TENSOR_MAP_SWIZZLE_32B)};
}

/// Writes the lines to the file of `--json FILE`.  @return the exit code
int write_json(int argc, char** argv) {
  if (argc != 3 || std::string(argv[1]) != "--json") return 0;
  std::FILE* file = std::fopen(argv[2], "w");
  if (!file) return 2;
  std::fprintf(file, "{\n  \"device\": \"%s\"", device_name.c_str());
  for (const Line& line : lines) std::fprintf(file, ",\n  \"%s\": %.2f", line.what.c_str(), line.cycles);
  std::fprintf(file, "\n}\n");
  std::fclose(file);
  return 0;
}

}  // namespace
