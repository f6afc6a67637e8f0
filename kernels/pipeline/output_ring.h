// SPDX-License-Identifier: Apache-2.0
/// Ring of accumulators in tensor memory: the tensor core fills, the epilogue warps empty.
///
/// full[t]:  one tcgen05.commit after the last k group of a tile.
/// empty[t]: every epilogue thread arrives after its last tcgen05.ld of the tile has completed.
/// tcgen05.fence: PTX wants them around hand-offs of tensor memory between threads (9.7.16.6).
#pragma once

#include "kernels/pipeline/producer_consumer_pipeline.h"

namespace sm100 {

/// Where the accumulators lie: `stride` columns apart from `base`.
struct AccumulatorColumns {
  TmemAddr base;
  int stride;
};

/// The CTAs that an accumulator is handed over between.
struct AccumulatorSharing {
  int cta_group = 1;
  CtaMask group{};  ///< the CTAs of the pair
};

/// A stage's number and its accumulator's first column.
struct AccumulatorStage {
  int index = 0;
  TmemAddr accumulator{};
};

template <Isa I>
class OutputRing : public ProducerConsumerPipeline<I> {
 public:
  using Base = ProducerConsumerPipeline<I>;

  SM100_HD OutputRing(I& isa, RingBarriers barriers, int stages, AccumulatorColumns columns, Scope wait_scope,
                      const AccumulatorSharing& sharing)
      : Base(isa, barriers, stages, wait_scope), columns_(columns), sharing_(sharing) {}

  SM100_HD AccumulatorStage at(int i) const {
    return {i, columns_.base.plus_columns(uint32_t(i * columns_.stride))};
  }

  /// MMA warp: the accumulator may be overwritten.
  SM100_KERNEL AccumulatorStage producer_acquire(Loc loc = Loc::current()) {
    return after_wait(Base::producer_acquire(loc));
  }
  /// MMA lane: full, in both CTAs of a pair, once all its MMAs have finished.
  SM100_KERNEL void producer_commit(const AccumulatorStage& stage, Loc loc = Loc::current()) {
    if (sharing_.cta_group == 2)
      this->isa_.tcgen05_commit_multicast(2, this->full(stage.index), sharing_.group, loc);
    else
      this->isa_.tcgen05_commit(1, this->full(stage.index), loc);
  }
  /// Epilogue warp: the accumulator is complete.
  SM100_KERNEL AccumulatorStage consumer_wait(Loc loc = Loc::current()) {
    return after_wait(Base::consumer_wait(loc));
  }
  /// Epilogue warp, all 32 lanes: done reading the accumulator (its loads have been waited for).
  /// Of a pair, both CTAs' threads tell the leader (even rank), whose MMA warp waits.
  SM100_KERNEL void consumer_release(const AccumulatorStage& stage, Loc loc = Loc::current()) {
    this->isa_.tcgen05_fence_before_thread_sync();
    const SmemAddr own = this->empty(stage.index);
    if (sharing_.cta_group == 2)
      this->isa_.mbarrier_arrive(ClusterSmemAddr{own.value & ~(1u << kClusterRankShift)}, Scope::unstated, loc);
    else
      this->isa_.mbarrier_arrive(own, Scope::cta, loc);
  }

 private:
  SM100_KERNEL AccumulatorStage after_wait(int stage) {
    this->isa_.tcgen05_fence_after_thread_sync();
    return at(stage);
  }

  AccumulatorColumns columns_;
  AccumulatorSharing sharing_;
};

}  // namespace sm100
