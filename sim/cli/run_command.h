// SPDX-License-Identifier: Apache-2.0
/// What `run` takes and does, for commands that run a scenario of their own making.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sm100::sim::cli {

struct RunOptions {
  std::string scenario;
  std::vector<std::string> sets;
  std::string trace, json;  // empty: not asked for
  std::string trace_sms, trace_window;
  std::string write_ptx;
  std::string data, numerics, provenance;
  std::optional<int64_t> jitter;
  bool progress = false;
  bool inlining = false;

  /// The short options are words for --set; they come last and win.
  std::vector<std::string> overrides() const;
};

/// All options but the scenario.
void add_run_options(CLI::App& command, const std::shared_ptr<RunOptions>& options);
/// Runs the scenario and prints its summary; returns the exit code.
int run(const RunOptions& options);

}  // namespace sm100::sim::cli
