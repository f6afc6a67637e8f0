// SPDX-License-Identifier: Apache-2.0
/// How tensor copies see tensor maps that lie in global memory: the tensormap proxy (PTX 8.5 proxies,
/// fence.proxy.tensormap).
///
/// Modelled: a CTA keeps a view of each map that its copies use, from the first use on until an acquire drops it; a
/// view is made of what was last released of the map, not of what threads have written since.  So a copy without an
/// acquire uses the map as it was, and so does one whose edit nobody released.  A copy that has to fetch the map
/// first starts an L2 hit later.
/// Approximated: scopes are not looked at; an acquire is in time, so one that comes before the release sees the old
/// map.  Maps in kernel parameters need none of it.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/isa/tensor_map.h"
#include "models/memory_system.h"
#include "models/profiles/profile.h"

namespace sm100::models {

class TensorMapProxy {
 public:
  TensorMapProxy(MemorySystem& memory, const DeviceProfile& profile) : memory_(memory), profile_(profile) {}

  /// A new CTA takes the slot: it has no views.
  void start_cta(int slot);

  /// A thread of the CTA in a slot is about to write to the map, which has bytes in memory.
  void before_edit(int slot, GlobalAddr map);
  /// What memory holds of the map may be acquired.
  void release(GlobalAddr map);
  /// The same of all maps that threads of the slot have written to.
  void release_edits_of(int slot);
  /// The slot's next copy with the map fetches it.
  void acquire(int slot, GlobalAddr map);

  struct View {
    TensorMap map;
    Cycles ready = 0;  ///< cycle at which the copy engine has it
  };
  /// What a copy of the slot that is issued at cycle `at` uses; nullptr: no allocation with bytes holds the map.
  const View* fetch(int slot, GlobalAddr map, Cycles at);

 private:
  /// A map that has been edited.
  struct Edited {
    TensorMap released;
    int by = -1;  ///< slot whose edits are not released yet; -1: all are
  };
  bool read(GlobalAddr map, TensorMap& to);

  MemorySystem& memory_;
  const DeviceProfile& profile_;
  std::unordered_map<uint64_t, Edited> edited_;                ///< by address
  std::vector<uint64_t> unreleased_;                           ///< addresses
  std::vector<std::vector<std::pair<uint64_t, View>>> views_;  ///< by slot; a CTA has a few
};

}  // namespace sm100::models
