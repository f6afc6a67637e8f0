// SPDX-License-Identifier: Apache-2.0
/// Picks a configuration of the grouped 1D-1D matmul for a problem: what `config = "auto"` means (docs/choose.md).
#pragma once

#include "kernels/grouped_1d1d/host/grouped_1d1d_problem.h"
#include "kernels/matmul/host/choose_config.h"

namespace sm100::host {

/// `config` of the base is not set.
struct Grouped1d1dChoice : ConfigChoice {
  Grouped1d1dConfig grouped;
};

/// The counts of tokens are taken as what is expected; the kernel is right for any.
/// @param problem  its configuration has formats, output, layout and whether experts have factors
/// @param sms      that take part
Grouped1d1dChoice choose_grouped_1d1d(const Grouped1d1dProblem& problem, int sms);

}  // namespace sm100::host
