// SPDX-License-Identifier: Apache-2.0
/// The result of a run as JSON (docs/user-guide.md, "JSON").
#pragma once

#include "kernels/host/scenario.h"
#include "sim/cli/json_output.h"
#include "sim/run_result.h"

namespace sm100::sim::cli {

/// The object of `run --json`.
Json run_json(const host::Scenario& scenario, const RunResult& result);

/// Findings that differ in nothing but the CTA, or the stage and phase, are one with a count; the first is shown.
Json findings_json(const std::vector<Finding>& findings);

}  // namespace sm100::sim::cli
