// SPDX-License-Identifier: Apache-2.0
/// CTA and cluster barriers (PTX 9.7.13.1, .4) and the proxy fence (9.7.13.5).
#pragma once

#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

class Barriers {
 public:
  SM100_KERNEL void bar_sync(int id, int threads, Loc = Loc::current()) const {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
  }
  SM100_KERNEL void bar_arrive(int id, int threads, Loc = Loc::current()) const {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
  }
  /// By every thread of the cluster.  Not `.aligned`: warps arrive straight from a branch of one lane.
  SM100_KERNEL void barrier_cluster_arrive(Loc = Loc::current()) const {
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  }
  /// Hands on no accesses; inits behind a fence.mbarrier_init are known to those who pass all the same.
  SM100_KERNEL void barrier_cluster_arrive_relaxed(Loc = Loc::current()) const {
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
  }
  SM100_KERNEL void barrier_cluster_wait(Loc = Loc::current()) const {
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
  }
  /// Orders this thread's generic accesses to shared memory with accesses of the async proxy.
  SM100_KERNEL void fence_proxy_async_shared_cta() const {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
};

}  // namespace sm100::device
