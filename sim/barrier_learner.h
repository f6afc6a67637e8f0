// SPDX-License-Identifier: Apache-2.0
/// The barrier table of a kernel that states none, or only names: what a run of it shows.  A barrier is found at its
/// mbarrier.init; arrivals, waits and roles are those that occurred.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/pipeline/barrier_array.h"
#include "models/observer.h"
#include "sim/kernel.h"

namespace sm100::sim {

/// Listens to a run.
class BarrierLearner {
 public:
  explicit BarrierLearner(const Kernel& kernel) : kernel_(kernel) {}

  void mbarrier_event(const models::MbarrierEvent& event);
  void waited(uint32_t offset, int warp);

  /// Rows for the barriers that the kernel's table lacks: neighbours that are used alike are one array.  Its name is that of
  /// a row of the table which gives no count ("full"), else "mbarrier 0x4400".  Rows of the table that give a count stay.
  std::vector<BarrierArray> table() const;

 private:
  struct Seen {
    uint32_t count = 0;
    std::set<std::string> arrives, arrives_with, waits;
  };
  const Kernel& kernel_;
  std::map<uint32_t, Seen> seen_;  ///< by offset, of all CTAs
};

/// Calls `run` in a process of its own (SystemC elaborates once in each) and returns the table that it has learned; an
/// empty one where no process can be made.
std::vector<BarrierArray> learned_table(const std::function<std::vector<BarrierArray>()>& run);

/// The kernel's table leaves something to learn.
bool must_learn(const std::vector<BarrierArray>& table);

}  // namespace sm100::sim
