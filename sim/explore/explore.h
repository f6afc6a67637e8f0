// SPDX-License-Identifier: Apache-2.0
/// Searches the legal schedules of a scenario for one that breaks it: runs it under many jitter seeds, compares
/// each with the run without jitter, and takes the first failing perturbation apart.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "sim/explore/failure.h"
#include "sim/explore/minimise.h"
#include "sim/explore/perturbation.h"

namespace sm100::sim {

struct ExploreOptions {
  uint64_t first_seed = 1, seeds = 256;
  int jobs = 1;
  std::chrono::seconds time{0};           ///< for the seeds; 0: no limit
  std::chrono::seconds minimise_time{0};  ///< for taking a failure apart; 0: not at all
  std::filesystem::path replay_path;      ///< of the scenario that will replay it: the report names it
};

/// How much of what can happen has been seen.  Runs are counted in the order of their seeds; run 0 has no jitter.
struct Coverage {
  uint64_t runs = 0;
  std::unordered_set<uint64_t> orders, pairs;  ///< RunResult::completion_order, completion_pairs
  uint64_t last_order = 0, last_pair = 0;      ///< run that brought the last new one
  std::vector<std::string> warnings;           ///< of all runs, each once
  void add(const RunResult& result);
};

/// A perturbation that fails.
struct FailingSeed {
  uint64_t seed = 0;
  Failure failure;
  RunResult by_seed;
  size_t drawn = 0;      ///< delays that the seed made until the failure
  Delays delays;         ///< that are enough; empty: not taken apart
  RunResult by_delays;   ///< the run with these alone
  uint64_t runs = 0;     ///< that taking it apart took
  bool minimal = false;  ///< no single delay can be taken away
  bool repeats = true;   ///< the seed's delays, listed one by one, fail as the seed does
  double seconds = 0;    ///< of taking it apart
};

/// "CL8: ...", one for each.
std::vector<std::string> warning_texts(const RunResult& result);

/// The delay at a point; nullptr: there is none.
const models::Delay* delay_at(const Delays& delays, const models::JitterPoint& point);

struct Exploration {
  RunResult plain;  ///< the run without jitter
  std::optional<Failure> plain_failure;
  Coverage coverage;
  bool out_of_time = false;
  double seconds = 0;  ///< of the seeds
  std::optional<FailingSeed> found;
};

/// Warnings of runs with jitter that the run without does not have.
std::vector<std::string> warnings_with_jitter_only(const Exploration& exploration);

/// @param progress  called now and then with the fraction done and a few words
/// Throws InputError when the scenario cannot run, std::runtime_error when the simulator fails.
Exploration explore(const host::Scenario& scenario, const ExploreOptions& options,
                    const std::function<void(double, std::string_view)>& progress);

}  // namespace sm100::sim
