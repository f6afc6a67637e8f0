// SPDX-License-Identifier: Apache-2.0
// What the Isa's functions cost on this GPU, in SM cycles, called as role code calls them: the [issue], [mbarrier],
// [smem], [tma] and [cluster] entries of models/profiles/h200.toml come from here.  Runs on sm_90 and later; no
// tcgen05.
//
//   instruction_costs [--json FILE]
#include "costs.cuh"
#include "kernels/epilogue/strip_store.h"

namespace {

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
  const int sms = open_device();
  const Maps maps = encode_maps();
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

  return write_json(argc, argv);
}
