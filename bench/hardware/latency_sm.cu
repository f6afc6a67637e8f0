// SPDX-License-Identifier: Apache-2.0
/// Shared-memory access costs, launch behaviour (CTA turnover, clusters, cold descriptors) and the price of a trace
/// event.
#include <algorithm>
#include <map>

#include "harness.h"
#include "ptx.cuh"

using namespace ptx;
using hw::Buffer;

namespace {

constexpr int kReps = 100;
constexpr int kBig = 200 * 1024;

extern __shared__ char dynamic_smem[];

// ---- shared memory ----------------------------------------------------------------------------------------------

enum class Access { load_dependent, load, store, store_load, stmatrix };
/// How the 32 lanes' 16-byte accesses fall on the banks.  Rows are 128 bytes, lane l accesses row l.
enum class Pattern { consecutive, swizzled_rows, same_column };

template <Access kAccess>
__global__ void smem_cost(i64* out, Pattern pattern) {
  __shared__ alignas(1024) uint4 data[2048];
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) data[i] = {0, 0, 0, 0};
  __syncthreads();
  const u32 lane = threadIdx.x % 32, base = smem(data) + threadIdx.x / 32 * 4096;
  const u32 at = base + (pattern == Pattern::consecutive     ? lane * 16
                         : pattern == Pattern::swizzled_rows ? lane * 128 + (lane & 7) * 16
                                                             : lane * 128);
  uint4 v = {0, 0, 0, 0};
  u32 offset = 0;
  for (int r = 0; r < kReps; ++r) {
    __syncthreads();
    const i64 t0 = now();
    uint4 got[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      if constexpr (kAccess == Access::load_dependent) offset = ld_shared_v4(at + offset).x;
      if constexpr (kAccess == Access::load) got[i] = ld_shared_v4(at);
      if constexpr (kAccess == Access::store) st_shared_v4(at, v);
      if constexpr (kAccess == Access::store_load) {
        st_shared_v4(at, v);
        v = ld_shared_v4(at);
      }
      if constexpr (kAccess == Access::stmatrix) stmatrix_x4(at, v);
    }
    if constexpr (kAccess == Access::load) {
#pragma unroll
      for (int i = 0; i < 16; ++i) offset ^= got[i].x;
    }
    if constexpr (kAccess == Access::store || kAccess == Access::stmatrix) offset = ld_shared(at + offset);
    if constexpr (kAccess == Access::store_load) offset = v.x;
    asm volatile("" ::"r"(offset) : "memory");
    if (offset != 0) out[0] = 0;  // waits for the last access
    const i64 t1 = now();
    if (threadIdx.x == 0) out[r] = t1 - t0;
  }
}

template <Access kAccess>
void smem(hw::Out& out, const char* id, const char* what, Pattern p, int warps) {
  Buffer<i64> b(kReps);
  hw::run(what, smem_cost<kAccess>, 1, warps * 32, 0, 1, b.get(), p);
  auto v = b.host();
  v.erase(v.begin(), v.begin() + 4);
  static const char* names[] = {"consecutive", "rows_swizzled", "rows_conflict"};
  const std::string pattern = names[static_cast<int>(p)];
  out.samples(hw::format("smem.%s.%s.%dw", id, pattern.c_str(), warps),
              hw::format("%s, %s, %d warps, per instruction of one warp", what, pattern.c_str(), warps), "cyc",
              hw::to_double(v, 1.0 / 16));
}

// ---- launch -----------------------------------------------------------------------------------------------------

struct Life {
  u32 sm, pad;
  u64 begin_ns, end_ns;
  i64 begin, end;
};

__global__ void lives(Life* out, int cycles) {
  const i64 begin = now();
  const u64 begin_ns = globaltimer();
  if (cycles > 0) spin(cycles + static_cast<int>(blockIdx.x * 37 % 16) * 200);
  out[blockIdx.x] = {smid(), 0, begin_ns, globaltimer(), begin, now()};
}

/// first load, second load, third load of each CTA with a tensor map of its own.
__global__ void cold_map(const CUtensorMap* maps, int first, bool prefetch, i64* out, i64* timeout) {
  __shared__ alignas(8) u64 storage;
  const u32 bar = ptx::smem(&storage), dst = (ptx::smem(dynamic_smem) + 1023) & ~1023u;
  const CUtensorMap* map = maps + first + blockIdx.x;
  mbar_init(bar, 1);
  fence_mbarrier_init();
  if (prefetch) prefetch_tensormap(map);
  spin(4000);
  for (int r = 0; r < 3; ++r) {
    const i64 t0 = now();
    arrive_expect(bar, 8192);
    load_2d(dst, map, 0, 0, bar);
    if (!wait(bar, r & 1)) {
      *timeout = 1;
      return;
    }
    out[blockIdx.x * 3 + r] = now() - t0;
  }
}
__global__ void param_map(const __grid_constant__ CUtensorMap map, bool prefetch, i64* out, i64* timeout) {
  __shared__ alignas(8) u64 storage;
  const u32 bar = ptx::smem(&storage), dst = (ptx::smem(dynamic_smem) + 1023) & ~1023u;
  mbar_init(bar, 1);
  fence_mbarrier_init();
  if (prefetch) {
    prefetch_tensormap(&map);
    spin(4000);
  }
  for (int r = 0; r < 3; ++r) {
    const i64 t0 = now();
    arrive_expect(bar, 8192);
    load_2d(dst, &map, 0, 0, bar);
    if (!wait(bar, r & 1)) {
      *timeout = 1;
      return;
    }
    out[blockIdx.x * 3 + r] = now() - t0;
  }
}

// ---- trace events -----------------------------------------------------------------------------------------------

/// The writer of our trace: lane 0 reads both clocks and writes two 16-byte words.
__global__ void events(uint4* trace, int n, i64* out, bool with_globaltimer) {
  if (threadIdx.x % 32 != 0) return;
  uint4* at = trace + static_cast<std::size_t>(threadIdx.x / 32) * 2 * static_cast<std::size_t>(n);
  const i64 t0 = now();
  for (int i = 0; i < n; ++i) {
    const u64 g = with_globaltimer ? globaltimer() : 0;
    const i64 c = now();
    at[2 * i] = {static_cast<u32>(g), static_cast<u32>(g >> 32), static_cast<u32>(c), static_cast<u32>(c >> 32)};
    at[2 * i + 1] = {static_cast<u32>(i), threadIdx.x, 7, 9};
  }
  out[threadIdx.x / 32] = now() - t0;
}

}  // namespace

HW_TEST("smem.access") {
  using P = Pattern;
  for (const P p : {P::consecutive, P::swizzled_rows, P::same_column}) {
    for (const int warps : {1, 4}) {
      smem<Access::load>(out, "load_v4", "ld.shared.v4 x 16", p, warps);
      smem<Access::store>(out, "store_v4", "st.shared.v4 x 16 (+ one load)", p, warps);
      smem<Access::stmatrix>(out, "stmatrix_x4", "stmatrix.x4 x 16 (+ one load)", p, warps);
    }
    smem<Access::load_dependent>(out, "load_latency", "ld.shared.v4 -> address of the next", p, 1);
    smem<Access::store_load>(out, "store_load", "st.shared.v4 -> ld.shared.v4 -> next st", p, 1);
  }
}

HW_TEST("launch.turnover") {
  const int sms = hw::sm_count();
  for (const int cluster : {1, 2, 4}) {
    const int grid = sms / cluster * cluster * 5;
    Buffer<Life> b(static_cast<std::size_t>(grid));
    for (int i = 0; i < 2; ++i) hw::run("lives", lives, grid, 128, kBig, cluster, b.get(), 20'000);
    std::map<u32, std::vector<Life>> by_sm;
    u64 first = ~u64{0};
    for (const Life& l : b.host()) {
      by_sm[l.sm].push_back(l);
      first = std::min(first, l.begin_ns);
    }
    std::vector<double> gap_cycles, gap_ns, start;
    for (auto& [sm, v] : by_sm) {
      std::sort(v.begin(), v.end(), [](const Life& a, const Life& c) { return a.begin < c.begin; });
      start.push_back(static_cast<double>(v[0].begin_ns - first));
      for (std::size_t i = 1; i < v.size(); ++i) {
        gap_cycles.push_back(static_cast<double>(v[i].begin - v[i - 1].end));
        gap_ns.push_back(static_cast<double>(static_cast<i64>(v[i].begin_ns - v[i - 1].end_ns)));
      }
    }
    const std::string tail = hw::format("cluster%d", cluster), of = hw::format(", clusters of %d", cluster);
    out.samples("launch.gap_cycles." + tail, "CTA's last instruction -> next CTA's first, same SM" + of, "cyc",
                gap_cycles);
    out.samples("launch.gap_ns." + tail, "the same on %globaltimer" + of, "ns", gap_ns);
    out.samples("launch.first_start." + tail, "first instruction on an SM, after the earliest SM" + of, "ns", start,
                hw::format("max %.0f, %zu SMs used", *std::max_element(start.begin(), start.end()), by_sm.size()));
  }
}

HW_TEST("launch.clusters") {
  for (const int cluster : {1, 2, 4, 8, 16}) {
    cudaLaunchConfig_t config{};
    config.blockDim = dim3(128);
    config.gridDim = dim3(static_cast<unsigned>(cluster * 200));
    config.dynamicSmemBytes = kBig;
    cudaLaunchAttribute a{};
    a.id = cudaLaunchAttributeClusterDimension;
    a.val.clusterDim.x = static_cast<unsigned>(cluster);
    a.val.clusterDim.y = a.val.clusterDim.z = 1;
    config.attrs = &a;
    config.numAttrs = 1;
    hw::check(cudaFuncSetAttribute(lives, cudaFuncAttributeMaxDynamicSharedMemorySize, kBig), "smem");
    hw::check(cudaFuncSetAttribute(lives, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "non-portable");
    int n = -1;
    if (cudaOccupancyMaxActiveClusters(&n, lives, &config) != cudaSuccess) cudaGetLastError();
    out.value(hw::format("launch.max_clusters.%d", cluster),
              hw::format("clusters of %d CTAs resident at once, 1 CTA per SM", cluster), "", n);
    if (n <= 0) continue;
    Buffer<Life> b(static_cast<std::size_t>(n * cluster));
    hw::run("lives", lives, n * cluster, 128, kBig, cluster, b.get(), 50'000);
    const auto v = b.host();
    std::string text;
    int neighbours = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      text += hw::format("%s%u", i == 0 ? "" : i % static_cast<std::size_t>(cluster) == 0 ? " | " : ",", v[i].sm);
      neighbours += i % 2 == 1 && v[i].sm / 2 == v[i - 1].sm / 2;
    }
    out.text(hw::format("launch.placement.%d", cluster),
             hw::format("SM ids in rank order; %d of %zu rank pairs share smid / 2", neighbours, v.size() / 2),
             text);
  }
}

HW_TEST("launch.cold_descriptor") {
  const int sms = hw::sm_count();
  Buffer<char> data(1 << 20, 1);
  hw::MapSpec spec;
  spec.dims = {64, 4096};
  spec.strides = {128};
  spec.box = {64, 64};
  const CUtensorMap map = hw::must_encode(spec, data.get());
  for (const int grid : {1, sms})
    for (const bool prefetch : {false, true})
      for (const bool param : {false, true}) {
        std::vector<double> seen[3];
        for (int launch = 0; launch < 8; ++launch) {
          Buffer<CUtensorMap> maps(static_cast<std::size_t>(sms));
          maps.put(std::vector<CUtensorMap>(static_cast<std::size_t>(sms), map));
          Buffer<i64> b(static_cast<std::size_t>(3 * grid)), timeout(1);
          if (param)
            hw::run("param map", param_map, grid, 1, kBig, 1, map, prefetch, b.get(), timeout.get());
          else
            hw::run("cold map", cold_map, grid, 1, kBig, 1, maps.get(), 0, prefetch, b.get(), timeout.get());
          if (timeout.host()[0] != 0)
            return out.text("launch.cold_map", "first load with a cold descriptor", "timeout");
          const auto v = b.host();
          for (std::size_t i = 0; i < v.size(); ++i) seen[i % 3].push_back(static_cast<double>(v[i]));
        }
        const char* nth[] = {"first", "second", "third"};
        for (int r = 0; r < 3; ++r)
          out.samples(hw::format("launch.cold_map.%s.%dsm.%s.%s", param ? "param" : "global", grid,
                                 prefetch ? "prefetch" : "cold", nth[r]),
                      hw::format("%s 8 KiB load of a CTA, map in %s%s, %d SMs", nth[r],
                                 param ? "parameters" : "global memory", prefetch ? ", prefetched" : "", grid),
                      "cyc", seen[r]);
      }
}

HW_TEST("trace.event") {
  constexpr int n = 256;
  for (const int warps : {1, 4, 8})
    for (const bool timer : {true, false}) {
      Buffer<uint4> trace(static_cast<std::size_t>(2 * n * 8));
      Buffer<i64> b(8);
      for (int i = 0; i < 2; ++i) hw::run("events", events, 1, warps * 32, 0, 1, trace.get(), n, b.get(), timer);
      auto v = b.host();
      v.resize(static_cast<std::size_t>(warps));
      out.samples(hw::format("trace.event.%dw%s", warps, timer ? "" : ".clock_only"),
                  hw::format("one 32-byte event (%sclock64, two 16-byte stores), %d warps",
                             timer ? "%globaltimer, " : "", warps),
                  "cyc", hw::to_double(v, 1.0 / n));
    }
}
