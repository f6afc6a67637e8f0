// SPDX-License-Identifier: Apache-2.0
/// The lanes of a warp in groups, each at an instruction of its own.  The group with the lowest address goes first,
/// and groups that meet become one again: lanes come together behind a branch where code is laid out in order.  A
/// group that waits in vain lets the others go, so that every lane makes progress.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/register_file.h"

namespace sm100::ptx {

struct LaneGroup {
  uint32_t pc = 0;
  LaneMask lanes = 0;
  bool alone = false;  ///< those that it parked for do not come: the instruction says what is missing
};

class LaneGroups {
 public:
  /// So many rounds in which every group has waited in vain: whoever is first waits on.
  static constexpr int kVainRounds = 64;

  /// Nothing but one group of these lanes, at the first instruction.
  void restart(LaneMask lanes) {
    ready_.resize(1), waiting_.clear(), parked_.clear();
    LaneGroup& all = ready_.front();
    all.pc = 0, all.lanes = lanes, all.alone = false;
    vain_rounds_ = 0;
  }
  bool none_can_run() const { return ready_.empty() && waiting_.empty(); }
  bool none_is_ready() const { return ready_.empty(); }
  bool others() const { return !waiting_.empty() || !ready_.empty(); }
  /// A group that has come to this instruction must let the others go.
  uint32_t limit() const { return limit_; }
  /// The ready group with the lowest instruction; if none is ready, those that have waited in vain try again.
  LaneGroup next();
  /// All that are left wait for lanes that will not come.
  void release_parked();

  /// Groups at one instruction become one.
  void add_ready(LaneGroup group);
  /// A wait of it was in vain.
  void wait(LaneGroup group) { waiting_.push_back(group); }
  /// Waits for others at this instruction, or goes on with those that wait there.
  void park(LaneGroup group);
  /// A branch that only some lanes take: the lower of the two ways goes first, as `group`.
  /// @return other groups come before it
  bool branch(LaneGroup& group, LaneMask taken, uint32_t target);
  /// `lanes` of the group go elsewhere; the rest stays in it.
  void split_off(LaneGroup& group, LaneMask lanes, uint32_t pc);
  /// A wait has ended.
  void made_progress() { vain_rounds_ = 0; }

 private:
  void set_limit();

  std::vector<LaneGroup> ready_, waiting_, parked_;
  uint32_t limit_ = UINT32_MAX;  ///< lowest instruction of the ready groups
  int vain_rounds_ = 0;
};

}  // namespace sm100::ptx
