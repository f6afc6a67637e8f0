// SPDX-License-Identifier: Apache-2.0
// Fences of generic accesses (fence.acq_rel, fence.sc, membar) with relaxed atomics, or relaxed arrivals and waits
// of mbarriers, around them: a fence ahead of a relaxed atomic makes it a release of what came before the fence,
// one behind it an acquire of what it has read (PTX 8.8, release and acquire patterns).  What a warp has fenced
// before a barrier is fenced for whoever passes it, too: __threadfence() of all, __syncthreads(), then an atomic of
// one thread (fences of scope .gpu are in one order).
#include <algorithm>

#include "sim/hazards/hazard_checker.h"

namespace sm100::sim {

void HazardChecker::fence_memory(const Thread& t) {
  at_once(t.slot);
  WarpState& self = warp(t);
  for (const uint32_t release : self.read_relaxed) acquire_word(t, release);
  self.read_relaxed.clear();
  fence_cta(t);
  releases_[self.fence - 1].fence = true;
  self.known.add_releases({self.fence});
}

void HazardChecker::fence_cta(const Thread& t) {
  at_once(t.slot);
  WarpState& self = warp(t);
  for (const uint32_t release : self.read_in_shared) acquire_word(t, release);
  self.read_in_shared.clear();
  self.known.join(self.seen_relaxed);
  self.seen_relaxed.clear();
  self.fence = release_word(t);
}

void HazardChecker::relaxed_arrival(const Thread& t, Knowledge& released) {
  const WarpState& self = warp(t);
  released.clear();
  released.add_likely(self.known);
  if (self.fence == 0) return;
  const Release& fenced = releases_[self.fence - 1];
  released.happened.join(fenced.happened), released.fenced.join(fenced.fenced);
  released.add_releases(fenced.releases);
}

void HazardChecker::relaxed_load(const Thread& t, uint32_t before) {
  at_once(t.slot);
  if (before == 0) return;
  WarpState& self = warp(t);
  self.read_relaxed.insert(before), self.known.add_unfenced(before);
}

void HazardChecker::shared_word(const Thread& t, uint32_t at_rank, uint32_t offset, const StrongAccess& access) {
  at_once(t.slot);
  WarpState& self = warp(t);
  if (access.writes && at_rank != rank(t.slot)) note_remote_word(t, at_rank, offset);
  if (access.reads && at_rank == rank(t.slot))
    for (RemoteWord& stored : cluster(t.slot).remote_words[at_rank]) stored.seen |= stored.offset == offset;
  uint32_t& word = cluster(t.slot).ctas[at_rank].words[offset];
  const uint32_t before = access.reads ? word : 0;  // a store does not go on with what it replaces
  if (before != 0 && access.acquires) acquire_word(t, before);
  if (before != 0 && !access.acquires) self.read_in_shared.insert(before);
  if (!access.writes) return;
  if (looks_for_unwritten_)
    for (uint32_t at = offset / 4; at <= (offset + 7) / 4; ++at)  // 8 bytes at most
      cluster(t.slot).ctas[at_rank].strongly_written.insert(at);
  if (access.releases) {
    word = release_word(t, before);
    return;
  }
  const auto has = [](const std::vector<uint32_t>& all, uint32_t r) {
    return std::find(all.begin(), all.end(), r) != all.end();
  };
  if (before == 0 || self.fence == 0 || before == self.fence || has(releases_[before - 1].releases, self.fence)) {
    word = before != 0 ? before : self.fence;
    return;
  }
  Knowledge handed_on;  // the value's release goes on, and what this warp has fenced comes to it
  handed_on.add_releases(releases_[self.fence - 1].releases), handed_on.add_releases({self.fence});
  handed_on.add_releases(releases_[before - 1].releases), handed_on.add_releases({before});
  Release both = releases_[self.fence - 1];
  both.fence = false, both.releases = std::move(handed_on.releases);
  releases_.push_back(std::move(both));
  word = uint32_t(releases_.size());
}

uint32_t HazardChecker::relaxed_atomic(const Thread& t, uint32_t before) {
  at_once(t.slot);
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
