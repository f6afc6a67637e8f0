// SPDX-License-Identifier: Apache-2.0
// The instructions that the kernels of this folder use, as macros: a report then names the kernel's line.
#pragma once

#include <cstdint>

#define SHARED(pointer) uint32_t(__cvta_generic_to_shared(pointer))
#define LANE (threadIdx.x % 32)
#define WARP (__shfl_sync(0xffffffff, threadIdx.x / 32, 0))

// ---- mbarriers
#define MBARRIER_INIT(bar, count) \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SHARED(bar)), "r"(count) : "memory")
#define FENCE_MBARRIER_INIT() asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory")
#define ARRIVE(bar) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SHARED(bar)) : "memory")
#define ARRIVE_REMOTE(address) \
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(address) : "memory")
#define ARRIVE_EXPECT_TX(bar, bytes) \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SHARED(bar)), "r"(bytes) : "memory")
#define WAIT(bar, parity)                                                                                        \
  do {                                                                                                           \
    uint32_t over_;                                                                                              \
    do                                                                                                           \
      asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" \
                   : "=r"(over_)                                                                                 \
                   : "r"(SHARED(bar)), "r"(uint32_t(parity))                                                     \
                   : "memory");                                                                                  \
    while (!over_);                                                                                              \
  } while (false)

// ---- named barriers, the cluster
#define BAR_SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"n"(id), "n"(threads) : "memory")
#define BAR_ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"n"(id), "n"(threads) : "memory")
#define CLUSTER_SYNC() \
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory")
#define MAPA(result, pointer, rank) \
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(SHARED(pointer)), "r"(rank))
#define CTA_RANK(result) asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(result))

// ---- copies
#define FENCE_PROXY_ASYNC() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define TMA_LOAD(smem, map, x, y, bar)                                                                          \
  asm volatile(                                                                                                 \
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], " \
      "[%4];" ::"r"(SHARED(smem)),                                                                              \
      "l"(&map), "r"(x), "r"(y), "r"(SHARED(bar))                                                               \
      : "memory")
#define BULK_LOAD(smem, global, bytes, bar)                                                                     \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"( \
                   SHARED(smem)),                                                                               \
               "l"(global), "r"(bytes), "r"(SHARED(bar))                                                        \
               : "memory")
#define BULK_LOAD_MULTICAST(smem, global, bytes, bar, mask)                                                   \
  asm volatile(                                                                                               \
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, " \
      "[%3], %4;" ::"r"(SHARED(smem)),                                                                        \
      "l"(global), "r"(bytes), "r"(SHARED(bar)), "h"(uint16_t(mask))                                          \
      : "memory")
#define BULK_STORE(global, smem, bytes)                                                                        \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global), "r"(SHARED(smem)), \
               "r"(bytes)                                                                                      \
               : "memory")
#define BULK_ADD_U32(global, smem, bytes)                                                                  \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(global), \
               "r"(SHARED(smem)), "r"(bytes)                                                               \
               : "memory")
#define BULK_COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define BULK_WAIT_READ() asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")
#define BULK_WAIT() asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")

// ---- tensor memory, G CTAs
#define TMEM_ALLOC(slot, columns, G)                                                                         \
  asm volatile("tcgen05.alloc.cta_group::" #G ".sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(SHARED(slot)), \
               "n"(columns)                                                                                  \
               : "memory")
#define TMEM_RELINQUISH(G) \
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::" #G ".sync.aligned;" ::: "memory")
#define TMEM_DEALLOC(tmem, columns, G) \
  asm volatile("tcgen05.dealloc.cta_group::" #G ".sync.aligned.b32 %0, %1;" ::"r"(tmem), "n"(columns) : "memory")
#define FENCE_BEFORE() asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory")
#define FENCE_AFTER() asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory")
#define WAIT_LD() asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory")
#define WAIT_ST() asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory")
#define TMEM_LD_X8(r, a)                                                                                           \
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"                     \
               : "=r"((r)[0]), "=r"((r)[1]), "=r"((r)[2]), "=r"((r)[3]), "=r"((r)[4]), "=r"((r)[5]), "=r"((r)[6]), \
                 "=r"((r)[7])                                                                                      \
               : "r"(a)                                                                                            \
               : "memory")
#define TMEM_ST_X4(a, r)                                                                                           \
  asm volatile("tcgen05.st.sync.aligned.32x32b.x4.b32 [%0], {%1, %2, %3, %4};" ::"r"(a), "r"((r)[0]), "r"((r)[1]), \
               "r"((r)[2]), "r"((r)[3])                                                                            \
               : "memory")
#define TMEM_LD_X1(r, a) \
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(r) : "r"(a) : "memory")
#define TMEM_ST_X1(a, r) \
  asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(a), "r"(r) : "memory")

// ---- the tensor core: A and B K-major in 128-byte swizzle, or A in tensor memory
#define DESCRIPTOR(pointer) (0x4000404000010000ull | ((SHARED(pointer) >> 4) & 0x3fff))
#define MMA(d, a, b, idesc, add)                                                                                \
  asm volatile(                                                                                                 \
      "{.reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;}" ::"r"(d), \
      "l"(a), "l"(b), "r"(idesc), "r"(uint32_t(add))                                                            \
      : "memory")
#define MMA_TMEM_A(d, a, b, idesc, add)                                                                           \
  asm volatile(                                                                                                   \
      "{.reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p;}" ::"r"(d), \
      "r"(a), "l"(b), "r"(idesc), "r"(uint32_t(add))                                                              \
      : "memory")
#define COMMIT(bar)                                                                                             \
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(SHARED(bar)) \
               : "memory")

// ---- launches
#define GRID_WAIT() asm volatile("griddepcontrol.wait;" ::: "memory")
#define GRID_LAUNCH_DEPENDENTS() asm volatile("griddepcontrol.launch_dependents;" ::: "memory")

struct alignas(64) TensorMap {
  uint8_t bytes[128];
};
