// SPDX-License-Identifier: Apache-2.0
/// Ring of accumulators in tensor memory: the tensor core fills, the epilogue warps empty.
///
/// full[t]:  one tcgen05.commit after the last k group of a tile.
/// empty[t]: every epilogue thread arrives after its last tcgen05.ld of the tile has completed.
/// tcgen05.fence: PTX wants them around hand-offs of tensor memory between threads (9.7.16.6).
#pragma once

#include "kernels/pipeline/producer_consumer_pipeline.h"

namespace sm100 {

template <Isa I>
class OutputRing : public ProducerConsumerPipeline<I> {
 public:
  using Base = ProducerConsumerPipeline<I>;
  using Base::Base;

  /// MMA warp: the accumulator may be overwritten.
  SM100_KERNEL int producer_acquire(Loc loc = Loc::current()) {
    const int stage = Base::producer_acquire(loc);
    this->isa_.tcgen05_fence_after_thread_sync();
    return stage;
  }
  /// MMA lane: full, in both CTAs of a pair, once all its MMAs have finished.
  SM100_KERNEL void producer_commit(int stage, int cta_group, CtaMask group, Loc loc = Loc::current()) {
    if (cta_group == 2)
      this->isa_.tcgen05_commit_multicast(cta_group, this->full(stage), group, loc);
    else
      this->isa_.tcgen05_commit(cta_group, this->full(stage), loc);
  }
  /// Epilogue warp: the accumulator is complete.
  SM100_KERNEL int consumer_wait(Loc loc = Loc::current()) {
    const int stage = Base::consumer_wait(loc);
    this->isa_.tcgen05_fence_after_thread_sync();
    return stage;
  }
  /// Epilogue warp, all 32 lanes: done reading the accumulator (its loads have been waited for).
  /// Of a pair, both CTAs' threads tell the leader (even rank), whose MMA warp waits.
  SM100_KERNEL void consumer_release(int stage, int cta_group, Loc loc = Loc::current()) {
    this->isa_.tcgen05_fence_before_thread_sync();
    const SmemAddr own = this->empty(stage);
    if (cta_group == 2)
      this->isa_.mbarrier_arrive(ClusterSmemAddr{own.value & ~(1u << kClusterRankShift)}, Scope::cta, loc);
    else
      this->isa_.mbarrier_arrive(own, Scope::cta, loc);
  }
};

}  // namespace sm100
