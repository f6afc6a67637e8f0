// SPDX-License-Identifier: Apache-2.0
#include "models/cta_barriers.h"

#include <fmt/format.h>

#include "models/time.h"

namespace sm100::models {

void CtaBarriers::wake(std::vector<Waiter*>& waiting, const Source& by) {
  for (Waiter* w : waiting) {
    w->cause = 0, w->by = by;
    w->wake.notify(Cycles(profile_.bar.wakeup_cycles) + jitter_.wakeup(*w));
  }
  waiting.clear();
}

uint64_t CtaBarriers::vote(int id, Votes threads) {
  if (id < 0 || id > 15) return 0;  // arrive() reports it
  Named& barrier = named_[size_t(id)];
  Votes& votes = barrier.votes[barrier.generation % 2];
  votes.yes += threads.yes, votes.asked += threads.asked;
  return barrier.generation;
}

CtaBarriers::Votes CtaBarriers::votes(int id, uint64_t generation) const {
  return id < 0 || id > 15 ? Votes{} : named_[size_t(id)].votes[generation % 2];
}

bool CtaBarriers::arrive(int id, uint32_t threads, Waiter* waiter, const Source& source) {
  if (id < 0 || id > 15 || threads == 0 || threads % 32 != 0) {
    observer_.violation(
        {"NB1", fmt::format("barrier {} for {} threads: ids are 0 to 15, counts multiples of 32", id, threads),
         now(), slot_, 0, source});
    return false;
  }
  Named& barrier = named_[size_t(id)];
  if (barrier.expected == 0) barrier.expected = threads;
  if (barrier.expected != threads) {
    observer_.violation({"NB2",
                         fmt::format("named barrier {} is used with {} threads while its open generation counts {}",
                                     id, threads, barrier.expected),
                         now(), slot_, 0, source});
    return false;
  }
  // bar.sync blocks its warp, so a second arrival comes after a bar.arrive.
  const uint32_t warp = source.warp >= 0 ? 1u << source.warp : 0;
  if (barrier.warps & warp) {
    observer_.violation({"NB3",
                         fmt::format("named barrier {}: the warp has arrived in this generation already; the "
                                     "barrier waits for {} threads and has {}",
                                     id, barrier.expected, barrier.arrived),
                         now(), slot_, 0, source});
    return false;
  }
  barrier.warps |= warp;
  barrier.arrived += 32;
  if (barrier.arrived < barrier.expected) {
    if (waiter) barrier.waiting.push_back(waiter);
    return false;
  }
  if (barrier.last_expected == barrier.expected && barrier.last_warps != barrier.warps)
    observer_.violation(
        {"NB4",
         fmt::format("named barrier {}: warps {:#x} make up a generation of {} threads, the one before "
                     "had warps {:#x}",
                     id, barrier.warps, barrier.expected, barrier.last_warps),
         now(), slot_, 0, source, true});
  barrier.last_expected = barrier.expected, barrier.last_warps = barrier.warps;
  wake(barrier.waiting, source);
  barrier.expected = barrier.arrived = barrier.warps = 0;
  ++barrier.generation;
  barrier.votes[barrier.generation % 2] = {};
  return true;
}

}  // namespace sm100::models
