// SPDX-License-Identifier: Apache-2.0
// What the Isa's functions cost on this GPU, in SM cycles, called as role code calls them: the [issue], [mbarrier],
// [smem], [tma] and [cluster] entries of models/profiles/h200.toml come from here.  Runs on sm_90 and later; no
// tcgen05.
//
//   instruction_costs [--json FILE]
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/epilogue/strip_store.h"
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

// Each experiment is a kernel of 128 threads (4 warps) with 128 KiB of dynamic shared memory; results in
// sixteenths.
constexpr uint32_t kBarriers = 100 * 1024;  // offset of scratch barriers, behind the tiles

template <class F>
__device__ void by_warp0(Device& isa, F&& f) {
  if (isa.warpid() == 0) f();
}

__global__ void costs_kernel(int64_t* out, const __grid_constant__ Maps maps, int which, DeviceTrace trace) {
  Device isa;
  const SmemAddr smem = isa.dynamic_smem(), bar = smem + kBarriers;
  if (isa.warpid() == 0)
    isa.elected([&] {
      isa.mbarrier_init(bar, 1);            // ready: phase of parity 1
      isa.mbarrier_init(bar + 8, 1 << 19);  // never completes
      isa.mbarrier_init(bar + 16, 1);
      isa.mbarrier_init(bar + 24, 1);
    });
  isa.fence_mbarrier_init();
  __syncthreads();
  int64_t result = 0;
  const LaneArray<uint32_t, 1> lane = isa.laneid();
  LaneArray<SmemAddr, 1> address;
  isa.for_each_lane(1, [&](int l) { address[l][0] = smem + uint32_t(isa.warpid()) * 512 + lane[l][0] * 16; });
  LaneArray<uint32_t, 4> v[8] = {};
  const auto load8 = [&] {
    for (int i = 0; i < 8; ++i) {
      LaneArray<SmemAddr, 1> a;
      isa.for_each_lane(1, [&](int l) { a[l][0] = address[l][0] + uint32_t(2048 * i); });
      v[i] = isa.ld_shared_v4(a);
    }
  };
  const auto use8 = [&] {
    uint32_t sum = 0;
    for (int i = 0; i < 8; ++i) sum ^= v[i][0][0];
    if (sum == 0x12345678) out[7] = sum;
  };
  const auto store8 = [&] {
    for (int i = 0; i < 8; ++i) {
      LaneArray<SmemAddr, 1> a;
      isa.for_each_lane(1, [&](int l) { a[l][0] = address[l][0] + uint32_t(2048 * i); });
      isa.st_shared_v4(a, v[i]);
    }
  };
  const bool first = isa.warpid() == 0;
  switch (which) {
    case 0:
      if (first) result = cost(kTimes, [&] { clock_now(); });
      break;
    case 1:
      if (first)
        result = cost(kTimes, [&] {
          while (!isa.mbarrier_try_wait_parity(bar, 1, Scope::cta)) {}
        });
      break;
    case 2:
      if (first) result = cost(kTimes, [&] { isa.elected([&] { isa.mbarrier_arrive(bar + 8, Scope::cta); }); });
      break;
    case 3:
      if (first) result = cost(kTimes, [&] { isa.elected([&] { asm volatile("" ::: "memory"); }); });
      break;
    case 4:
      if (first) result = cost(kTimes, [&] { isa.fence_proxy_async_shared_cta(); });
      break;
    case 5: result = cost(kTimes, [&] { isa.bar_sync(1, 128); }); break;
    case 6:
      if (first) result = cost(kTimes, [&] { isa.bar_warp_sync(); });
      break;
    case 7:
      if (first)
        result = cost(kTimes, [&] {
          load8();
          use8();
        });
      break;
    case 8:
      result = cost(kTimes, [&] {
        load8();
        use8();
      });
      break;
    case 9:
      if (first) result = cost(kTimes, [&] { store8(); });
      break;
    case 10: result = cost(kTimes, [&] { store8(); }); break;
    case 11:
      result = cost(kTimes, [&] {
        store8();
        publish_strip(isa, WarpGroup{.first_warp = 0, .warps = 4, .barrier = 1});
      });
      break;
    case 12:
      result = cost(kTimes, [&] { publish_strip(isa, WarpGroup{.first_warp = 0, .warps = 4, .barrier = 1}); });
      break;
    case 13:
      if (first) result = cost(kTimes, [&] { isa.cp_async_bulk_wait_group_read<1>(); });
      break;
    case 14:
      if (first)
        result = cost(kTimes, [&] { isa.elected([&] { isa.mbarrier_arrive_expect_tx(bar + 8, 0, Scope::cta); }); });
      break;
    case 15:
      if (first) result = cost(kTimes, [&] { load8(); });
      use8();
      break;
    case 16:
      if (first)
        result = cost(kTimes, [&] {
          load8();
          store8();
        });
      break;
    case 17:
      result = cost(kTimes, [&] {
        load8();
        store8();
      });
      break;
    case 18: {  // trace events: a begin and an end
      DeviceRecorder recorder{trace};
      if (first)
        result = cost(kTimes, [&] {
          recorder.begin(TraceEvent::wait, {.barrier = bar, .stage = 1, .phase = 2});
          recorder.end();
        });
      break;
    }
    case 19: {  // the same with all four warps
      DeviceRecorder recorder{trace};
      result = cost(kTimes, [&] {
        recorder.begin(TraceEvent::wait, {.barrier = bar, .stage = 1, .phase = 2});
        recorder.end();
      });
      break;
    }
    case 20: {  // warp 0 and 1 hand a token to and fro
      if (isa.warpid() < 2) {
        const bool ping = isa.warpid() == 0;
        const uint64_t begin = clock_now();
        for (uint32_t i = 0; i < kTimes; ++i) {
          if (ping) {
            isa.elected([&] { isa.mbarrier_arrive(bar + 16, Scope::cta); });
            while (!isa.mbarrier_try_wait_parity(bar + 24, i & 1, Scope::cta)) {}
          } else {
            while (!isa.mbarrier_try_wait_parity(bar + 16, i & 1, Scope::cta)) {}
            isa.elected([&] { isa.mbarrier_arrive(bar + 24, Scope::cta); });
          }
        }
        result = int64_t(clock_now() - begin) * 16 / kTimes;
      }
      break;
    }
    case 21:
      if (first) result = cost(kTimes, [&] { isa.prefetch_tensormap(&maps.wide); });
      break;
    default: break;
  }
  if (first && threadIdx.x == 0) out[0] = result;
}

/// One tensor copy of one warp: cycles from issue to the end of the wait, repeated.
/// which: 0-2 load (wide, narrow, narrowest), 3-5 store until the source may be overwritten, 6-8 store until
/// visible, 9 issue of a load (arm and copy), 10 issue of a store (copy and commit), 11-13 loads of `depth` boxes
/// in flight.
__global__ void copies_kernel(int64_t* out, const __grid_constant__ Maps maps, int which, int depth, int first_row,
                              int row_step) {
  Device isa;
  const SmemAddr smem = isa.dynamic_smem(), bar = smem + kBarriers;
  if (isa.warpid() == 0)
    isa.elected([&] {
      for (int i = 0; i < 16; ++i) isa.mbarrier_init(bar + 8 * i, 1);
    });
  isa.fence_mbarrier_init();
  __syncthreads();
  if (isa.warpid() != 0) return;
  const int shape = which >= 9 && which <= 10 ? 0 : which % 3 == 2 && which >= 11 ? 0 : which % 3;
  const int kind = which >= 11 ? 3 : which / 3;  // 0 load, 1 store read, 2 store visible, 3 stream
  const TensorMap* map = which >= 11  ? (which == 11   ? &maps.wide
                                         : which == 12 ? &maps.narrow
                                                       : &maps.narrowest)
                         : shape == 0 ? &maps.wide
                         : shape == 1 ? &maps.narrow
                                      : &maps.narrowest;
  const bool wide = map == &maps.wide;
  const int rows = wide ? 128 : 64;
  const uint32_t bytes = wide ? 16384 : map == &maps.narrow ? 4096 : 2048;
  int64_t sum = 0, least = 1 << 30;
  const int cta_row = first_row + int(isa.ctaid().x) * row_step * kTimes;
  if (which == 9 || which == 10) {
    isa.elected([&] {
      const uint64_t begin = clock_now();
      for (int i = 0; i < 8; ++i) {
        if (which == 9) {
          isa.mbarrier_arrive_expect_tx(bar + 8 * i, bytes, Scope::cta);
          isa.cp_async_bulk_tensor_shared_global(smem, map, TensorCoords{0, cta_row + i * rows}, bar + 8 * i);
        } else {
          isa.cp_async_bulk_tensor_global_shared(map, TensorCoords{0, cta_row + i * rows}, smem);
          isa.cp_async_bulk_commit_group();
        }
      }
      sum = int64_t(clock_now() - begin) * 16 / 8;
    });
    if (which == 9)
      for (int i = 0; i < 8; ++i)
        while (!isa.mbarrier_try_wait_parity(bar + 8 * i, 0, Scope::cta)) {}
    isa.cp_async_bulk_wait_group<0>();
    for (int lane = 0; lane < 32; ++lane) sum = max(sum, __shfl_sync(~0u, sum, lane));
    if (threadIdx.x == 0) out[8 * blockIdx.x] = sum;
    return;
  }
  if (kind == 3) {  // stream: `depth` boxes in flight; a lap of the ring between two looks at anything but barriers
    const uint32_t stride = wide ? 16384 : 4096;
    const auto issue = [&](int slot, int row) {
      isa.elected([&] {
        isa.mbarrier_arrive_expect_tx(bar + 8 * slot, bytes, Scope::cta);
        isa.cp_async_bulk_tensor_shared_global(smem + uint32_t(slot) * stride, map, TensorCoords{0, row},
                                               bar + 8 * slot);
      });
    };
    int row = cta_row;
    for (int slot = 0; slot < depth; ++slot, row += row_step) issue(slot, row);
    const int laps = 4 * kTimes / depth;
    const uint64_t begin = clock_now();
    for (int lap = 0; lap < laps; ++lap)
      for (int slot = 0; slot < depth; ++slot, row += row_step) {
        while (!isa.mbarrier_try_wait_parity(bar + 8 * slot, uint32_t(lap) & 1, Scope::cta)) {}
        issue(slot, row);
      }
    sum = int64_t(clock_now() - begin) * 16 / (laps * depth);
    for (int slot = 0; slot < depth; ++slot)
      while (!isa.mbarrier_try_wait_parity(bar + 8 * slot, uint32_t(laps) & 1, Scope::cta)) {}
    if (threadIdx.x == 0) out[8 * blockIdx.x] = sum;
    return;
  }
  for (int i = 0; i < kTimes; ++i) {
    const int row = cta_row + i * row_step;
    const uint64_t begin = clock_now();
    if (kind == 0) {
      isa.elected([&] {
        isa.mbarrier_arrive_expect_tx(bar, bytes, Scope::cta);
        isa.cp_async_bulk_tensor_shared_global(smem, map, TensorCoords{0, row}, bar);
      });
      while (!isa.mbarrier_try_wait_parity(bar, uint32_t(i) & 1, Scope::cta)) {}
    } else {
      isa.elected([&] {
        isa.cp_async_bulk_tensor_global_shared(map, TensorCoords{0, row}, smem);
        isa.cp_async_bulk_commit_group();
      });
      if (kind == 1) isa.cp_async_bulk_wait_group_read<0>();
      if (kind == 2) isa.cp_async_bulk_wait_group<0>();
    }
    const int64_t cycles = int64_t(clock_now() - begin);
    if (kind == 1) isa.cp_async_bulk_wait_group<0>();
    sum += cycles;
    least = min(least, cycles);
  }
  // The electing lane waited; its clock is the one that counts, and it is the slowest.
  sum = sum * 16 / kTimes;
  for (int lane = 1; lane < 32; ++lane) sum = max(sum, __shfl_sync(~0u, sum, lane));
  if (threadIdx.x == 0) {
    out[8 * blockIdx.x] = sum;
    out[8 * blockIdx.x + 1] = least * 16;
  }
}

/// Ping-pong between CTA 0 and the last CTA of the cluster.  which: 0 arrive.release.cluster, 1 default scope,
/// 2 cluster barrier, 3 cost of issuing a remote arrive of scope cta, 4 of scope cluster, 5 as 1 with a trace event
/// before each arrive: the release waits for the event's stores.
__global__ void cluster_kernel(int64_t* out, int which, int ctas, DeviceTrace trace) {
  Device isa;
  const SmemAddr bar = isa.dynamic_smem() + kBarriers;
  const uint32_t rank = isa.cluster_ctarank();
  if (isa.warpid() == 0)
    isa.elected([&] {
      isa.mbarrier_init(bar, 1);
      isa.mbarrier_init(bar + 8, 1 << 19);
    });
  isa.fence_mbarrier_init();
  isa.barrier_cluster_arrive();
  isa.barrier_cluster_wait();
  int64_t result = 0;
  const uint32_t last = uint32_t(ctas) - 1;
  if (which == 2) {
    result = cost(kTimes, [&] {
      isa.barrier_cluster_arrive();
      isa.barrier_cluster_wait();
    });
  } else if (which == 3 || which == 4) {
    if (isa.warpid() == 0 && rank == 0)
      result = cost(kTimes, [&] {
        isa.elected(
            [&] { isa.mbarrier_arrive(isa.mapa(bar + 8, last), which == 3 ? Scope::cta : Scope::cluster); });
      });
  } else if (isa.warpid() == 0 && (rank == 0 || rank == last)) {
    const Scope scope = which == 0 ? Scope::cluster : Scope::cta;
    DeviceRecorder recorder{trace};
    const auto record = [&] {
      if (which == 5) recorder.begin(TraceEvent::wait, {.barrier = bar, .stage = 1, .phase = 2}), recorder.end();
    };
    const uint32_t peer = rank == 0 ? last : 0;
    const uint64_t begin = clock_now();
    for (uint32_t i = 0; i < kTimes; ++i) {
      if (rank == 0) record(), isa.elected([&] { isa.mbarrier_arrive(isa.mapa(bar, peer), scope); });
      while (!isa.mbarrier_try_wait_parity(bar, i & 1, scope)) {}
      if (rank != 0) record(), isa.elected([&] { isa.mbarrier_arrive(isa.mapa(bar, peer), scope); });
    }
    result = int64_t(clock_now() - begin) * 16 / kTimes;
  }
  if (threadIdx.x == 0 && rank == 0) out[0] = result;
  isa.barrier_cluster_arrive();
  isa.barrier_cluster_wait();
}

// ---- host

constexpr int kSmemBytes = 128 * 1024;

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

void report(const std::string& what, double cycles) {
  lines.push_back({what, cycles});
  std::printf("  %-72s %9.1f\n", what.c_str(), cycles);
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

/// Boxes of 64 short rows, `row_bytes` wide, as pipeline_copy walks over tiles of 64 rows and 128 columns: warp 0
/// loads and warp 1 stores, four boxes in flight each, side by side; `turns` tiles of each CTA, again and again.
__global__ void short_rows_kernel(int64_t* out, const __grid_constant__ Maps maps, int row_bytes, bool loads,
                                  bool stores, int turns, int reported_warp) {
  Device isa;
  constexpr int kDepth = 4, kBoxes = 512, kRows = 64, kColumns = 128;
  const SmemAddr smem = isa.dynamic_smem(), bar = smem + 2 * kDepth * 4096;
  if (isa.warpid() == 0)
    isa.elected([&] {
      for (int i = 0; i < kDepth; ++i) isa.mbarrier_init(bar + 8 * i, 1);
    });
  isa.fence_mbarrier_init();
  __syncthreads();
  if (isa.warpid() == 0 ? !loads : !stores) return;
  const TensorMap* map = row_bytes == 64 ? &maps.narrow : &maps.narrowest;
  const int step = row_bytes / 2;
  // Where a box lies; the next one by additions alone: a division costs as much as a box.
  struct Place {
    int x, y, tile;
  };
  Place place{int(isa.ctaid().x) % 16 * kColumns, int(isa.ctaid().x) / 16 * kRows, int(isa.ctaid().x)};
  const auto advance = [&](Place& place) {
    place.x += step;
    if (place.x % kColumns != 0) return;
    place.tile += int(gridDim.x);
    if (place.tile >= turns * int(gridDim.x)) place.tile = int(isa.ctaid().x);
    place.x = place.tile % 16 * kColumns;
    place.y = place.tile / 16 * kRows;
  };
  const uint64_t begin = clock_now();
  if (isa.warpid() == 0) {
    const auto issue = [&](int box) {
      isa.elected([&] {
        const SmemAddr full = bar + 8 * uint32_t(box % kDepth);
        isa.mbarrier_arrive_expect_tx(full, uint32_t(kRows * row_bytes), Scope::cta);
        isa.cp_async_bulk_tensor_shared_global(smem + uint32_t(box % kDepth) * 4096, map,
                                               TensorCoords{place.x, place.y}, full);
      });
      advance(place);
    };
    for (int box = 0; box < kDepth; ++box) issue(box);
    for (int box = 0; box < kBoxes; ++box) {
      while (!isa.mbarrier_try_wait_parity(bar + 8 * uint32_t(box % kDepth), uint32_t(box / kDepth) & 1,
                                           Scope::cta)) {}
      if (box + kDepth < kBoxes) issue(box + kDepth);
    }
  } else {
    for (int box = 0; box < kBoxes; ++box) {
      const TensorCoords to{place.x, place.y + (1 << 17)};  // far from what is loaded
      advance(place);
      isa.elected([&] {
        isa.cp_async_bulk_tensor_global_shared(map, to, smem + uint32_t(kDepth + box % kDepth) * 4096);
        isa.cp_async_bulk_commit_group();
      });
      isa.cp_async_bulk_wait_group_read<kDepth - 1>();
    }
    isa.cp_async_bulk_wait_group<0>();
  }
  int64_t each = int64_t(clock_now() - begin) * 16 / kBoxes;
  for (int lane = 0; lane < 32; ++lane) each = max(each, __shfl_sync(~0u, each, lane));
  if (threadIdx.x % 32 == 0 && isa.warpid() == reported_warp) out[size_t{8} * blockIdx.x] = each;
}

/// Trace points of every warp at once, `pause` cycles of dependent work behind each pair: what warps of an SM, and
/// CTAs of the chip, take from one another.
__global__ void recording_kernel(int64_t* out, int pause, DeviceTrace trace) {
  DeviceRecorder recorder{trace};
  __syncthreads();
  uint32_t chain = uint32_t(pause);
  const int64_t each = cost(kTimes, [&] {
    recorder.begin(TraceEvent::wait, {.barrier = 64, .stage = 1, .phase = int(chain)});
    for (int i = 0; i < pause / 4; ++i) asm volatile("mad.lo.u32 %0, %0, 3, 1;" : "+r"(chain));
    recorder.end();
  });
  if (threadIdx.x == 0) out[size_t{8} * blockIdx.x] = each;
}

void launch_cluster(int which, int ctas, const DeviceTrace& trace) {
  cudaLaunchConfig_t config{};
  config.gridDim = {unsigned(ctas), 1, 1};
  config.blockDim = {128, 1, 1};
  config.dynamicSmemBytes = kSmemBytes;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {unsigned(ctas), 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK_CUDA(cudaLaunchKernelEx(&config, cluster_kernel, results, which, ctas, trace));
}

}  // namespace

int main(int argc, char** argv) {
  cudaDeviceProp properties{};
  CHECK_CUDA(cudaGetDeviceProperties(&properties, 0));
  int driver = 0, runtime = 0;
  CHECK_CUDA(cudaDriverGetVersion(&driver));
  CHECK_CUDA(cudaRuntimeGetVersion(&runtime));
  std::printf("%s, sm_%d%d, %d SMs, L2 %d MiB, driver API %d, runtime %d\n", properties.name, properties.major,
              properties.minor, properties.multiProcessorCount, properties.l2CacheSize >> 20, driver, runtime);
  const int sms = properties.multiProcessorCount;
  CHECK_CUDA(cudaMalloc(&results, 2 * 8 * 8 * size_t(sms)));
  void* data = nullptr;
  const size_t data_bytes = size_t{4096} << 18;  // 1 GiB: far more than L2
  CHECK_CUDA(cudaMalloc(&data, data_bytes));
  CHECK_CUDA(cudaMemset(data, 0, data_bytes));
  const Maps maps{encode(data, 64, 128, CU_TENSOR_MAP_SWIZZLE_128B),
                  encode(data, 32, 64, CU_TENSOR_MAP_SWIZZLE_64B), encode(data, 16, 64, CU_TENSOR_MAP_SWIZZLE_32B)};
  for (const void* kernel :
       {reinterpret_cast<const void*>(costs_kernel), reinterpret_cast<const void*>(copies_kernel),
        reinterpret_cast<const void*>(cluster_kernel)})
    CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes));

  DeviceTrace trace{};
  trace.capacity = 4096;
  trace.warps_per_cta = 4;
  CHECK_CUDA(cudaMalloc(&trace.records, sizeof(DeviceTraceRecord) * 8 * 4 * 4096));
  CHECK_CUDA(cudaMalloc(&trace.headers, sizeof(DeviceTraceHeader) * 8 * 4));

  const char* const costs[] = {"clock64 read",
                               "mbarrier.try_wait.parity of a completed phase",
                               "elect + mbarrier.arrive, own CTA",
                               "elect and its branch",
                               "fence.proxy.async.shared::cta",
                               "bar.sync of 4 warps",
                               "bar.warp.sync",
                               "8 x ld.shared.v4 and their use, one warp",
                               "8 x ld.shared.v4 and their use, four warps",
                               "8 x st.shared.v4, one warp",
                               "8 x st.shared.v4, four warps",
                               "8 x st.shared.v4, fence.proxy.async, bar.sync, four warps",
                               "fence.proxy.async, bar.sync, four warps",
                               "cp.async.bulk.wait_group.read with nothing pending",
                               "elect + mbarrier.arrive.expect_tx",
                               "8 x ld.shared.v4, issue only, one warp",
                               "8 x ld.shared.v4 -> 8 x st.shared.v4, one warp",
                               "8 x ld.shared.v4 -> 8 x st.shared.v4, four warps",
                               "trace begin and end, one warp",
                               "trace begin and end, four warps",
                               "mbarrier hand-over between two warps, to and fro",
                               "prefetch.tensormap"};
  std::printf("instructions (cycles)\n");
  for (int which = 0; which < int(sizeof costs / sizeof *costs); ++which)
    report(costs[which],
           measure(1, [&](int) { costs_kernel<<<1, 128, kSmemBytes>>>(results, maps, which, trace); }));

  std::printf("tensor copies, one CTA, input in L2 (cycles)\n");
  const char* const shapes[] = {"128 x 128 B", "64 x 64 B", "64 x 32 B"};
  const char* const kinds[] = {"load: issue to wait returned, ", "store: issue to source readable, ",
                               "store: issue to visible, "};
  for (int which = 0; which < 9; ++which)
    report(std::string(kinds[which / 3]) + shapes[which % 3],
           measure(1, [&](int) { copies_kernel<<<1, 128, kSmemBytes>>>(results, maps, which, 1, 0, 0); }));
  report("arm and issue a load, eight in a row",
         measure(1, [&](int) { copies_kernel<<<1, 128, kSmemBytes>>>(results, maps, 9, 1, 0, 0); }));
  report("issue and commit a store, eight in a row",
         measure(1, [&](int) { copies_kernel<<<1, 128, kSmemBytes>>>(results, maps, 10, 1, 0, 0); }));
  std::printf("tensor copies from HBM (cycles)\n");
  for (int which = 0; which < 3; ++which)
    report(std::string(kinds[0]) + shapes[which] + ", one CTA", measure(1, [&](int i) {
             copies_kernel<<<1, 128, kSmemBytes>>>(results, maps, which, 1, i * kTimes * 128, 128);
           }));
  std::printf("stream of loads, cycles per box\n");
  for (const int ctas : {1, 4, sms})
    for (const int depth : {1, 2, 4})
      for (int which = 11; which < 14; ++which)
        report(std::string(shapes[which - 11]) + ", " + std::to_string(depth) + " in flight, " +
                   std::to_string(ctas) + " CTAs, L2",
               measure(ctas, [&](int) {
                 copies_kernel<<<unsigned(ctas), 128, kSmemBytes>>>(results, maps, which, depth, 0, 0);
               }));
  std::printf("clusters (cycles)\n");
  const char* const cluster[] = {"remote arrive to and fro, release.cluster",
                                 "remote arrive to and fro, release.cta",
                                 "barrier.cluster.arrive and wait",
                                 "issue of a remote arrive, release.cta",
                                 "issue of a remote arrive, release.cluster",
                                 "remote arrive to and fro, release.cta, a trace begin and end before each"};
  for (const int ctas : {2, 4, 8})
    for (int which = 0; which < 6; ++which)
      report(std::string(cluster[which]) + ", cluster of " + std::to_string(ctas),
             measure(1, [&](int) { launch_cluster(which, ctas, trace); }));

  std::printf("streams of boxes of 64 short rows, four in flight, input and output in L2 (cycles per box)\n");
  for (const int row_bytes : {32, 64})
    for (const int ctas : {1, sms, 2 * sms})
      for (const int what : {1, 2, 3}) {
        const std::string shape = "64 x " + std::to_string(row_bytes) + " B, " + std::to_string(ctas) + " CTAs, ";
        for (const int result : {0, 1})
          if (what >> result & 1)
            report(shape + (what == 3 ? "both: " : "") + (result == 0 ? "loads" : "stores"),
                   measure(ctas, [&](int) {
                     short_rows_kernel<<<unsigned(ctas), 64, 40 * 1024>>>(results, maps, row_bytes, (what & 1) != 0,
                                                                          (what & 2) != 0, 4, result);
                   }));
      }
  std::printf("recording, every warp of a CTA (cycles for a begin, dependent instructions and an end)\n");
  constexpr uint32_t kRecordingWarps = 16;
  DeviceTrace many{.records = nullptr, .headers = nullptr, .capacity = 256, .warps_per_cta = kRecordingWarps};
  CHECK_CUDA(cudaMalloc(&many.records, sizeof(DeviceTraceRecord) * 2 * sms * kRecordingWarps * many.capacity));
  CHECK_CUDA(cudaMalloc(&many.headers, sizeof(DeviceTraceHeader) * 2 * sms * kRecordingWarps));
  for (const int pause : {0, 64, 192})
    for (const int ctas : {1, sms, 2 * sms})
      for (const int warps : {1, 4, 5, 8, 10, 16})
        report(std::to_string(warps) + " warps, " + std::to_string(ctas) + " CTAs, " + std::to_string(pause / 4) +
                   " dependent instructions",
               measure(ctas, [&](int) {
                 recording_kernel<<<unsigned(ctas), 32U * unsigned(warps)>>>(results, pause, many);
               }));

  if (argc == 3 && std::string(argv[1]) == "--json") {
    std::FILE* file = std::fopen(argv[2], "w");
    if (!file) return 2;
    std::fprintf(file, "{\n  \"device\": \"%s\"", properties.name);
    for (const Line& line : lines) std::fprintf(file, ",\n  \"%s\": %.2f", line.what.c_str(), line.cycles);
    std::fprintf(file, "\n}\n");
    std::fclose(file);
  }
  return 0;
}
