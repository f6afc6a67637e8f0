// SPDX-License-Identifier: Apache-2.0
/// The [[launch]] tables of a scenario: several kernels in a run, on one or more streams.  Each has the tables of
/// its kernel below it ([launch.problem], [launch.config]), which the kernel reads as if they stood in a scenario
/// of their own.
#pragma once

#include "kernels/host/scenario.h"
#include "kernels/host/toml_reader.h"

namespace sm100::host {

/// Names, kernels, streams, events: Scenario::launch_list without what the kernels read.
std::vector<LaunchSpec> read_launch_heads(const TomlDocument& document, const TomlTable& root);
/// The kernels' own tables, and the inputs that are other launches' outputs.  [run] has been read.
void read_launch_problems(const TomlDocument& document, const TomlTable& root, Scenario& scenario);

}  // namespace sm100::host
