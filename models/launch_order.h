// SPDX-License-Identifier: Apache-2.0
/// Which launches of a run are ordered: by the order of their stream, and by events that a stream waits for
/// (cudaStreamWaitEvent).  What neither orders may overlap, and touches the same memory at its own risk.
#pragma once

#include <cstddef>
#include <vector>

namespace sm100::models {

class LaunchOrder {
 public:
  /// The next launch in the order of the host's calls.
  /// @param after  launches whose completion its stream waits for before it; all of them have been added
  void add(int stream, const std::vector<int>& after);

  /// The launch ahead in the same stream; -1: it is the stream's first.
  int ahead(int launch) const { return ahead_[std::size_t(launch)]; }
  /// The next in the same stream; -1: it is the last so far.
  int behind(int launch) const { return behind_[std::size_t(launch)]; }
  /// `earlier` is ahead of `later` in its stream, or something that `later` is behind waits for it.  A programmatic
  /// launch counts: it may overlap the one ahead until griddepcontrol.wait.
  bool before(int earlier, int later) const {
    return earlier < later && before_[std::size_t(later)][std::size_t(earlier)];
  }
  int launches() const { return int(ahead_.size()); }

 private:
  std::vector<int> streams_, ahead_, behind_;
  std::vector<std::vector<bool>> before_;  ///< by launch: those that are ordered before it
};

}  // namespace sm100::models
