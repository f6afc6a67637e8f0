// SPDX-License-Identifier: Apache-2.0
/// 32-bit words of global memory that CTAs synchronise on: locks and flags (PTX 8.8: release and acquire at gpu
/// scope).
///
/// Modelled: a released value becomes visible at its cycle, after everything it releases; loads see the value of
/// their cycle; warps that poll sleep until a word is written; atomics, at one
/// cycle.  There with data and without, because protocols
/// depend on them.
#pragma once

#include <cstring>
#include <systemc>
#include <unordered_map>
#include <vector>

#include "models/completion_queue.h"
#include "models/mbarrier.h"
#include "models/memory_system.h"
#include "models/time.h"

namespace sm100::models {

class GlobalWords : public sc_core::sc_module {
 public:
  GlobalWords(sc_core::sc_module_name name, MemorySystem& memory) : sc_module(name), memory_(memory) {}

  /// The word at an address inside an allocation that has bytes.
  uint32_t load(GlobalAddr address) const;
  /// The word holds `value` from cycle `visible` on; for the CTA that has stored it from its next access on.
  void store(GlobalAddr address, uint32_t value, Cycles visible, const Source& by);
  /// The word holds `value` from now on; who polls it is woken at cycle `visible`.  What is no release is ordered
  /// by whatever follows it, a fence or a barrier, so it must not be on its way then.
  void store_now(GlobalAddr address, uint32_t value, Cycles visible, const Source& by);
  /// An access of `by` to the word comes: its CTA's own stores are there before.
  void finish_own(GlobalAddr address, const Source& by) {
    if (!pending_.empty()) finish(address, by.cta);
  }
  /// An atomic: the `bytes` (2, 4 or 8) at the address become f(what they hold), now; returns what they held.  0
  /// and no change where the allocation has no bytes.
  template <class F>
  uint64_t modify(GlobalAddr address, uint32_t bytes, const Source& by, F&& f) {
    finish_own(address, by);
    uint64_t old = 0;
    uint8_t* const at = memory_.data(address, bytes);
    if (!at) return 0;
    std::memcpy(&old, at, bytes);
    const uint64_t value = f(old);
    std::memcpy(at, &value, bytes);
    note_store(address, uint32_t(value), now(), by);
    return old;
  }
  /// Wakes `waiter` at the next store to the word.
  void watch(GlobalAddr address, Waiter& waiter) { watchers_[address.value].push_back(&waiter); }

  /// The last store to the word that has become visible.
  struct LastStore {
    uint32_t value = 0;
    Cycles visible = 0;
    Source by;
    std::vector<int> ctas;  ///< of all stores so far
    uint32_t before = 0;    ///< the value of the store before this one
  };
  const LastStore* last_store(GlobalAddr address) const {
    const auto it = last_stores_.find(address.value);
    return it == last_stores_.end() ? nullptr : &it->second;
  }

 private:
  void note_store(GlobalAddr address, uint32_t value, Cycles visible, const Source& by);
  void note_value(GlobalAddr address, uint32_t value, Cycles visible, const Source& by);
  void wake(GlobalAddr address, const Source& by);
  void finish(GlobalAddr address, int cta);
  /// A store that is not visible yet.
  struct Pending {
    uint64_t number;
    uint32_t value;
    Source by;
  };
  void apply(GlobalAddr address, const Pending& store, Cycles visible);

  MemorySystem& memory_;
  CompletionQueue stores_;
  std::unordered_map<uint64_t, std::vector<Pending>> pending_;  ///< by address, in the order of their issue
  uint64_t numbered_ = 0;
  std::unordered_map<uint64_t, std::vector<Waiter*>> watchers_;
  std::unordered_map<uint64_t, LastStore> last_stores_;
};

}  // namespace sm100::models
