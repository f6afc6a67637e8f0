// SPDX-License-Identifier: Apache-2.0
/// What is wrong with a run, as far as two runs can have the same wrong with them.
#pragma once

#include <optional>
#include <string>

#include "sim/run_result.h"

namespace sm100::sim {

struct Failure {
  Outcome outcome = Outcome::mismatch;  ///< mismatch also where the numbers are right, but have other bits
  std::string name;                     ///< of the check; of the barrier that the hang waits for
  bool operator==(const Failure&) const = default;
};

/// Nothing: the run passed, with the same bits as the one without jitter.
std::optional<Failure> failure_of(const RunResult& result, uint64_t right_output);

/// "a hang at accum_full", "finding TC15", "wrong numbers"
std::string text_of(const Failure& failure);

}  // namespace sm100::sim
