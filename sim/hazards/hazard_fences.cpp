// SPDX-License-Identifier: Apache-2.0
// Fences of generic accesses (fence.acq_rel, fence.sc, membar) with relaxed atomics around them: a fence ahead of a
// relaxed atomic makes it a release of what came before the fence, one behind it an acquire of what it has read
// (PTX 8.8, release and acquire patterns).  What a warp has fenced before a barrier is fenced for whoever passes
// it, too: __threadfence() of all, __syncthreads(), then an atomic of one thread (fences of scope .gpu are in one
// order).
#include <algorithm>

#include "sim/hazards/hazard_checker.h"

namespace sm100::sim {

void HazardChecker::fence_memory(const Thread& t) {
  WarpState& self = warp(t);
  for (const uint32_t release : self.read_relaxed) acquire_word(t, release);
  self.read_relaxed.clear();
  const uint32_t fence = release_word(t);
  releases_[fence - 1].fence = true;
  self.known.add_releases({fence});
}

uint32_t HazardChecker::relaxed_atomic(const Thread& t, uint32_t before) {
  WarpState& self = warp(t);
  if (before != 0) self.read_relaxed.insert(before), self.known.add_unfenced(before);
  std::vector<uint32_t> fences;
  for (const uint32_t r : self.known.releases)
    if (releases_[r - 1].fence && releases_[r - 1].cluster == cluster(t.slot).id) fences.push_back(r);
  if (fences.empty()) return before;
  if (fences.size() == 1 && (before == 0 || before == fences.front())) return fences.front();
  if (before != 0) {  // atomics that poll would add one each time
    const std::vector<uint32_t>& known = releases_[before - 1].releases;
    if (std::includes(known.begin(), known.end(), fences.begin(), fences.end())) return before;
  }
  Release all{.cluster = cluster(t.slot).id, .happened = {}, .fenced = {}, .releases = {}};
  Knowledge handed_on;
  if (before != 0) fences.insert(std::lower_bound(fences.begin(), fences.end(), before), before);
  for (const uint32_t r : fences) {
    const Release& one = releases_[r - 1];
    if (one.cluster == all.cluster) all.happened.join(one.happened), all.fenced.join(one.fenced);
    handed_on.add_releases(one.releases), handed_on.add_releases({r});
  }
  all.releases = std::move(handed_on.releases);
  releases_.push_back(std::move(all));
  return uint32_t(releases_.size());
}

}  // namespace sm100::sim
