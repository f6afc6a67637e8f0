// SPDX-License-Identifier: Apache-2.0
/// Picks a configuration of the grouped 1D-2D matmul for a problem: what `config = "auto"` means (docs/choose.md).
#pragma once

#include "kernels/grouped_1d2d/host/grouped_1d2d_problem.h"
#include "kernels/matmul/host/choose_config.h"

namespace sm100::host {

/// `config` of the base is not set.
struct Grouped1d2dChoice : ConfigChoice {
  Grouped1d2dConfig grouped;
};

/// The counts of tokens are taken as what is expected; the kernel is right for any.
/// @param problem  its configuration has types, layout and whether experts have factors
/// @param sms      that take part
Grouped1d2dChoice choose_grouped_1d2d(const Grouped1d2dProblem& problem, int sms);

}  // namespace sm100::host
