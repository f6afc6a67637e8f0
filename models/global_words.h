// SPDX-License-Identifier: Apache-2.0
/// 32-bit words of global memory that CTAs synchronise on: locks and flags (PTX 8.8: release and acquire at gpu
/// scope).
///
/// Modelled: a released value becomes visible at its cycle, after everything it releases; loads see the value of
/// their cycle; warps that poll sleep until a word is written.  There with data and without, because protocols
/// depend on them.
#pragma once

#include <systemc>
#include <unordered_map>
#include <vector>

#include "models/completion_queue.h"
#include "models/mbarrier.h"
#include "models/memory_system.h"

namespace sm100::models {

class GlobalWords : public sc_core::sc_module {
 public:
  GlobalWords(sc_core::sc_module_name name, MemorySystem& memory) : sc_module(name), memory_(memory) {}

  /// The word at an address inside an allocation that has bytes.
  uint32_t load(GlobalAddr address) const;
  /// The word holds `value` from cycle `visible` on.
  void store(GlobalAddr address, uint32_t value, Cycles visible, const Source& by);
  /// Wakes `waiter` at the next store to the word.
  void watch(GlobalAddr address, Waiter& waiter) { watchers_[address.value].push_back(&waiter); }

  /// The last store to the word that has become visible.
  struct LastStore {
    uint32_t value = 0;
    Cycles visible = 0;
    Source by;
    std::vector<int> ctas;  ///< of all stores so far
  };
  const LastStore* last_store(GlobalAddr address) const {
    const auto it = last_stores_.find(address.value);
    return it == last_stores_.end() ? nullptr : &it->second;
  }

 private:
  MemorySystem& memory_;
  CompletionQueue stores_{"stores"};
  std::unordered_map<uint64_t, std::vector<Waiter*>> watchers_;
  std::unordered_map<uint64_t, LastStore> last_stores_;
};

}  // namespace sm100::models
