#include "models/cta_barriers.h"

#include <fmt/format.h>

#include "models/time.h"

namespace sm100::models {

void CtaBarriers::start_cta(int warps) {
  named_ = {};
  live_warps_ = (1u << warps) - 1;
  cluster_arrived_ = 0;
  cluster_phase_ = 0;
  cluster_waiting_.clear();
}

void CtaBarriers::wake(std::vector<Waiter*>& waiting) {
  for (Waiter* w : waiting) {
    w->cause = 0;
    w->wake.notify(cycles(Cycles(profile_.mbarrier.wakeup_cycles) + jitter_.wakeup()));
  }
  waiting.clear();
}

bool CtaBarriers::arrive(int id, uint32_t threads, Waiter* waiter, const Source& source) {
  if (id < 0 || id > 15 || threads == 0 || threads % 32 != 0) {
    observer_.violation(
        {"NB1", fmt::format("barrier {} for {} threads: ids are 0 to 15, counts multiples of 32", id, threads),
         now(), sm_, 0, source});
    return false;
  }
  Named& barrier = named_[size_t(id)];
  if (barrier.expected == 0) barrier.expected = threads;
  if (barrier.expected != threads) {
    observer_.violation({"NB2",
                         fmt::format("named barrier {} is used with {} threads while its open generation counts {}",
                                     id, threads, barrier.expected),
                         now(), sm_, 0, source});
    return false;
  }
  barrier.arrived += 32;
  if (barrier.arrived < barrier.expected) {
    if (waiter) barrier.waiting.push_back(waiter);
    return false;
  }
  wake(barrier.waiting);
  barrier.expected = barrier.arrived = 0;
  ++barrier.generation;
  return true;
}

uint64_t CtaBarriers::cluster_arrive(int warp, const Source& source) {
  const uint64_t phase = cluster_phase_;
  if (cluster_arrived_ >> warp & 1)
    observer_.violation({"CB1", "barrier.cluster.arrive twice by one warp in one phase", now(), sm_, 0, source});
  cluster_arrived_ |= 1u << warp;
  complete_cluster_phase();
  return phase;
}

bool CtaBarriers::cluster_wait(uint64_t phase, Waiter& waiter) {
  if (cluster_phase_ > phase) return true;
  cluster_waiting_.push_back(&waiter);
  return false;
}

void CtaBarriers::warp_exited(int warp) {
  live_warps_ &= ~(1u << warp);
  complete_cluster_phase();
}

void CtaBarriers::complete_cluster_phase() {
  // Every warp that has not exited has to come; an arrival followed by an exit stands in for nobody else.
  if (cluster_arrived_ == 0 || (live_warps_ & ~cluster_arrived_) != 0) return;
  cluster_arrived_ = 0;
  ++cluster_phase_;
  wake(cluster_waiting_);
}

}  // namespace sm100::models
