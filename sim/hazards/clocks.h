// SPDX-License-Identifier: Apache-2.0
/// Logical time of a thread-block cluster: what each of its warps can know to have happened.
///
/// A component is something whose events follow each other: a warp's instructions, its bulk groups, the commits of
/// a thread's MMAs, the phases of an mbarrier.  An access is over at a stamp of one component; it happens before
/// another when the other's issuer knows that stamp.  Stamps of asynchronous operations need no order among
/// operations: a tensor load is over with the phase that counts its bytes, an MMA with the commit that covers it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "sim/hazards/clock_words.h"

namespace sm100::sim {

using Clock = uint32_t;
inline constexpr Clock kStillRunning = UINT32_MAX;

struct Stamp {
  uint32_t component = 0;
  Clock clock = kStillRunning;
};

class VectorClock {
 public:
  Clock of(uint32_t component) const { return component < clocks_.size() ? clocks_[component] : 0; }
  bool knows(Stamp stamp) const { return stamp.clock <= of(stamp.component); }
  /// All that the other clock has, but for one component.
  bool covers(const VectorClock& other, uint32_t but) const {
    for (uint32_t c = 0; c < other.clocks_.size(); ++c)
      if (c != but && other.clocks_[c] > of(c)) return false;
    return true;
  }
  void advance(Stamp to) {
    if (to.clock > of(to.component)) clocks_.own(to.component + 1)[to.component] = to.clock;
  }
  /// Does not know the stamp, nor what came after it.
  void lower(Stamp below) {
    if (of(below.component) >= below.clock && of(below.component) > 0)
      clocks_.own(0)[below.component] = below.clock == 0 ? 0 : below.clock - 1;
  }
  void clear() { clocks_.clear(); }
  /// The first `components` of another clock.
  void assign(const VectorClock& other, size_t components) {
    if (components >= other.clocks_.size())
      clocks_ = other.clocks_;
    else
      clocks_.copy(other.clocks_.begin(), uint32_t(components));
  }
  /// Where one of the two knows all that the other does, they are one from then on.
  void join(const VectorClock& other) {
    if (!clocks_.is_same(other.clocks_)) join_another(other);
  }

 private:
  void join_another(const VectorClock& other);

  ClockWords clocks_;
};

/// What a warp knows, and hands on at a release.
struct Knowledge {
  VectorClock happened;
  VectorClock fenced;  ///< the part that a fence.proxy.async orders before asynchronous accesses
  VectorClock tmem;    ///< the part that a tcgen05.fence::before_thread_sync handed on
  /// What came before on hardware although PTX does not promise it: what the thread of a commit knew, who arrived
  /// .relaxed at a cluster barrier, and who has exited before it.  What `happened` holds need not be in here.
  VectorClock likely;
  std::vector<uint32_t> releases;  ///< of other clusters, by words of global memory; ascending
  /// And those that relaxed atomics have read, without a fence behind them: PTX promises nothing of what came
  /// before.
  std::vector<uint32_t> unfenced;

  void add_likely(const Knowledge& other) { likely.join(other.happened), likely.join(other.likely); }
  void join(const Knowledge& other) {
    happened.join(other.happened);
    fenced.join(other.fenced);
    tmem.join(other.tmem);
    likely.join(other.likely);
    add_releases(other.releases);
    add(unfenced, other.unfenced);
  }
  void clear() {
    happened.clear(), fenced.clear(), tmem.clear(), likely.clear(), releases.clear(), unfenced.clear();
  }
  void add_releases(const std::vector<uint32_t>& more) { add(releases, more); }
  void add_unfenced(uint32_t release) { add(unfenced, {release}); }

 private:
  /// Keeps the last ones: a lock is passed on soon after it was released.
  static void add(std::vector<uint32_t>& to, const std::vector<uint32_t>& more) {
    if (more.empty() || to == more) return;
    constexpr size_t kKept = 64;
    std::vector<uint32_t> all;
    std::set_union(to.begin(), to.end(), more.begin(), more.end(), std::back_inserter(all));
    if (all.size() > kKept) all.erase(all.begin(), all.end() - kKept);
    to = std::move(all);
  }
};

}  // namespace sm100::sim
