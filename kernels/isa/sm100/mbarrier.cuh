// SPDX-License-Identifier: Apache-2.0
/// mbarrier (PTX 9.7.13.15), mapa (9.7.9.24).
///
/// Arrives release and waits acquire, at the scope that role code names; the scope is a constant once inlined. Only
/// arrivals on barriers of other CTAs have a form of their own without a scope: it is `.cta`, PTX's default.
/// Every function clobbers memory: ordinary accesses must not move across an arrive or a wait.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

class Mbarrier {
 public:
  SM100_KERNEL void mbarrier_init(SmemAddr barrier, uint32_t count, Loc = Loc::current()) const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier.value), "r"(count) : "memory");
  }
  /// Makes this thread's inits visible to the cluster; a barrier must follow (PTX 9.7.13.15).
  SM100_KERNEL void fence_mbarrier_init() const {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }

  SM100_KERNEL void mbarrier_arrive(SmemAddr barrier, Scope scope, Loc = Loc::current()) const {
    if (scope == Scope::cluster) {
      asm volatile("mbarrier.arrive.release.cluster.shared::cta.b64 _, [%0];" ::"r"(barrier.value) : "memory");
    } else {
      asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(barrier.value) : "memory");
    }
  }
  SM100_KERNEL void mbarrier_arrive(ClusterSmemAddr barrier, Scope scope, Loc = Loc::current()) const {
    if (scope == Scope::cluster) {
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier.value) : "memory");
    } else if (scope == Scope::unstated) {
      asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier.value) : "memory");
    } else {
      asm volatile("mbarrier.arrive.release.cta.shared::cluster.b64 _, [%0];" ::"r"(barrier.value) : "memory");
    }
  }
  /// Each lane arrives on its own address.
  SM100_KERNEL void mbarrier_arrive(const LaneArray<ClusterSmemAddr, 1>& barriers, Scope scope,
                                    Loc loc = Loc::current()) const {
    mbarrier_arrive(barriers[0][0], scope, loc);
  }

  SM100_KERNEL void mbarrier_arrive_expect_tx(SmemAddr barrier, uint32_t bytes, Scope scope,
                                              Loc = Loc::current()) const {
    if (scope == Scope::cluster) {
      asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cta.b64 _, [%0], %1;" ::"r"(barrier.value),
                   "r"(bytes)
                   : "memory");
    } else {
      asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(barrier.value),
                   "r"(bytes)
                   : "memory");
    }
  }
  /// Each lane arms its own address, which may be another CTA's.
  SM100_KERNEL void mbarrier_arrive_expect_tx(const LaneArray<ClusterSmemAddr, 1>& barriers, uint32_t bytes,
                                              Scope scope, Loc = Loc::current()) const {
    const uint32_t barrier = barriers[0][0].value;
    if (scope == Scope::cluster) {
      asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(barrier),
                   "r"(bytes)
                   : "memory");
    } else {
      asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cluster.b64 _, [%0], %1;" ::"r"(barrier),
                   "r"(bytes)
                   : "memory");
    }
  }

  /// Expects bytes without an arrival; orders nothing.
  SM100_KERNEL void mbarrier_expect_tx(SmemAddr barrier, uint32_t bytes, Scope scope, Loc = Loc::current()) const {
    if (scope == Scope::cluster) {
      asm volatile("mbarrier.expect_tx.relaxed.cluster.shared::cta.b64 [%0], %1;" ::"r"(barrier.value), "r"(bytes)
                   : "memory");
    } else {
      asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier.value), "r"(bytes)
                   : "memory");
    }
  }

  /// False after the hardware's own time limit: role code loops.
  SM100_KERNEL bool mbarrier_try_wait_parity(SmemAddr barrier, uint32_t parity, Scope scope,
                                             Loc = Loc::current()) const {
    uint32_t done;
    if (scope == Scope::cluster) {
      asm volatile(
          "{\n\t"
          ".reg .pred p;\n\t"
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
          "selp.b32 %0, 1, 0, p;\n\t"
          "}"
          : "=r"(done)
          : "r"(barrier.value), "r"(parity)
          : "memory");
    } else {
      asm volatile(
          "{\n\t"
          ".reg .pred p;\n\t"
          "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n\t"
          "selp.b32 %0, 1, 0, p;\n\t"
          "}"
          : "=r"(done)
          : "r"(barrier.value), "r"(parity)
          : "memory");
    }
    return done != 0;
  }

  /// Never suspends.
  SM100_KERNEL bool mbarrier_test_wait_parity(SmemAddr barrier, uint32_t parity, Scope scope,
                                              Loc = Loc::current()) const {
    uint32_t done;
    if (scope == Scope::cluster) {
      asm volatile(
          "{\n\t"
          ".reg .pred p;\n\t"
          "mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
          "selp.b32 %0, 1, 0, p;\n\t"
          "}"
          : "=r"(done)
          : "r"(barrier.value), "r"(parity)
          : "memory");
    } else {
      asm volatile(
          "{\n\t"
          ".reg .pred p;\n\t"
          "mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n\t"
          "selp.b32 %0, 1, 0, p;\n\t"
          "}"
          : "=r"(done)
          : "r"(barrier.value), "r"(parity)
          : "memory");
    }
    return done != 0;
  }

  SM100_KERNEL ClusterSmemAddr mapa(SmemAddr address, uint32_t rank) const {
    ClusterSmemAddr mapped;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped.value) : "r"(address.value), "r"(rank));
    return mapped;
  }
  SM100_KERNEL LaneArray<ClusterSmemAddr, 1> mapa(SmemAddr address, const LaneArray<uint32_t, 1>& ranks) const {
    LaneArray<ClusterSmemAddr, 1> mapped;
    mapped[0][0] = mapa(address, ranks[0][0]);
    return mapped;
  }
};

}  // namespace sm100::device
