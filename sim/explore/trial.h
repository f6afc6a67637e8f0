// SPDX-License-Identifier: Apache-2.0
/// One run of an exploration: what is perturbed, and what the process that ran it sends back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/host/scenario.h"
#include "sim/run_result.h"
#include "sim/simulation.h"

namespace sm100::sim {

struct Trial {
  std::optional<uint64_t> seed;       ///< of delays everywhere
  std::vector<models::Delay> delays;  ///< beside those of the scenario
  bool record = false;                ///< send back what the seed delayed
};

struct TrialResult {
  std::string input_error, internal_error;  ///< no run; empty: there was one
  Outcome outcome = Outcome::pass;
  std::string id, barrier;   ///< of the first finding
  std::string report;        ///< as RunResult
  std::string title, check;  ///< of the problem, of its numbers
  int sms = 0;
  uint64_t cycles = 0, output_hash = 0, order = 0;
  host::Check numbers;  ///< as far as a later run needs it to skip the comparison
  std::vector<uint64_t> pairs;
  std::vector<std::string> warnings;  ///< "CL8: ..."
  std::vector<models::Delay> drawn;
  std::vector<models::Delay> met;      ///< of Trial::delays and the scenario's: those whose points occurred
  std::vector<std::string> met_texts;  ///< in words, in order of time
  std::vector<std::string> not_checked;
  std::vector<std::string> unmatched_faults;  ///< a line for each
};

/// Runs the scenario in this process, which must not have run one before; returns the bytes of a TrialResult.
std::string run_trial(const host::Scenario& scenario, const Prepared& prepared, const Trial& trial);

/// @param died  how the process ended, if not as it should
TrialResult decode_trial(const std::string& bytes, const std::string& died);

/// What is wrong with a run, as far as two runs can have the same wrong with them.
struct Failure {
  enum class Kind { numbers, hang, finding } kind;
  std::string name;  ///< of the check; of the barrier that the hang waits for
  bool operator==(const Failure&) const = default;
};
/// Nothing: the run passed, with the same bits as the one without jitter.
std::optional<Failure> failure_of(const TrialResult& result, uint64_t right_output);

/// "a hang at accum_full", "finding TC15", "wrong numbers"
std::string text_of(const Failure& failure);

}  // namespace sm100::sim
