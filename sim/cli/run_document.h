// SPDX-License-Identifier: Apache-2.0
/// The result of a run as `run --json` writes it (docs/json.md).
#pragma once

#include "kernels/host/scenario.h"
#include "sim/cli/json_output.h"
#include "sim/run_result.h"

namespace sm100::sim::cli {

/// The scenario and the result (sim/run_json.h).
Json run_document(const host::Scenario& scenario, const RunResult& result);

}  // namespace sm100::sim::cli
