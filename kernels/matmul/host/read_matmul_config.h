// SPDX-License-Identifier: Apache-2.0
/// What the matmuls of this family read of a scenario's [config] alike.
#pragma once

#include "kernels/host/read_config.h"
#include "kernels/matmul/host/config_rules.h"

namespace sm100::host {

/// Lines about values that break a rule.
using Refusals = std::vector<std::string>;

/// The keys kTileAndScheduleKeys, where the table has them.  Rules judge the values later.
void read_tiles_and_schedule(const TomlDocument& document, const TomlTable& table, MatmulConfig& config,
                             Refusals& refused);
inline const std::vector<std::string> kTileAndScheduleKeys = {
    "mma",          "cta_group",     "cluster",      "stages", "accum_stages", "clc_stages",
    "raster_order", "block_swizzle", "mma_prefetch", "pdl",    "ab_swapped",   "scheduler"};

/// A line for each broken rule.
void refuse(const TomlDocument& document, const std::vector<RuleViolation>& broken, Refusals& refused);

}  // namespace sm100::host
