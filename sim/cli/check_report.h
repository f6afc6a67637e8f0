// SPDX-License-Identifier: Apache-2.0
/// The result of `sm100sim check` for people, for programs (JSON) and for continuous integration (JUnit XML).
#pragma once

#include <string>
#include <vector>

#include "sim/cli/check_suite.h"
#include "sim/cli/json_output.h"

namespace sm100::sim::cli {

struct CheckTotals {
  size_t passed = 0, failed = 0, errors = 0, skipped = 0;
  size_t run() const { return passed + failed + errors; }
};
CheckTotals totals_of(const std::vector<CheckedScenario>& results);

/// The verdict first; each scenario that did not end as it says, and each that was not run.
std::string check_text(const std::vector<CheckedScenario>& results, int jobs, double seconds);

/// "ok      12.3 s  scenarios/13_pairs.toml", without a newline.
std::string check_line(const CheckedScenario& result);

Json check_json(const std::vector<CheckedScenario>& results, int jobs, double seconds);

/// A test suite for each folder, a test case for each scenario.
std::string check_junit(const std::vector<CheckedScenario>& results, double seconds);

}  // namespace sm100::sim::cli
