// SPDX-License-Identifier: Apache-2.0
/// The barrier table of a kernel that states none, or only names: what a run of it shows.  A barrier is found at
/// its mbarrier.init; arrivals, waits and roles are those that occurred.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/observer.h"
#include "sim/barrier_table.h"
#include "sim/launch_list.h"

namespace sm100::sim {

/// Listens to a run.
class BarrierLearner {
 public:
  /// @param launches  of the run, whose kernels outlive the learner
  explicit BarrierLearner(const LaunchList& launches) : kernels_(launches.kernels()), seen_(kernels_.size()) {}

  /// An event in a CTA of the kernel with that index; the kernel may be another object than the learner's.
  void mbarrier_event(const Kernel& kernel, const models::MbarrierEvent& event);
  void waited(const Kernel& kernel, uint32_t offset, int warp);

  /// Rows for the barriers that the kernel's table lacks: neighbours that are used alike are one array.  Its name
  /// is that of a row of the table which gives no count ("full"), else "mbarrier 0x4400".  Rows of the table that
  /// give a count stay.
  BarrierTable table(size_t kernel = 0) const;

 private:
  struct Seen {
    uint32_t count = 0;
    std::set<std::string> arrives, arrives_with, waits;
  };
  std::vector<const Kernel*> kernels_;          ///< by Kernel::index, as `seen_`
  std::vector<std::map<uint32_t, Seen>> seen_;  ///< by offset, of all CTAs of the kernel
};

/// Calls `run` in a process of its own (SystemC elaborates once in each) and returns the tables that it has
/// learned, by kernel; none where no process can be made.
std::vector<BarrierTable> learned_tables(const std::function<std::vector<BarrierTable>()>& run);

/// The kernel's table leaves something to learn.
bool must_learn(const std::vector<BarrierArray>& table);

}  // namespace sm100::sim
