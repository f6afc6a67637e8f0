// SPDX-License-Identifier: Apache-2.0
/// `[[delay]]` of a scenario: one point of the run comes later than it would (models/profiles/jitter_point.h).
/// `sm100sim explore` writes them, and they may be written by hand.
#pragma once

#include <string>
#include <vector>

#include "models/profiles/jitter_point.h"

namespace sm100::host {

class TomlDocument;
class TomlTable;
struct RunPlan;
struct Scenario;

struct DelaySpec {
  models::Delay delay;
  std::string if_unmatched;  ///< the line that says that the point did not occur
};

/// Reads and checks one table of `[[delay]]`.  Throws InputError.
DelaySpec read_delay(const TomlDocument& document, const TomlTable& table, const Scenario& scenario,
                     const RunPlan& plan);

/// The keys of such a table.
std::vector<std::string> delay_keys();

/// The table's text, with `comment` above it (a line for each of its lines).
std::string delay_toml(const models::Delay& delay, const RunPlan& plan, const std::string& comment);

}  // namespace sm100::host
