// SPDX-License-Identifier: Apache-2.0
/// Ring of stages with a full and an empty mbarrier each; both cursors' phase arithmetic lives here and
/// nowhere else.
///
/// Every warp owns a private copy.  What "signal" means differs by ring (TMA bytes, tcgen05.commit, plain
/// arrives): InputRing and OutputRing say it for theirs; the throttle uses the plain arrives below.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/pipeline/pipeline_state.h"

namespace sm100 {

/// Blocks the warp until the phase of `parity` has completed; one trace span per call.
template <Isa I>
SM100_KERNEL void mbarrier_wait(I& isa, SmemAddr barrier, uint32_t parity, Scope scope, const TraceArgs& args,
                                Loc loc) {
  TraceSpan span{isa, TraceEvent::wait, args};
  while (!isa.mbarrier_try_wait_parity(barrier, parity, scope, loc)) {}
}

/// Waits for phase 0 of a barrier that is used once.
template <Isa I>
SM100_KERNEL void mbarrier_wait_once(I& isa, SmemAddr barrier, Loc loc = Loc::current()) {
  mbarrier_wait(isa, barrier, 0, Scope::cta, {.barrier = barrier, .stage = 0, .phase = 0}, loc);
}

/// Barrier words of a ring: full[0..stages) followed by empty[0..stages) or anywhere else.
struct RingBarriers {
  SmemAddr full, empty;
};

template <Isa I>
class ProducerConsumerPipeline {
 public:
  /// @param wait_scope  cluster where CTAs of the cluster complete each other's barriers
  SM100_HD ProducerConsumerPipeline(I& isa, RingBarriers barriers, int stages, Scope wait_scope = Scope::cta)
      : isa_(isa), barriers_(barriers), stages_(stages), wait_scope_(wait_scope) {}

  SM100_HD SmemAddr full(int stage) const { return barriers_.full + 8u * uint32_t(stage); }
  SM100_HD SmemAddr empty(int stage) const { return barriers_.empty + 8u * uint32_t(stage); }
  SM100_HD const RingBarriers& barriers() const { return barriers_; }
  SM100_HD int stages() const { return stages_; }
  SM100_HD int producer_stage() const { return producer_.index; }
  SM100_HD uint32_t producer_parity() const { return producer_.parity; }
  SM100_HD int consumer_stage() const { return consumer_.index; }
  SM100_HD uint32_t consumer_parity() const { return consumer_.parity; }

  /// Waits until the producer's stage is empty and returns it.
  /// @param what  tile and k step, traced with the wait
  SM100_KERNEL int producer_acquire(const TraceArgs& what, Loc loc = Loc::current()) {
    const int stage = producer_.index;
    isa_.lanes_read(producer_lanes_, loc);
    // The producer's lap n waits for the release of lap n - 1.
    mbarrier_wait(isa_, empty(stage), producer_.parity, wait_scope_,
                  wait_args(empty(stage), stage, producer_.lap(stages_) - 1, what), loc);
    return stage;
  }
  SM100_KERNEL int producer_acquire(Loc loc = Loc::current()) { return producer_acquire(TraceArgs{}, loc); }
  SM100_KERNEL void producer_step(Loc loc = Loc::current()) {
    producer_.step(stages_);
    isa_.lanes_write(producer_lanes_, loc);
  }

  /// Waits until the consumer's stage is full and returns it.
  SM100_KERNEL int consumer_wait(const TraceArgs& what, Loc loc = Loc::current()) {
    const int stage = consumer_.index;
    isa_.lanes_read(consumer_lanes_, loc);
    mbarrier_wait(isa_, full(stage), consumer_.parity, wait_scope_,
                  wait_args(full(stage), stage, consumer_.lap(stages_), what), loc);
    return stage;
  }
  SM100_KERNEL int consumer_wait(Loc loc = Loc::current()) { return consumer_wait(TraceArgs{}, loc); }
  SM100_KERNEL void consumer_step(Loc loc = Loc::current()) {
    consumer_.step(stages_);
    isa_.lanes_write(consumer_lanes_, loc);
  }
  /// Stages that another consumer takes.
  SM100_KERNEL void consumer_skip(int steps, Loc loc = Loc::current()) {
    consumer_.skip(steps, stages_);
    isa_.lanes_write(consumer_lanes_, loc);
  }

  /// wait empty, arrive full, step; all active lanes arrive.
  SM100_KERNEL void producer_signal_and_step(Loc loc = Loc::current()) {
    const int stage = producer_acquire(loc);
    isa_.mbarrier_arrive(full(stage), Scope::cta, loc);
    producer_step(loc);
  }
  /// wait full, arrive empty, step; all active lanes arrive.
  SM100_KERNEL void consumer_signal_and_step(Loc loc = Loc::current()) {
    const int stage = consumer_wait(loc);
    isa_.mbarrier_arrive(empty(stage), Scope::cta, loc);
    consumer_step(loc);
  }

  /// Exit protocol: waits until every stage has been released, with the running parity.  Until then commits
  /// and arrivals may still be on their way to our barriers, so the CTA must not exit.
  SM100_KERNEL void producer_drain(Loc loc = Loc::current()) {
    TraceSpan span{isa_, TraceEvent::drain};
    for (int i = 0; i < stages_; ++i) {
      producer_acquire(loc);
      producer_step(loc);
    }
  }

 protected:
  I& isa_;

 private:
  SM100_HD static TraceArgs wait_args(SmemAddr barrier, int stage, int phase, const TraceArgs& what) {
    return {.barrier = barrier,
            .stage = stage,
            .phase = phase,
            .tile_m = what.tile_m,
            .tile_n = what.tile_n,
            .k = what.k};
  }
  RingBarriers barriers_;
  int stages_;
  Scope wait_scope_;
  PipelineState producer_ = producer_start_state();
  PipelineState consumer_ = consumer_start_state();
  LaneAgreement producer_lanes_, consumer_lanes_;  ///< steps by some lanes of a warp are steps of those alone
};

}  // namespace sm100
