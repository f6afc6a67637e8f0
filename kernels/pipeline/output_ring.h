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
  /// MMA lane: full once all its MMAs have finished.
  SM100_KERNEL void producer_commit(int stage, int cta_group, Loc loc = Loc::current()) {
    this->isa_.tcgen05_commit(cta_group, this->full(stage), loc);
  }
  /// Epilogue warp: the accumulator is complete.
  SM100_KERNEL int consumer_wait(Loc loc = Loc::current()) {
    const int stage = Base::consumer_wait(loc);
    this->isa_.tcgen05_fence_after_thread_sync();
    return stage;
  }
  /// Epilogue warp, all 32 lanes: done reading the accumulator (its loads have been waited for).
  SM100_KERNEL void consumer_release(int stage, Loc loc = Loc::current()) {
    this->isa_.tcgen05_fence_before_thread_sync();
    this->isa_.mbarrier_arrive(this->empty(stage), Scope::cta, loc);
  }
};

}  // namespace sm100
