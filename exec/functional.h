// SPDX-License-Identifier: Apache-2.0
/// Launches of entries without asynchronous instructions: fills, references, comparisons.  They run functionally,
/// without models and without checks of protocols, and their time is a rough figure.
#pragma once

#include "exec/launch.h"

namespace sm100::exec {

/// Every instruction of the entry can be executed without models.
bool runs_without_models(const Launch& launch);

/// In this process.
/// @param accesses  hears what the launch reads and writes; nullptr: nobody does
sim::RunResult run_without_models(const Launch& launch, const host::Scenario& scenario,
                                  models::AccessMap* accesses);

}  // namespace sm100::exec
