// SPDX-License-Identifier: Apache-2.0
/// The rest of mbarrier (PTX 9.7.13.15): arrivals that return the barrier's state, arrive_drop, .noComplete, waits
/// by state, bytes counted by hand, inval.  The state is of this thread's own arrival.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

// clang-format off
#define SM100_ARRIVE_STATE(function, form)                                                                       \
  SM100_KERNEL LaneArray<MbarrierToken, 1> function(SmemAddr barrier, uint32_t amount, Scope scope,              \
                                                    Loc = Loc::current()) const {                                \
    LaneArray<MbarrierToken, 1> state;                                                                           \
    if (scope == Scope::cluster)                                                                                 \
      asm volatile(form ".release.cluster.shared::cta.b64 %0, [%1], %2;"                                         \
                   : "=l"(state[0][0].bits) : "r"(barrier.value), "r"(amount) : "memory");                       \
    else                                                                                                         \
      asm volatile(form ".release.cta.shared::cta.b64 %0, [%1], %2;"                                             \
                   : "=l"(state[0][0].bits) : "r"(barrier.value), "r"(amount) : "memory");                       \
    return state;                                                                                                \
  }
#define SM100_ARRIVE_NO_COMPLETE(function, form)                                                                 \
  SM100_KERNEL LaneArray<MbarrierToken, 1> function(SmemAddr barrier, uint32_t count,                            \
                                                    Loc = Loc::current()) const {                                \
    LaneArray<MbarrierToken, 1> state;                                                                           \
    asm volatile(form ".release.cta.shared::cta.b64 %0, [%1], %2;"                                    \
                 : "=l"(state[0][0].bits) : "r"(barrier.value), "r"(count) : "memory");                          \
    return state;                                                                                                \
  }
#define SM100_ARRIVE_REMOTE(function, form)                                                                      \
  SM100_KERNEL void function(ClusterSmemAddr barrier, uint32_t amount, Scope scope, Loc = Loc::current()) const {\
    if (scope == Scope::cluster)                                                                                 \
      asm volatile(form ".release.cluster.shared::cluster.b64 _, [%0], %1;"                                      \
                   ::"r"(barrier.value), "r"(amount) : "memory");                                                \
    else                                                                                                         \
      asm volatile(form ".release.cta.shared::cluster.b64 _, [%0], %1;"                                          \
                   ::"r"(barrier.value), "r"(amount) : "memory");                                                \
  }
#define SM100_COUNT_BYTES(function, Address, form, space)                                                        \
  SM100_KERNEL void function(Address barrier, uint32_t bytes, Scope scope, Loc = Loc::current()) const {         \
    if (scope == Scope::cluster)                                                                                 \
      asm volatile(form ".cluster." space ".b64 [%0], %1;" ::"r"(barrier.value), "r"(bytes) : "memory"); \
    else                                                                                                         \
      asm volatile(form ".cta." space ".b64 [%0], %1;" ::"r"(barrier.value), "r"(bytes) : "memory");     \
  }
#define SM100_WAIT_STATE(function, form)                                                                         \
  SM100_KERNEL bool function(SmemAddr barrier, const LaneArray<MbarrierToken, 1>& state, Scope scope,            \
                             Loc = Loc::current()) const {                                                       \
    uint32_t done;                                                                                               \
    if (scope == Scope::cluster)                                                                                 \
      asm volatile("{\n\t.reg .pred p;\n\t" form ".acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"            \
                   "selp.b32 %0, 1, 0, p;\n\t}"                                                                  \
                   : "=r"(done) : "r"(barrier.value), "l"(state[0][0].bits) : "memory");                         \
    else                                                                                                         \
      asm volatile("{\n\t.reg .pred p;\n\t" form ".acquire.cta.shared::cta.b64 p, [%1], %2;\n\t"                \
                   "selp.b32 %0, 1, 0, p;\n\t}"                                                                  \
                   : "=r"(done) : "r"(barrier.value), "l"(state[0][0].bits) : "memory");                         \
    return done != 0;                                                                                            \
  }

class MbarrierState {
 public:
  SM100_KERNEL void mbarrier_inval(SmemAddr barrier, Loc = Loc::current()) const {
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier.value) : "memory");
  }

  SM100_ARRIVE_STATE(mbarrier_arrive_state, "mbarrier.arrive")
  SM100_ARRIVE_STATE(mbarrier_arrive_expect_tx_state, "mbarrier.arrive.expect_tx")
  SM100_ARRIVE_STATE(mbarrier_arrive_drop, "mbarrier.arrive_drop")
  SM100_ARRIVE_STATE(mbarrier_arrive_drop_expect_tx, "mbarrier.arrive_drop.expect_tx")
  SM100_ARRIVE_NO_COMPLETE(mbarrier_arrive_no_complete, "mbarrier.arrive.noComplete")
  SM100_ARRIVE_NO_COMPLETE(mbarrier_arrive_drop_no_complete, "mbarrier.arrive_drop.noComplete")

  SM100_ARRIVE_REMOTE(mbarrier_arrive, "mbarrier.arrive")
  SM100_ARRIVE_REMOTE(mbarrier_arrive_drop, "mbarrier.arrive_drop")
  SM100_ARRIVE_REMOTE(mbarrier_arrive_drop_expect_tx, "mbarrier.arrive_drop.expect_tx")

  SM100_COUNT_BYTES(mbarrier_expect_tx, ClusterSmemAddr, "mbarrier.expect_tx.relaxed", "shared::cluster")
  SM100_COUNT_BYTES(mbarrier_complete_tx, SmemAddr, "mbarrier.complete_tx.relaxed", "shared::cta")
  SM100_COUNT_BYTES(mbarrier_complete_tx, ClusterSmemAddr, "mbarrier.complete_tx.relaxed", "shared::cluster")

  SM100_WAIT_STATE(mbarrier_test_wait, "mbarrier.test_wait")
  SM100_WAIT_STATE(mbarrier_try_wait, "mbarrier.try_wait")

  SM100_KERNEL LaneArray<uint32_t, 1> mbarrier_pending_count(const LaneArray<MbarrierToken, 1>& state,
                                                             Loc = Loc::current()) const {
    LaneArray<uint32_t, 1> count;
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count[0][0]) : "l"(state[0][0].bits));
    return count;
  }
};
// clang-format on

#undef SM100_ARRIVE_STATE
#undef SM100_ARRIVE_NO_COMPLETE
#undef SM100_ARRIVE_REMOTE
#undef SM100_COUNT_BYTES
#undef SM100_WAIT_STATE

}  // namespace sm100::device
