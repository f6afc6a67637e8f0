// SPDX-License-Identifier: Apache-2.0
/// Clusters: addresses, multicast, remote arrivals and what they publish, copies between shared memories;
/// elect.sync.
#include "harness.h"
#include "ptx.cuh"

using namespace ptx;
using hw::Buffer;

namespace {

constexpr int kSmem = 64 * 1024;
extern __shared__ char dynamic_smem[];
__device__ u32 base_address() { return (smem(dynamic_smem) + 1023) & ~1023u; }

/// out[rank] = {cvta of an own address, mapa to 0, to 1, to 2, to 3}
__global__ void addresses(u32* out) {
  __shared__ alignas(1024) char own[1024];
  const u32 rank = cluster_ctarank(), a = smem(own);
  if (threadIdx.x == 0) {
    out[rank * 5] = a;
    for (u32 r = 0; r < 4; ++r) out[rank * 5 + 1 + r] = mapa(a, r);
  }
  cluster_sync();
}

/// Rank `issuer` loads one box to all ranks of `mask`; out[rank] = 2 * (data is there) + (own barrier completed).
__global__ void multicast(const __grid_constant__ CUtensorMap map, u32 issuer, u32 mask, u32 bytes, u32 expect,
                          u32 offset, int* out) {
  __shared__ alignas(8) u64 storage;
  const u32 bar = smem(&storage), base = base_address(), rank = cluster_ctarank();
  for (u32 i = threadIdx.x * 4; i < 32 * 1024; i += blockDim.x * 4) st_shared(base + i, 0xeeeeeeee);
  if (threadIdx.x == 0) {
    mbar_init(bar, 1);
    fence_mbarrier_init();
    arrive_expect(bar, expect);
  }
  fence_proxy_async_smem();
  __syncthreads();
  cluster_sync();
  if (threadIdx.x == 0) {
    if (rank == issuer) load_2d_multicast(base + offset, &map, 0, 0, bar, static_cast<std::uint16_t>(mask));
    const int completed = wait(bar, 0, 1'000'000);
    int words = 0;
    for (u32 i = 0; i < 32 * 1024; i += 4) words += ld_shared(base + i) == 0x01010101;
    const bool first = ld_shared(base + offset) == 0x01010101;
    out[rank] = completed + 2 * (static_cast<u32>(words) * 4 == bytes && first);
  }
  __syncthreads();
  cluster_sync();
}

enum class Publish { release, default_scope, relaxed, st_async_then_release, st_async_alone };

/// Rank 1 writes a number into rank 0's shared memory and arrives there; rank 0 waits, reads, answers.  Counts
/// wrong reads.
template <Publish kHow>
__global__ void publish(int iterations, int* out) {
  __shared__ alignas(16) u32 data[4][32];
  __shared__ alignas(8) u64 bars[3];
  const u32 go = smem(bars), done = smem(bars + 1), async = smem(bars + 2), rank = cluster_ctarank();
  for (int i = threadIdx.x; i < 128; i += 32) data[i / 32][i % 32] = 0;
  if (threadIdx.x == 0) {
    mbar_init(go, 1);
    mbar_init(done, 1);
    mbar_init(async, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  cluster_sync();
  if (threadIdx.x == 0) {
    int wrong = 0;
    for (int i = 0; i < iterations; ++i) {
      const u32 value = static_cast<u32>(i) + 1;
      if (rank == 1) {
        const u32 there = mapa(go, 0);
        if constexpr (kHow == Publish::st_async_then_release || kHow == Publish::st_async_alone) {
          const u32 signal = mapa(kHow == Publish::st_async_alone ? go : async, 0);
#pragma unroll
          for (int k = 0; k < 4; ++k) st_async(mapa(smem(&data[k][0]), 0), value, signal);
          if constexpr (kHow == Publish::st_async_then_release) arrive_remote_release(there);
        } else {
#pragma unroll
          for (int k = 0; k < 4; ++k) st_cluster(mapa(smem(&data[k][0]), 0), value);
          if constexpr (kHow == Publish::release) arrive_remote_release(there);
          if constexpr (kHow == Publish::default_scope) arrive_remote(there);
          if constexpr (kHow == Publish::relaxed) arrive_remote_relaxed(there);
        }
        if (!wait_cluster(done, i & 1, 4'000'000)) {
          out[1] = i + 1;
          break;
        }
      } else if (rank == 0) {
        if constexpr (kHow == Publish::st_async_alone) arrive_expect(go, 16);
        if constexpr (kHow == Publish::st_async_then_release) arrive_expect(async, 16);
        if (!wait_cluster(go, i & 1, 4'000'000)) {
          out[1] = i + 1;
          break;
        }
        bool bad = false;
#pragma unroll
        for (int k = 3; k >= 0; --k) bad |= ld_shared(smem(&data[k][0])) != value;
        wrong += bad;
        if constexpr (kHow == Publish::st_async_then_release)
          if (!wait_cluster(async, i & 1, 4'000'000)) {
            out[1] = i + 1;
            break;
          }
        arrive_remote_release(mapa(done, 1));
      }
    }
    if (rank == 0) out[0] = wrong;
  }
  __syncthreads();
  cluster_sync();
}

template <Publish kHow>
std::string count_wrong() {
  constexpr int iterations = 10'000;
  Buffer<int> b(2);
  hw::run("publish", publish<kHow>, 2, 32, 0, 2, iterations, b.get());
  const auto v = b.host();
  return v[1] != 0 ? hw::format("timeout in iteration %d", v[1]) : hw::format("%d of %d stale", v[0], iterations);
}

/// One thread of rank 1 arrives at A, then at B, both in rank 0; rank 0 waits for B: is A complete already?
__global__ void two_barriers(int iterations, bool release, int* out) {
  __shared__ alignas(8) u64 bars[3];
  const u32 a = smem(bars), b = smem(bars + 1), done = smem(bars + 2), rank = cluster_ctarank();
  if (threadIdx.x == 0) {
    mbar_init(a, 1);
    mbar_init(b, 1);
    mbar_init(done, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  cluster_sync();
  if (threadIdx.x == 0) {
    for (int i = 0; i < iterations; ++i) {
      if (rank == 1) {
        if (release) {
          arrive_remote_release(mapa(a, 0));
          arrive_remote_release(mapa(b, 0));
        } else {
          arrive_remote_relaxed(mapa(a, 0));
          arrive_remote_relaxed(mapa(b, 0));
        }
        if (!wait_cluster(done, i & 1, 4'000'000)) {
          out[1] = i + 1;
          break;
        }
      } else {
        if (!wait_cluster(b, i & 1, 4'000'000)) {
          out[1] = i + 1;
          break;
        }
        if (!test_parity(a, i & 1)) ++out[0];
        if (!wait_cluster(a, i & 1, 4'000'000)) {
          out[1] = i + 1;
          break;
        }
        arrive_remote_release(mapa(done, 1));
      }
    }
  }
  __syncthreads();
  cluster_sync();
}

/// Rank 0 copies 1 KiB of its shared memory to rank `to`, at +8 KiB; out = {completed there, words right}.
__global__ void between(u32 to, int* out) {
  __shared__ alignas(8) u64 storage;
  const u32 bar = smem(&storage), base = base_address(), rank = cluster_ctarank();
  for (u32 i = threadIdx.x * 4; i < 1024; i += 128) st_shared(base + i, rank * 10000 + i);
  if (threadIdx.x == 0) {
    mbar_init(bar, 1);
    fence_mbarrier_init();
    arrive_expect(bar, 1024);
  }
  fence_proxy_async_smem();
  __syncthreads();
  cluster_sync();
  if (threadIdx.x == 0) {
    if (rank == 0) bulk_to_cluster(mapa(base + 8192, to), base, 1024, mapa(bar, to));
    if (rank == to) {
      out[0] = wait_cluster(bar, 0, 1'000'000);
      for (u32 i = 0; i < 1024; i += 4) out[1] += ld_shared(base + 8192 + i) == i;
    }
  }
  __syncthreads();
  cluster_sync();
}

__global__ void elects(u32 mask, int* out) {
  if ((mask >> threadIdx.x & 1) == 0) return;
  if (elect(mask)) *out = static_cast<int>(threadIdx.x);
}

}  // namespace

HW_TEST("cluster.address") {
  Buffer<u32> b(20);
  hw::run("addresses", addresses, 4, 32, 0, 4, b.get());
  const auto v = b.host();
  std::string seen = "yes";
  for (u32 r = 0; r < 4; ++r) {
    if (v[r * 5] != (v[0] | r << 24)) seen = hw::format("cvta in rank %u: 0x%08x", r, v[r * 5]);
    for (u32 t = 0; t < 4; ++t)
      if (v[r * 5 + 1 + t] != ((v[0] & 0xffffff) | t << 24))
        seen = hw::format("mapa from %u to %u: 0x%08x", r, t, v[r * 5 + 1 + t]);
  }
  out.answer("cluster.address", "cvta gives own rank << 24 | offset, mapa gives rank << 24 | offset", "yes", seen);
  out.open("cluster.first_offset", "offset of the first kilobyte-aligned static shared variable",
           hw::format("0x%08x", v[0]));
}
HW_TEST("cluster.multicast") {
  Buffer<char> data(1 << 16, 1);
  hw::MapSpec wide;
  wide.dims = {64, 64};
  wide.strides = {128};
  wide.box = {64, 32};
  hw::MapSpec narrow = wide;
  narrow.box = {32, 32};
  struct Case {
    const char* id;
    const char* question;
    const hw::MapSpec* spec;
    u32 issuer, mask, bytes, offset;
    const char* expected;
  };
  // 3 = data and signal, 0 = neither
  const Case cases[] = {
      {"cluster.multicast.two", "rank 1 to mask 1010: data, signal per rank (3 = both)", &wide, 1, 0b1010, 4096, 0,
       "0 3 0 3"},
      {"cluster.multicast.all", "rank 2 to mask 1111, destination + 4 KiB", &wide, 2, 0b1111, 4096, 4096,
       "3 3 3 3"},
      {"cluster.multicast.not_self", "rank 1 to mask 0100: the issuer gets nothing", &wide, 1, 0b0100, 4096, 0,
       "0 0 3 0"},
      {"cluster.multicast.self_only", "rank 3 to mask 1000", &wide, 3, 0b1000, 4096, 0, "0 0 0 3"},
      {"cluster.multicast.narrow", "narrow box (64-byte rows, swizzle 128B) to mask 1001: data bytes signalled",
       &narrow, 0, 0b1001, 2048, 1024, "3 0 0 3"}};
  for (const Case& c : cases) {
    Buffer<int> b(4, 0);
    hw::run("multicast", multicast, 4, 128, kSmem, 4, hw::must_encode(*c.spec, data.get()), c.issuer, c.mask,
            c.bytes, c.bytes, c.offset, b.get());
    const auto v = b.host();
    out.answer(c.id, c.question, c.expected, hw::format("%d %d %d %d", v[0], v[1], v[2], v[3]));
  }
}
HW_TEST("cluster.publish") {
  out.answer("cluster.publish.release", "st.shared::cluster, arrive.release.cluster, acquire wait, read",
             "0 of 10000 stale", count_wrong<Publish::release>());
  out.open("cluster.publish.default_scope", "the same with an arrive without sem and scope",
           count_wrong<Publish::default_scope>());
  out.open("cluster.publish.relaxed", "the same with arrive.relaxed.cluster", count_wrong<Publish::relaxed>());
  out.open("cluster.publish.st_async",
           "st.async (own barrier), then arrive.release.cluster on another: is the data there?",
           count_wrong<Publish::st_async_then_release>());
  out.answer("cluster.publish.st_async_alone", "st.async signals the barrier that is waited for",
             "0 of 10000 stale", count_wrong<Publish::st_async_alone>());
}
HW_TEST("cluster.two_barriers") {
  for (const bool release : {true, false}) {
    Buffer<int> b(2);
    hw::run("two barriers", two_barriers, 2, 32, 0, 2, 10'000, release, b.get());
    const auto v = b.host();
    out.open(release ? "cluster.two_barriers.release" : "cluster.two_barriers.relaxed",
             hw::format("remote arrives to A, then B (%s): B complete but A not",
                        release ? "release.cluster" : "relaxed.cluster"),
             v[1] ? hw::format("timeout in iteration %d", v[1]) : hw::format("%d of 10000", v[0]));
  }
}
HW_TEST("cluster.copy") {
  for (const u32 to : {1u, 0u}) {
    Buffer<int> b(2);
    hw::run("copy", between, 2, 32, kSmem, 2, to, b.get());
    out.answer(to ? "cluster.copy.peer" : "cluster.copy.self",
               to ? "bulk copy shared -> shared of the peer: completed, words right"
                  : "the same form to the own CTA (outside PTX)",
               "1 256", hw::format("%d %d", b.host()[0], b.host()[1]));
  }
}
HW_TEST("cluster.elect") {
  std::string seen;
  for (const u32 mask : {0xffffffffu, 0xfffffffeu, 0x80000000u, 0xf0u, 0xaaaaaaaau, 0x00ff0000u}) {
    Buffer<int> b(1, 0xff);
    hw::run("elect", elects, 1, 32, 0, 1, mask, b.get());
    seen += (seen.empty() ? "" : " ") + std::to_string(b.host()[0]);
  }
  out.answer("cluster.elect", "elect.sync lane of masks ffffffff fffffffe 80000000 f0 aaaaaaaa 00ff0000",
             "0 1 31 4 1 16", seen);
}
