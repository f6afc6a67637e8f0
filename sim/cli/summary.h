// SPDX-License-Identifier: Apache-2.0
/// What `run` prints: a summary for people.
#pragma once

#include <string>

#include "kernels/host/scenario.h"
#include "sim/run_result.h"

namespace sm100::sim::cli {

/// The important thing first; ends with a newline.  `trace` is empty when none was written.
std::string format_summary(const host::Scenario& scenario, const RunResult& result, const std::string& trace);

}  // namespace sm100::sim::cli
