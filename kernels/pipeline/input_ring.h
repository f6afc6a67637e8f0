/// Ring of A/B tiles in shared memory: TMA fills, the tensor core empties.
///
/// full[s]:  one arrive.expect_tx by the load warp, completed by the bytes of the stage's copies.
/// empty[s]: one tcgen05.commit, performed when the MMAs that read the stage have finished.
#pragma once

#include "kernels/pipeline/producer_consumer_pipeline.h"

namespace sm100 {

template <Isa I>
class InputRing : public ProducerConsumerPipeline<I> {
 public:
  using Base = ProducerConsumerPipeline<I>;
  using Base::Base;

  /// Arms the stage for its bytes; one lane, before the copies are issued.
  SM100_KERNEL void producer_arm(int stage, uint32_t bytes, Loc loc = Loc::current()) {
    this->isa_.mbarrier_arrive_expect_tx(this->full(stage), bytes, Scope::cta, loc);
  }

  /// Releases the stage once all MMAs issued so far by this lane have finished.  The lane that issued the
  /// MMAs must commit: a commit covers only its own thread's operations.
  SM100_KERNEL void consumer_release(int stage, int cta_group, Loc loc = Loc::current()) {
    this->isa_.tcgen05_commit(cta_group, this->empty(stage), loc);
  }
};

}  // namespace sm100
