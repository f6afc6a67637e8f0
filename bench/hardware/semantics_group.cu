// SPDX-License-Identifier: Apache-2.0
/// Bulk groups: what wait_group counts, order of completion, `.read` against full completion, reuse of shared
/// memory, exits with pending stores, and what a missing fence.proxy.async shows.
#include <algorithm>

#include "harness.h"
#include "ptx.cuh"

using namespace ptx;
using hw::Buffer;

namespace {

constexpr int kSmem = 200 * 1024;
extern __shared__ char dynamic_smem[];
__device__ u32 base_address() { return (smem(dynamic_smem) + 1023) & ~1023u; }

constexpr int kSmall = 16, kLarge = 160 * 1024;

enum Case {
  kNoGroups,
  kOneSmall0,
  kOneLarge0,
  kOneLargeRead0,
  kSmallLarge1,
  kLargeSmall1,
  kLargeSmallRead1,
  kLargeEmpty1,
  kLargeEmpty0,
  kLargeUncommitted0,
  kOtherThread,
  kCases
};

/// *out = cycles of the wait alone, after the copies and commits were issued; thread 1 is "another thread".
__device__ void group_wait_once(char* to, int which, i64* out) {
  const u32 src = base_address();
  if (which == kOtherThread) {
    if (threadIdx.x == 0) {
      bulk_store(to, src, kLarge);
      commit_group();
    }
    __syncwarp();
    if (threadIdx.x == 1) {
      const i64 t0 = now();
      wait_group<0>();
      *out = now() - t0;
    }
    __syncwarp();
    if (threadIdx.x == 0) wait_group<0>();
    return;
  }
  if (threadIdx.x != 0) return;
  const bool small_first = which == kOneSmall0 || which == kSmallLarge1;
  if (which != kNoGroups) {
    bulk_store(to, src, small_first ? kSmall : kLarge);
    if (which != kLargeUncommitted0) commit_group();
  }
  if (which == kSmallLarge1 || which == kLargeSmall1 || which == kLargeSmallRead1) {
    bulk_store(to + kLarge, src + (kLarge), which == kSmallLarge1 ? kSmall * 1024 : kSmall);
    commit_group();
  }
  if (which == kLargeEmpty1 || which == kLargeEmpty0) commit_group();
  const i64 t0 = now();
  if (which == kOneLargeRead0)
    wait_group_read<0>();
  else if (which == kSmallLarge1 || which == kLargeSmall1 || which == kLargeEmpty1)
    wait_group<1>();
  else if (which == kLargeSmallRead1)
    wait_group_read<1>();
  else
    wait_group<0>();
  *out = now() - t0;
  if (which == kLargeUncommitted0) commit_group();
  wait_group<0>();
}

/// Three times, so that the last one does not wait for its instructions.
__global__ void group_waits(char* to, int which, i64* out) {
#pragma unroll 1
  for (int i = 0; i < 3; ++i) {
    group_wait_once(to, which, out);
    __syncwarp();
  }
}

/// Each iteration fills 16 KiB with its number, stores it, waits as asked and overwrites it at once, last rows
/// first.
__global__ void overwrite(uint4* to, int iterations, bool wait_for_read) {
  const u32 src = base_address();
  constexpr u32 bytes = 16 * 1024;
  for (int i = 0; i < iterations; ++i) {
    for (u32 at = threadIdx.x * 16; at < bytes; at += blockDim.x * 16) {
      const u32 v = static_cast<u32>(i) + 1;
      st_shared_v4(src + at, {v, v, v, v});
    }
    fence_proxy_async_smem();
    __syncthreads();
    if (threadIdx.x < 32) {
      if (threadIdx.x == 0) {
        bulk_store(to + static_cast<std::size_t>(i) * (bytes / 16), src, bytes);
        commit_group();
        if (wait_for_read) wait_group_read<0>();
      }
      __syncwarp();
      for (int row = bytes / 512 - 1; row >= 0; --row)
        st_shared_v4(src + static_cast<u32>(row) * 512 + threadIdx.x * 16, {0xdead, 0xdead, 0xdead, 0xdead});
      if (threadIdx.x == 0) wait_group<0>();
    }
    __syncthreads();
  }
}

/// Stores and leaves: 0 = commit, no wait; 1 = not even a commit.
__global__ void leave(uint4* to, int how) {
  const u32 src = base_address();
  constexpr u32 bytes = 64 * 1024;
  for (u32 at = threadIdx.x * 16; at < bytes; at += blockDim.x * 16) st_shared_v4(src + at, {7, 7, 7, blockIdx.x});
  fence_proxy_async_smem();
  __syncthreads();
  if (threadIdx.x == 0) {
    bulk_store(to + static_cast<std::size_t>(blockIdx.x) * (bytes / 16), src, bytes);
    if (how == 0) commit_group();
  }
}

enum class Fence { writers, issuer_only, none, none_same_thread };

/// st.shared, (fence), TMA store: each iteration writes its own number to its own place, so old data shows.
template <Fence kFence>
__global__ void fences(uint4* to, int iterations) {
  const u32 src = base_address();
  constexpr u32 bytes = 2048;
  for (int i = 0; i < iterations; ++i) {
    const u32 v = static_cast<u32>(i) + 1;
    if constexpr (kFence == Fence::none_same_thread) {
      if (threadIdx.x == 0)
        for (u32 at = 0; at < bytes; at += 16) st_shared_v4(src + at, {v, v, v, v});
    } else {
      st_shared_v4(src + threadIdx.x * 16, {v, v, v, v});
      if constexpr (kFence == Fence::writers) fence_proxy_async_smem();
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      if constexpr (kFence == Fence::issuer_only) fence_proxy_async_smem();
      bulk_store(to + static_cast<std::size_t>(i) * (bytes / 16), src, bytes);
      commit_group();
      wait_group<0>();
    }
    __syncthreads();
  }
}

/// Iterations with at least one 16-byte word that is not the iteration's number + 1.
int stale(const Buffer<uint4>& b, int iterations, int words) {
  const auto v = b.host();
  int n = 0;
  for (int i = 0; i < iterations; ++i) {
    bool bad = false;
    for (int w = 0; w < words; ++w) bad |= v[static_cast<std::size_t>(i * words + w)].x != static_cast<u32>(i) + 1;
    n += bad;
  }
  return n;
}

template <Fence kFence>
std::string count_stale() {
  constexpr int iterations = 20'000;
  Buffer<uint4> to(static_cast<std::size_t>(iterations) * 128);
  hw::run("fences", fences<kFence>, 1, 128, kSmem, 1, to.get(), iterations);
  return hw::format("%d of %d stale", stale(to, iterations, 128), iterations);
}

}  // namespace

HW_TEST("group.waits") {
  Buffer<char> to(1 << 20);
  double cycles[kCases];
  for (int c = 0; c < kCases; ++c) {
    std::vector<double> v;
    for (int i = 0; i < 15; ++i) {
      Buffer<i64> b(1);
      hw::run("group", group_waits, 1, 32, kSmem, 1, to.get(), c, b.get());
      v.push_back(static_cast<double>(b.host()[0]));
    }
    cycles[c] = hw::median(v);
  }
  auto cyc = [&](int c) { return hw::format("%.0f", cycles[c]); };
  out.open(
      "group.cycles", "cycles of the wait after issuing (160 KiB = large, 16 B = small; median of 15)",
      "no groups " + cyc(kNoGroups) + "; small, wait 0: " + cyc(kOneSmall0) +
          "; large, wait 0: " + cyc(kOneLarge0) + "; large, wait.read 0: " + cyc(kOneLargeRead0) +
          "; small then 16 KiB, wait 1: " + cyc(kSmallLarge1) + "; large then small, wait 1: " + cyc(kLargeSmall1) +
          "; large then small, wait.read 1: " + cyc(kLargeSmallRead1) +
          "; large then empty, wait 1: " + cyc(kLargeEmpty1) + "; large then empty, wait 0: " + cyc(kLargeEmpty0) +
          "; large uncommitted, wait 0: " + cyc(kLargeUncommitted0) +
          "; large of another thread, wait 0: " + cyc(kOtherThread));
  const double half = cycles[kOneLarge0] / 2;
  auto yes = [](bool b) { return b ? "yes" : "no"; };
  out.answer("group.none", "wait_group 0 without groups returns at once", "yes", yes(cycles[kNoGroups] < 200));
  out.answer("group.in_order", "large then small: wait_group 1 waits for the large one", "yes",
             yes(cycles[kLargeSmall1] > half));
  out.answer("group.empty_counts", "large then an empty group: wait_group 1 still waits for the large one", "yes",
             yes(cycles[kLargeEmpty1] > half));
  out.answer("group.empty_in_order", "large then empty: wait_group 0 waits", "yes",
             yes(cycles[kLargeEmpty0] > half));
  out.answer("group.uncommitted", "copies that were not committed are not waited for", "yes",
             yes(cycles[kLargeUncommitted0] < half));
  out.open("group.per_thread", "groups of another thread of the same warp are waited for (PTX: they need not be)",
           yes(cycles[kOtherThread] > half));
  out.answer("group.read_earlier", "wait_group.read 0 returns before wait_group 0", "yes",
             yes(cycles[kOneLargeRead0] < cycles[kOneLarge0]));
}
HW_TEST("group.overwrite") {
  constexpr int iterations = 2000;
  for (const bool wait : {true, false}) {
    Buffer<uint4> to(static_cast<std::size_t>(iterations) * 1024);
    hw::run("overwrite", overwrite, 1, 128, kSmem, 1, to.get(), iterations, wait);
    const std::string seen = hw::format("%d of %d spoilt", stale(to, iterations, 1024), iterations);
    if (wait)
      out.answer("group.overwrite_after_read", "shared memory overwritten right after wait_group.read 0",
                 "0 of 2000 spoilt", seen);
    else
      out.open("group.overwrite_at_once", "the same without any wait", seen);
  }
}
HW_TEST("group.exit") {
  for (const int how : {0, 1}) {
    constexpr int ctas = 264;
    Buffer<uint4> to(std::size_t{ctas} * 4096);
    hw::run("leave", leave, ctas, 128, kSmem, 1, to.get(), how);
    const auto v = to.host();
    std::size_t missing = 0;
    for (std::size_t i = 0; i < v.size(); ++i) missing += v[i].x != 7 || v[i].w != i / 4096;
    const std::string seen = hw::format("%zu of %zu words missing", missing, v.size());
    if (how == 0)
      out.answer("group.exit", "264 CTAs exit right after commit_group: everything is stored",
                 "0 of 1081344 words missing", seen);
    else
      out.open("group.exit_uncommitted", "264 CTAs exit without commit_group", seen);
  }
}
HW_TEST("group.fence") {
  out.answer("group.fence.writers", "128 threads st.shared, each fence.proxy.async, barrier, bulk store",
             "0 of 20000 stale", count_stale<Fence::writers>());
  out.open("group.fence.issuer_only", "the fence only in the issuing thread, after the barrier",
           count_stale<Fence::issuer_only>());
  out.open("group.fence.none", "no fence, barrier only", count_stale<Fence::none>());
  out.open("group.fence.none_same_thread", "no fence, one thread writes and issues",
           count_stale<Fence::none_same_thread>());
}
