// SPDX-License-Identifier: Apache-2.0
/// What a warp spends on synchronisation instructions, how soon a waiter is awake, and what thread and cluster
/// barriers cost.  Times are SM cycles (clock64).
#include "harness.h"
#include "ptx.cuh"

using namespace ptx;
using hw::Buffer;

namespace {

constexpr int kReps = 200;
constexpr int kUnroll = 16;

enum class Op {
  nothing,
  clock64,
  globaltimer,
  elect_branch,
  fence_proxy_async_smem,
  fence_mbarrier_init,
  mbarrier_init,
  arrive,
  arrive_expect,
  try_wait_true,
  test_wait_true,
  mapa,
  syncwarp,
  expect_tx
};

template <Op kOp>
__global__ void issue_cost(i64* out) {
  __shared__ alignas(8) u64 bars[kUnroll + 1];
  const u32 bar = smem(bars);
  if (threadIdx.x < kUnroll + 1) mbar_init(bar + 8 * threadIdx.x, 1u << 19);
  __syncwarp();
  u32 sink = 0;
  const bool one = kOp == Op::mbarrier_init || kOp == Op::arrive || kOp == Op::arrive_expect ||
                   kOp == Op::try_wait_true || kOp == Op::test_wait_true || kOp == Op::expect_tx ||
                   kOp == Op::fence_mbarrier_init;
  if (!one || threadIdx.x == 0) {
    for (int r = 0; r < kReps; ++r) {
      if (!one) __syncwarp();
      const i64 t0 = now();
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) {
        if constexpr (kOp == Op::clock64) sink += static_cast<u32>(now());
        if constexpr (kOp == Op::globaltimer) sink += static_cast<u32>(globaltimer());
        if constexpr (kOp == Op::elect_branch) {
          if (elect()) asm volatile("st.shared.u32 [%0], %1;" ::"r"(bar + 8 * kUnroll + 4), "r"(i) : "memory");
        }
        if constexpr (kOp == Op::fence_proxy_async_smem) fence_proxy_async_smem();
        if constexpr (kOp == Op::fence_mbarrier_init) fence_mbarrier_init();
        if constexpr (kOp == Op::mbarrier_init) mbar_init(bar + 8 * i, 1);
        if constexpr (kOp == Op::arrive) arrive(bar);
        if constexpr (kOp == Op::arrive_expect) arrive_expect(bar, 16);
        if constexpr (kOp == Op::expect_tx) expect_tx(bar, 1);
        if constexpr (kOp == Op::try_wait_true) sink += try_parity(bar, 1);
        if constexpr (kOp == Op::test_wait_true) sink += test_parity(bar, 1);
        if constexpr (kOp == Op::mapa) sink += mapa(bar + sink, 0);
        if constexpr (kOp == Op::syncwarp) asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
      }
      const i64 t1 = now();
      if (threadIdx.x == 0) out[r] = t1 - t0;
    }
  }
  if (threadIdx.x == 0) out[kReps] = sink;
}

template <Op kOp>
void issue(hw::Out& out, const char* id, const char* what) {
  Buffer<i64> base(kReps + 1), b(kReps + 1);
  hw::run("baseline", issue_cost<Op::nothing>, 1, 32, 0, 1, base.get());
  hw::run(what, issue_cost<kOp>, 1, 32, 0, 1, b.get());
  auto v0 = base.host(), v = b.host();
  v0.pop_back();
  v.pop_back();
  v0.erase(v0.begin(), v0.begin() + 8);
  v.erase(v.begin(), v.begin() + 8);
  if (kOp == Op::nothing) return out.samples(id, what, "cyc", hw::to_double(v));
  out.samples(id, what, "cyc", hw::to_double(v, 1.0 / kUnroll, hw::median(hw::to_double(v0)) / kUnroll));
}

// ---- failed try_wait, timers ------------------------------------------------------------------------------------

__global__ void failed_try_wait(i64* cycles, u64* ns, int reps, int hint) {
  __shared__ alignas(8) u64 storage;
  const u32 bar = smem(&storage);
  mbar_init(bar, 1);
  for (int r = 0; r < reps; ++r) {
    const u64 g0 = globaltimer();
    const i64 t0 = now();
    const bool done = hint < 0 ? try_parity(bar, 0) : try_parity_ns(bar, 0, static_cast<u32>(hint));
    const i64 t1 = now();
    cycles[r] = done ? -1 : t1 - t0;
    ns[r] = globaltimer() - g0;
  }
}
__global__ void timer_step(u64* out, int n, i64* clocks) {
  const i64 t0 = now();
  const u64 g0 = globaltimer();
  u64 last = g0;
  int k = 0;
  const i64 begin = now();
  while (k < n && now() - begin < kGiveUp) {
    const u64 g = globaltimer();
    if (g != last) {
      out[k++] = g - last;
      last = g;
    }
  }
  while (now() - begin < 2'000'000) {}
  clocks[1] = static_cast<i64>(globaltimer() - g0);
  clocks[0] = now() - t0;
}

// ---- hand-over between warps of a CTA ---------------------------------------------------------------------------

enum class How { try_wait_lane, try_wait_warp, test_wait_lane };

template <How kHow>
__device__ bool wait_as(u32 bar, u32 parity) {
  if constexpr (kHow == How::test_wait_lane) {
    const i64 t0 = now();
    while (!test_parity(bar, parity))
      if (now() - t0 > kGiveUp) return false;
    return true;
  }
  return wait(bar, parity);
}

/// Warp 0 arrives, warp 1 wakes.  out[r] = waiter's clock after the wait - arriver's clock before the arrive.
template <How kHow>
__global__ void handover(i64* out, int reps, i64* timeout) {
  __shared__ alignas(8) u64 bars[2];
  __shared__ volatile i64 sent;
  const u32 go = smem(bars), back = smem(bars + 1);
  if (threadIdx.x == 0) {
    mbar_init(go, 1);
    mbar_init(back, 2);  // both warps, once the numbers are safe
    sent = 0;
  }
  __syncthreads();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0 && lane == 0) {
    for (int r = 0; r < reps; ++r) {
      spin(700);  // the waiter sleeps by now
      const i64 t0 = now();
      arrive(go);
      sent = t0;
      arrive(back);
      if (!wait(back, r & 1)) {
        *timeout = 1;
        break;
      }
    }
  } else if (warp == 1 && (lane == 0 || kHow == How::try_wait_warp)) {
    for (int r = 0; r < reps; ++r) {
      if (!wait_as<kHow>(go, r & 1)) {
        *timeout = 1;
        break;
      }
      const i64 t1 = now();
      if (lane == 0) {
        while (sent == 0 && now() - t1 < kGiveUp) {}
        out[r] = t1 - sent;
        sent = 0;
        __threadfence_block();
        arrive(back);
      }
      if constexpr (kHow == How::try_wait_warp) __syncwarp();
    }
  }
}

/// Two threads of two warps throw the ball to and fro; out[r] = one round trip.
__global__ void local_pingpong(i64* out, int reps, i64* timeout) {
  __shared__ alignas(8) u64 bars[2];
  const u32 ping = smem(bars), pong = smem(bars + 1);
  if (threadIdx.x == 0) {
    mbar_init(ping, 1);
    mbar_init(pong, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int r = 0; r < reps; ++r) {
      const i64 t0 = now();
      arrive(ping);
      if (!wait(pong, r & 1)) {
        *timeout = 1;
        break;
      }
      out[r] = now() - t0;
    }
  } else if (threadIdx.x == 32) {
    for (int r = 0; r < reps; ++r) {
      if (!wait(ping, r & 1)) {
        *timeout = 1;
        break;
      }
      arrive(pong);
    }
  }
}

enum class Remote { release_cluster, default_scope, relaxed_cluster };

template <Remote kForm>
__device__ void arrive_as(u32 a) {
  if constexpr (kForm == Remote::release_cluster) arrive_remote_release(a);
  if constexpr (kForm == Remote::default_scope) arrive_remote(a);
  if constexpr (kForm == Remote::relaxed_cluster) arrive_remote_relaxed(a);
}

/// Rank 0 and rank `peer` of a cluster; each arrives on the other's barrier.
template <Remote kForm>
__global__ void cluster_pingpong(i64* out, int reps, int peer, i64* timeout) {
  __shared__ alignas(8) u64 storage;
  const u32 bar = smem(&storage), rank = cluster_ctarank();
  if (threadIdx.x == 0) {
    mbar_init(bar, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  cluster_sync();
  if (threadIdx.x == 0 && (rank == 0 || rank == static_cast<u32>(peer))) {
    const u32 other = mapa(bar, rank == 0 ? static_cast<u32>(peer) : 0);
    for (int r = 0; r < reps; ++r) {
      const i64 t0 = now();
      if (rank == 0) arrive_as<kForm>(other);
      const bool ok = kForm == Remote::release_cluster ? wait_cluster(bar, r & 1) : wait(bar, r & 1);
      if (!ok) {
        *timeout = 1;
        break;
      }
      if (rank == 0)
        out[r] = now() - t0;
      else
        arrive_as<kForm>(other);
    }
  }
  __syncthreads();
  cluster_sync();
}

void report(hw::Out& out, const char* id, const char* what, Buffer<i64>& b, Buffer<i64>& timeout,
            double scale = 1.0) {
  if (timeout.host()[0] != 0) return out.text(id, what, "timeout");
  auto v = b.host();
  v.erase(v.begin(), v.begin() + 8);
  out.samples(id, what, "cyc", hw::to_double(v, scale));
}

// ---- thread and cluster barriers --------------------------------------------------------------------------------

__global__ void bar_cost(i64* out, int reps, int threads) {
  if (static_cast<int>(threadIdx.x) >= threads) return;
  for (int r = 0; r < reps; ++r) {
    bar_sync(1, threads);
    const i64 t0 = now();
#pragma unroll
    for (int i = 0; i < 8; ++i) bar_sync(1, threads);
    const i64 t1 = now();
    if (threadIdx.x == 0) out[r] = t1 - t0;
  }
}
__global__ void syncthreads_cost(i64* out, int reps) {
  for (int r = 0; r < reps; ++r) {
    __syncthreads();
    const i64 t0 = now();
#pragma unroll
    for (int i = 0; i < 8; ++i) __syncthreads();
    const i64 t1 = now();
    if (threadIdx.x == 0) out[r] = t1 - t0;
  }
}
__global__ void cluster_barrier_cost(i64* out, int reps, bool relaxed) {
  for (int r = 0; r < reps; ++r) {
    cluster_sync();
    const i64 t0 = now();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (relaxed)
        cluster_arrive_relaxed();
      else
        cluster_arrive();
      cluster_wait();
    }
    const i64 t1 = now();
    if (threadIdx.x == 0 && blockIdx.x == 0) out[r] = t1 - t0;
  }
}

}  // namespace

HW_TEST("sync.issue") {
  issue<Op::nothing>(out, "issue.empty", "two clock64 reads back to back (difference)");
  issue<Op::clock64>(out, "issue.clock64", "clock64 read");
  issue<Op::globaltimer>(out, "issue.globaltimer", "%globaltimer read");
  issue<Op::elect_branch>(out, "issue.elect", "elect.sync, branch and one st.shared");
  issue<Op::syncwarp>(out, "issue.warp_sync", "bar.warp.sync");
  issue<Op::mapa>(out, "issue.mapa", "mapa (dependent)");
  issue<Op::fence_proxy_async_smem>(out, "issue.fence_async",
                                    "fence.proxy.async.shared::cta, nothing outstanding, whole warp");
  issue<Op::fence_mbarrier_init>(out, "issue.fence_init", "fence.mbarrier_init.release.cluster, one lane");
  issue<Op::mbarrier_init>(out, "issue.mbarrier_init", "mbarrier.init, one lane");
  issue<Op::arrive>(out, "issue.mbarrier_arrive", "mbarrier.arrive local, one lane, result dropped");
  issue<Op::arrive_expect>(out, "issue.arrive_expect", "mbarrier.arrive.expect_tx, one lane, result dropped");
  issue<Op::expect_tx>(out, "issue.expect_tx", "mbarrier.expect_tx, one lane");
  issue<Op::try_wait_true>(out, "issue.try_wait", "mbarrier.try_wait that succeeds at once, one lane");
  issue<Op::test_wait_true>(out, "issue.test_wait", "mbarrier.test_wait that succeeds, one lane");
}

HW_TEST("sync.timers") {
  Buffer<u64> steps(200);
  Buffer<i64> clocks(2);
  hw::run("timer", timer_step, 1, 1, 0, 1, steps.get(), 200, clocks.get());
  std::vector<double> v;
  for (const u64 s : steps.host()) v.push_back(static_cast<double>(s));
  out.samples("timer.globaltimer_step", "%globaltimer step", "ns", v);
  const auto c = clocks.host();
  out.value("timer.sm_clock_ghz", "SM cycles per %globaltimer ns over 2 M cycles", "GHz",
            static_cast<double>(c[0]) / static_cast<double>(c[1]));
}

HW_TEST("sync.suspend") {
  constexpr int n = 12;
  for (const int hint : {-1, 0, 1000, 20'000, 100'000, 1'000'000}) {
    Buffer<i64> cycles(n);
    Buffer<u64> ns(n);
    hw::run("failed try_wait", failed_try_wait, 1, 1, 0, 1, cycles.get(), ns.get(), n, hint);
    const std::string name = hint < 0 ? "none" : hw::format("%d", hint);
    out.samples("suspend.hint_" + name, "failed try_wait until it returns, hint ns " + name, "cyc",
                hw::to_double(cycles.host()));
    std::vector<double> v;
    for (const u64 s : ns.host()) v.push_back(static_cast<double>(s));
    out.samples("suspend.hint_" + name + "_ns", "the same on %globaltimer", "ns", v);
  }
}

HW_TEST("sync.handover") {
  Buffer<i64> timeout(1);
  Buffer<i64> b(kReps);
  hw::run("handover", handover<How::try_wait_lane>, 1, 64, 0, 1, b.get(), kReps, timeout.get());
  report(out, "handover.local", "arrive -> other warp awake, one lane in try_wait (with one clock read)", b,
         timeout);
  hw::run("handover", handover<How::try_wait_warp>, 1, 64, 0, 1, b.get(), kReps, timeout.get());
  report(out, "handover.local_warp", "arrive -> other warp awake, 32 lanes in try_wait", b, timeout);
  hw::run("handover", handover<How::test_wait_lane>, 1, 64, 0, 1, b.get(), kReps, timeout.get());
  report(out, "handover.local_test_wait", "arrive -> other warp sees it, polling with test_wait", b, timeout);
  hw::run("pingpong", local_pingpong, 1, 64, 0, 1, b.get(), kReps, timeout.get());
  report(out, "handover.local_one_way", "half a ping-pong between two warps", b, timeout, 0.5);
}

HW_TEST("sync.cluster_handover") {
  Buffer<i64> timeout(1);
  Buffer<i64> b(kReps);
  for (const int size : {2, 4}) {
    const int peer = size - 1;
    const std::string tail = hw::format("_%d", size);
    const std::string where = hw::format(", half a ping-pong, ranks 0-%d of %d", peer, size);
    hw::run("pp", cluster_pingpong<Remote::release_cluster>, size, 32, 0, size, b.get(), kReps, peer,
            timeout.get());
    report(out, ("handover.release_cluster" + tail).c_str(), ("arrive.release.cluster" + where).c_str(), b, timeout,
           0.5);
    hw::run("pp", cluster_pingpong<Remote::default_scope>, size, 32, 0, size, b.get(), kReps, peer, timeout.get());
    report(out, ("handover.default_scope" + tail).c_str(), ("arrive, no sem or scope" + where).c_str(), b, timeout,
           0.5);
    hw::run("pp", cluster_pingpong<Remote::relaxed_cluster>, size, 32, 0, size, b.get(), kReps, peer,
            timeout.get());
    report(out, ("handover.relaxed_cluster" + tail).c_str(), ("arrive.relaxed.cluster" + where).c_str(), b, timeout,
           0.5);
  }
}

HW_TEST("sync.barriers") {
  Buffer<i64> none(1);
  for (const int threads : {32, 64, 128, 160, 256}) {
    Buffer<i64> b(kReps);
    hw::run("bar.sync", bar_cost, 1, 256, 0, 1, b.get(), kReps, threads);
    report(out, hw::format("bar_sync.%d", threads).c_str(),
           hw::format("bar.sync of %d threads, all ready", threads).c_str(), b, none, 1.0 / 8);
  }
  Buffer<i64> s(kReps);
  hw::run("syncthreads", syncthreads_cost, 1, 256, 0, 1, s.get(), kReps);
  report(out, "bar_sync.syncthreads_256", "__syncthreads of 256 threads", s, none, 1.0 / 8);
  for (const int size : {1, 2, 4, 8})
    for (const bool relaxed : {false, true}) {
      Buffer<i64> b(kReps);
      hw::run("cluster barrier", cluster_barrier_cost, size, 128, 0, size, b.get(), kReps, relaxed);
      report(out, hw::format("cluster_barrier.%d%s", size, relaxed ? "_relaxed" : "").c_str(),
             hw::format("barrier.cluster.arrive%s + wait, %d CTAs of 128 threads", relaxed ? ".relaxed" : "", size)
                 .c_str(),
             b, none, 1.0 / 4);
    }
}
