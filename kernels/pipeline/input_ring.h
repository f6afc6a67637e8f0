// SPDX-License-Identifier: Apache-2.0
/// Ring of tiles in shared memory: TMA fills; the tensor core empties, or warps that read with ld.shared.
///
/// full[s]:  one arrive.expect_tx by the load warp, completed by the bytes of the stage's copies.
/// empty[s]: one tcgen05.commit, performed when the MMAs that read the stage have finished; or one arrival of
///           every reading warp.  A stage that a cluster multicasts into is empty when the readers of all its
///           CTAs have arrived.
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
  /// @param readers  CTAs that load into this stage or hold what it holds; the own CTA alone: no multicast
  SM100_KERNEL void consumer_release(int stage, int cta_group, CtaMask readers, bool multicast,
                                     Loc loc = Loc::current()) {
    if (multicast)
      this->isa_.tcgen05_commit_multicast(cta_group, this->empty(stage), readers, loc);
    else
      this->isa_.tcgen05_commit(cta_group, this->empty(stage), loc);
  }

  /// Reading warp, all 32 lanes: its ld.shared of the stage are done.
  /// @param ctas  CTAs of the cluster that write into this stage (ranks 0 ... ctas - 1); 1: only our own
  SM100_KERNEL void consumer_arrive(int stage, int ctas, Loc loc = Loc::current()) {
    this->isa_.bar_warp_sync();  // all lanes have read
    if (ctas == 1) {
      this->isa_.elected([&] { this->isa_.mbarrier_arrive(this->empty(stage), Scope::cta, loc); });
    } else {
      // Lane i tells CTA i.  Scope cta, as CUTLASS and DeepGEMM have it for remote arrivals too: we only read, and a
      // release at cluster scope makes the warp wait for its writes, 700 cycles on an H200 (bench/hardware).
      this->isa_.lanes_below(ctas, [&] {
        this->isa_.mbarrier_arrive(this->isa_.mapa(this->empty(stage), this->isa_.laneid()), Scope::cta, loc);
      });
    }
  }
};

}  // namespace sm100
