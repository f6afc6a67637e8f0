// SPDX-License-Identifier: Apache-2.0
/// What `sm100sim play` does with a scenario and its changes: runs it in a process of its own and says what the
/// page shows of it.  Knows no HTTP; sim/cli/play_api.h does.
///
/// SystemC elaborates once per process, so each run is a fork of the process that has the session, which never
/// simulates.
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/host/scenario.h"
#include "sim/cli/json_output.h"
#include "sim/cli/play_faults.h"
#include "sim/cli/play_state.h"
#include "sim/cli/play_trace.h"

namespace sm100::sim::cli {

struct PlayLimits {
  std::chrono::milliseconds time{10'000};  ///< of a run
  uint64_t memory = uint64_t{4} << 30;     ///< bytes of address space that a run may take
  size_t reply = size_t{48} << 20;         ///< bytes of a run's trace
};

class PlaySession {
 public:
  /// @param opened  a file, or a name of `list scenarios`.  Throws InputError when it does not load.
  explicit PlaySession(const std::string& opened, const PlayLimits& limits = {});
  ~PlaySession();

  /// {"opened": name, "groups": [{"label", "scenarios": [{"name", "description"}]}]}
  Json menu() const;

  /// @param request  {"state": PlayState, "before": PlayState or absent}
  /// Returns {"trace", "report", "controls", "faults", ...}, or {"errors": [{"key", "text"}]} for what the scenario
  /// refuses.  Throws InputError for what the page cannot have sent.
  Json run(const Json& request);

  /// The page that `sm100sim export` writes of the same run or runs; throws InputError where there is none.
  std::string report(const Json& request);

 private:
  struct Run;
  struct Choice;
  Choice choice_of(const PlayState& state);
  std::filesystem::path file_of(const std::string& name) const;
  std::shared_ptr<const Run> known(const Choice& choice) const;
  std::vector<Choice> choices_of(const Json& request);
  std::vector<std::shared_ptr<const Run>> runs_of(const std::vector<Choice>& choices);
  static std::string text_of(const Choice& choice);
  static PlayTrace trace_of(const Run& run, const std::string& which);
  Json apart(const std::function<Json()>& work) const;
  std::vector<PlayFault> offered(const Choice& choice);

  PlayLimits limits_;
  std::string opened_;  ///< name in the menu
  std::filesystem::path opened_file_;
  std::deque<std::pair<std::string, std::shared_ptr<const Run>>> runs_;  ///< the latest first
  std::deque<std::pair<std::string, std::vector<PlayFault>>> offers_;    ///< by scenario and settings
};

}  // namespace sm100::sim::cli
