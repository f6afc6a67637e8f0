// SPDX-License-Identifier: Apache-2.0
/// Who waits for whom, over all CTAs on the GPU.
///
/// A node is what the warps of one role of a CTA are blocked on; its debts are what it misses and which warps were
/// to deliver it; an edge leads to the wait that a debtor is in itself.  A debtor that has exited, or is past the
/// point where it should have delivered, is where a hang comes from; waits that owe each other are a cycle.
#pragma once

#include <string>
#include <vector>

#include "sim/hang/debts.h"

namespace sm100::sim {

struct Wait {
  Cta* cta = nullptr;
  std::string role;
  std::vector<int> warps;
  Blocked blocked;
  BarrierName barrier;                             ///< mbarrier waits
  const models::Mbarrier::State* state = nullptr;  ///< mbarrier waits
  Debts debts;
  std::vector<size_t> on;         ///< waits that its debtors are in
  std::vector<size_t> followers;  ///< the reverse: waits whose debtors are in this one

  bool on_mbarrier() const { return state && barrier.array; }
  const Warp& warp() const { return *cta->warps()[size_t(warps.front())]; }
};

class WaitGraph {
 public:
  explicit WaitGraph(Slots slots);

  const Slots& slots() const { return slots_; }
  const std::vector<Wait>& waits() const { return waits_; }  ///< blocked warps first, then those that run
  /// The wait that a debtor is in; nullptr: it has exited.
  const Wait* of(const Debt& debt) const;

  /// The debtor is past the point where it delivers what it owes: nothing that happens can still end this wait.
  bool has_passed(const Wait& wait, const Debt& debt) const;
  /// The shortest way from a wait back to itself, each waiting for the next; empty: there is none.
  std::vector<size_t> cycle_through(size_t wait) const;
  /// How many steps each wait is from `root`, backwards: 0 the root itself, 1 who waits for it, ...; -1: not at
  /// all.
  std::vector<int> distances_from(size_t root) const;
  size_t index(const Wait& wait) const { return size_t(&wait - waits_.data()); }

 private:
  void add_waits(Cta& cta);
  Debts debts_of(const Wait& wait) const;
  Debts named_barrier_debts(const Wait& wait) const;
  Debts tensor_memory_debts(const Wait& wait) const;
  Debts word_debts(const Wait& wait) const;
  bool store_passed(const Wait& wait, const Debt& debt) const;

  Slots slots_;
  std::vector<Wait> waits_;
};

}  // namespace sm100::sim
