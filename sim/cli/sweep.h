// SPDX-License-Identifier: Apache-2.0
/// Many runs of scenarios under all combinations of values, and a line of JSON for each (docs/sweeps.md).
///
/// Lines are appended to a file of the shard with one write each, so a killed sweep has lost nothing but what was
/// running: the next one leaves out what it finds.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/cli/json_output.h"

namespace sm100::sim::cli {

/// One run.
struct SweepRun {
  size_t index = 0;      ///< in the sweep's order
  std::string scenario;  ///< as the sweep names it
  std::filesystem::path file;
  Json values;                         ///< by key: "config.stages", "run.seed"
  std::vector<std::string> overrides;  ///< the same, as --set takes them
  std::string key;                     ///< of scenario, values and build
};

struct Sweep {
  std::string name;
  std::vector<SweepRun> runs;
};

/// Reads a sweep: its runs in their order.  Throws InputError for whatever is wrong with it, or with a value under
/// which no scenario loads.
Sweep read_sweep(const std::filesystem::path& file);

/// A part of a sweep's runs: each `count`th, from number `number`, from 1.
struct Shard {
  size_t number = 1, count = 1;
  bool has(const SweepRun& run) const { return run.index % count == number - 1; }
};

struct SweepOptions {
  Shard shard;
  std::filesystem::path folder;
  int jobs = 1;
  std::chrono::seconds time_limit{0};  ///< of each run; 0: none
};

/// The lines of a folder's shards, in the sweep's order; one for each key.
std::vector<Json> read_lines(const std::filesystem::path& folder);

struct SweepTotals {
  size_t runs = 0, already = 0;            ///< of the shard; already: found in the folder
  std::map<std::string, size_t> outcomes;  ///< of all its runs, those found in the folder among them
};

/// Runs what the folder does not have yet.
/// @param finished  called for each line, with how many of how many are known
SweepTotals run_sweep(const Sweep& sweep, const SweepOptions& options,
                      const std::function<void(const Json& line, size_t known, size_t of)>& finished);

}  // namespace sm100::sim::cli
