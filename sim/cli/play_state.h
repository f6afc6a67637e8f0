// SPDX-License-Identifier: Apache-2.0
/// What someone has chosen in `sm100sim play`: a scenario, and what is changed of it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sim/cli/json_output.h"

namespace sm100::sim::cli {

struct PlayState {
  std::string scenario;             ///< name in the menu, "lessons/01_one_stage"
  std::map<std::string, Json> set;  ///< "config.stages": 2; only keys of play_keys()
  std::string fault;                ///< id of an offered one; "none"; empty: as the scenario has it
  int64_t occurrence = 0;           ///< n-th time that it is made, from 1; 0: every time

  bool operator==(const PlayState&) const = default;

  /// Throws InputError, one line, for whatever no control can have sent.
  static PlayState of_json(const Json& json);
  Json json() const;
  /// What is set, as words for --set; without the fault.
  std::vector<std::string> settings() const;
};

/// The scenario as it is when it is played: a file of its own, to be run with `sm100sim run`.
/// @param overrides  as load_scenario takes them
/// @param changed    false: the scenario is the file itself, whose [expect] holds
std::string scenario_text(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                          bool changed);

}  // namespace sm100::sim::cli
