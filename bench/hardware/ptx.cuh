// SPDX-License-Identifier: Apache-2.0
/// The PTX instructions that the hardware measurements use, one thin wrapper each.  Shared addresses are 32-bit
/// window addresses.  Every wait is bounded: it gives up after a number of SM cycles and says so.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace ptx {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = long long;

inline constexpr i64 kGiveUp = 20'000'000;  ///< cycles after which a wait reports a timeout (about 10 ms)

#define PTX_FN __device__ __forceinline__

// ---- clocks, identity -------------------------------------------------------------------------------------------

PTX_FN i64 now() {
  i64 t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}
PTX_FN u64 globaltimer() {
  u64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}
PTX_FN u32 smid() {
  u32 r;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(r));
  return r;
}
PTX_FN u32 cluster_ctarank() {
  u32 r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
PTX_FN u32 smem(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }
PTX_FN u32 mapa(u32 a, u32 rank) {
  u32 r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank));
  return r;
}
PTX_FN bool elect(u32 mask = 0xffffffffu) {
  u32 p;
  asm volatile("{.reg .pred p; elect.sync _|p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(p) : "r"(mask) : "memory");
  return p != 0;
}
PTX_FN void spin(i64 cycles) {
  const i64 t0 = now();
  while (now() - t0 < cycles) {}
}

// ---- fences and thread barriers ---------------------------------------------------------------------------------

PTX_FN void fence_proxy_async_smem() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
PTX_FN void fence_proxy_async() { asm volatile("fence.proxy.async;" ::: "memory"); }
PTX_FN void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
PTX_FN void bar_sync(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
PTX_FN void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
PTX_FN void cluster_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
PTX_FN void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
PTX_FN void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

// ---- mbarrier ---------------------------------------------------------------------------------------------------

PTX_FN void mbar_init(u32 a, u32 n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(a), "r"(n) : "memory");
}
PTX_FN void mbar_inval(u32 a) { asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(a) : "memory"); }
PTX_FN void arrive(u32 a) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(a) : "memory"); }
PTX_FN void arrive_n(u32 a, u32 n) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(a), "r"(n) : "memory");
}
PTX_FN u64 arrive_token(u32 a) {
  u64 t;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(t) : "r"(a) : "memory");
  return t;
}
PTX_FN u64 arrive_no_complete(u32 a, u32 n) {
  u64 t;
  asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], %2;" : "=l"(t) : "r"(a), "r"(n) : "memory");
  return t;
}
PTX_FN u32 pending_count(u64 state) {
  u32 n;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(state));
  return n;
}
PTX_FN void arrive_drop(u32 a) {
  asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" ::"r"(a) : "memory");
}
PTX_FN void arrive_expect(u32 a, u32 tx) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(a), "r"(tx) : "memory");
}
PTX_FN void expect_tx(u32 a, u32 tx) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(a), "r"(tx) : "memory");
}
PTX_FN void complete_tx(u32 a, u32 tx) {
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(a), "r"(tx) : "memory");
}
PTX_FN void arrive_remote(u32 a) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(a) : "memory");
}
PTX_FN void arrive_remote_release(u32 a) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(a) : "memory");
}
PTX_FN void arrive_remote_relaxed(u32 a) {
  asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(a) : "memory");
}
#define PTX_WAIT(name, text)                                                   \
  PTX_FN bool name(u32 a, u32 parity) {                                        \
    u32 p;                                                                     \
    asm volatile("{.reg .pred p; " text " p, [%1], %2; selp.u32 %0, 1, 0, p;}" \
                 : "=r"(p)                                                     \
                 : "r"(a), "r"(parity)                                         \
                 : "memory");                                                  \
    return p != 0;                                                             \
  }
PTX_WAIT(test_parity, "mbarrier.test_wait.parity.shared::cta.b64")
PTX_WAIT(try_parity, "mbarrier.try_wait.parity.shared::cta.b64")
PTX_WAIT(try_parity_cluster, "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64")
#undef PTX_WAIT
PTX_FN bool try_parity_ns(u32 a, u32 parity, u32 ns) {
  u32 p;
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p;}"
               : "=r"(p)
               : "r"(a), "r"(parity), "r"(ns)
               : "memory");
  return p != 0;
}
PTX_FN bool test_token(u32 a, u64 token) {
  u32 p;
  asm volatile("{.reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
               : "=r"(p)
               : "r"(a), "l"(token)
               : "memory");
  return p != 0;
}
PTX_FN bool try_token(u32 a, u64 token) {
  u32 p;
  asm volatile("{.reg .pred p; mbarrier.try_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
               : "=r"(p)
               : "r"(a), "l"(token)
               : "memory");
  return p != 0;
}
/// Waits for the phase of this parity; false = gave up after `limit` cycles.
PTX_FN bool wait(u32 a, u32 parity, i64 limit = kGiveUp) {
  if (try_parity(a, parity)) return true;
  const i64 t0 = now();
  do {
    if (try_parity(a, parity)) return true;
  } while (now() - t0 < limit);
  return false;
}
PTX_FN bool wait_cluster(u32 a, u32 parity, i64 limit = kGiveUp) {
  if (try_parity_cluster(a, parity)) return true;
  const i64 t0 = now();
  do {
    if (try_parity_cluster(a, parity)) return true;
  } while (now() - t0 < limit);
  return false;
}

// ---- tensor and bulk copies -------------------------------------------------------------------------------------

PTX_FN void load_2d(u32 dst, const void* map, int x, int y, u32 bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(dst),
      "l"(map), "r"(x), "r"(y), "r"(bar)
      : "memory");
}
PTX_FN void load_3d(u32 dst, const void* map, int x, int y, int z, u32 bar) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], "
      "[%5];" ::"r"(dst),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(bar)
      : "memory");
}
PTX_FN void load_2d_multicast(u32 dst, const void* map, int x, int y, u32 bar, std::uint16_t mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, "
      "{%2, "
      "%3}], [%4], %5;" ::"r"(dst),
      "l"(map), "r"(x), "r"(y), "r"(bar), "h"(mask)
      : "memory");
}
PTX_FN void store_2d(const void* map, int x, int y, u32 src) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x),
               "r"(y), "r"(src)
               : "memory");
}
PTX_FN void reduce_add_2d(const void* map, int x, int y, u32 src) {
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
               "r"(x), "r"(y), "r"(src)
               : "memory");
}
PTX_FN void reduce_add_f32(void* dst, u32 src, u32 bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(dst), "r"(src),
               "r"(bytes)
               : "memory");
}
PTX_FN void bulk_store(void* dst, u32 src, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst), "r"(src), "r"(bytes)
               : "memory");
}
PTX_FN void bulk_to_cluster(u32 dst, u32 src, u32 bytes, u32 bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dst),
      "r"(src), "r"(bytes), "r"(bar)
      : "memory");
}
PTX_FN void commit_group() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N>
PTX_FN void wait_group() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}
template <int N>
PTX_FN void wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
PTX_FN void prefetch_tensormap(const void* map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }
PTX_FN void tensormap_acquire(const void* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}
PTX_FN void tensormap_set_address(u32 map, const void* address) {
  asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(map), "l"(address)
               : "memory");
}
PTX_FN void tensormap_publish(void* dst, u32 src) {  // whole warp
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::
          "l"(dst),
      "r"(src)
      : "memory");
}

// ---- shared memory ----------------------------------------------------------------------------------------------

PTX_FN u32 ld_shared(u32 a) {
  u32 v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory");
  return v;
}
PTX_FN uint4 ld_shared_v4(u32 a) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(a)
               : "memory");
  return v;
}
PTX_FN void st_shared(u32 a, u32 v) { asm volatile("st.shared.u32 [%0], %1;" ::"r"(a), "r"(v) : "memory"); }
PTX_FN void st_shared_v4(u32 a, uint4 v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(a), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}
PTX_FN void st_cluster(u32 a, u32 v) {
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(a), "r"(v) : "memory");
}
PTX_FN void st_async(u32 a, u32 v, u32 bar) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(a), "r"(v),
               "r"(bar)
               : "memory");
}
PTX_FN void stmatrix_x4(u32 a, uint4 v) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(a), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w)
               : "memory");
}

}  // namespace ptx
