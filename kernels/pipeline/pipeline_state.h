// SPDX-License-Identifier: Apache-2.0
/// Cursor of one side of a ring of stages: stage index, the parity it waits for, and how often it has
/// stepped.
///
/// Index and parity advance together; nothing else ever changes a parity.  CUTLASS's PipelineState.
#pragma once

#include "kernels/isa/portability.h"

namespace sm100 {

struct PipelineState {
  int index = 0;
  uint32_t parity = 0;
  int count = 0;

  SM100_HD constexpr void step(int stages) {
    ++count;
    if (++index == stages) {
      index = 0;
      parity ^= 1;
    }
  }
  /// `steps` steps: those of another's turn.
  SM100_HD constexpr void skip(int steps, int stages) {
    count += steps;
    for (index += steps; index >= stages; index -= stages) parity ^= 1;
  }
  /// Phase of the stage's barrier that this cursor is about to wait for.  A producer's first lap waits for
  /// "phase -1", which counts as complete on a fresh barrier.
  SM100_HD constexpr int lap(int stages) const { return count / stages; }
  constexpr bool operator==(const PipelineState&) const = default;
};

/// A consumer's first wait is for phase 0 of stage 0.
SM100_HD constexpr PipelineState consumer_start_state() { return {0, 0, 0}; }
/// A producer starts at parity 1: all stages are empty, so its first lap must not block (PTX: on a fresh
/// barrier the phase of parity 1 counts as complete).
SM100_HD constexpr PipelineState producer_start_state() { return {0, 1, 0}; }

}  // namespace sm100
