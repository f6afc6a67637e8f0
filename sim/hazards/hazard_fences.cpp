// SPDX-License-Identifier: Apache-2.0
// Fences of generic accesses (fence.acq_rel, fence.sc, membar) with relaxed atomics around them: a fence ahead of a
// relaxed atomic makes it a release of what came before the fence, one behind it an acquire of what it has read
// (PTX 8.8, release and acquire patterns).
#include "sim/hazards/hazard_checker.h"

namespace sm100::sim {

void HazardChecker::fence_memory(const Thread& t) {
  WarpState& self = warp(t);
  for (const uint32_t release : self.read_relaxed) acquire_word(t, release);
  self.read_relaxed.clear();
  self.fence_release = release_word(t);
}

uint32_t HazardChecker::relaxed_atomic(const Thread& t, uint32_t before) {
  WarpState& self = warp(t);
  if (before != 0) self.read_relaxed.insert(before);
  if (self.fence_release == 0) return before;
  if (before == 0 || before == self.fence_release) return self.fence_release;
  const Release& fence = releases_[self.fence_release - 1];
  Knowledge handed_on;
  handed_on.releases = fence.releases;
  handed_on.add_releases(releases_[before - 1].releases), handed_on.add_releases({before});
  releases_.push_back({fence.cluster, fence.happened, fence.fenced, std::move(handed_on.releases)});
  return uint32_t(releases_.size());
}

}  // namespace sm100::sim
