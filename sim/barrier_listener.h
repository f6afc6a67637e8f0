// SPDX-License-Identifier: Apache-2.0
/// Hears of every event and every wait of the mbarriers of a run, with its line.
#pragma once

#include <cstdint>

#include "kernels/isa/portability.h"
#include "models/mbarrier.h"

namespace sm100::sim {

struct Kernel;
class Warp;

class BarrierListener {
 public:
  virtual ~BarrierListener() = default;
  virtual void mbarrier_event(const Kernel& kernel, const models::MbarrierEvent& event) = 0;
  /// A warp asks for a phase, whether or not it has completed; a loop that asks again is one wait.
  /// @param phase  that its parity names, from 0; -1: the one before the first
  /// @param tests  it does not wait
  virtual void mbarrier_wait(const Warp& warp, uint32_t offset, uint32_t parity, int64_t phase, bool tests,
                             const Loc& loc) = 0;
};

/// Of the process's one run; nullptr: nobody listens.
BarrierListener*& barrier_listener();

}  // namespace sm100::sim
