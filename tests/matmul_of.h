// SPDX-License-Identifier: Apache-2.0
/// The dense matmul's problem in a scenario, to read or change.
#pragma once

#include "kernels/host/scenario.h"
#include "kernels/matmul/host/matmul_run.h"

namespace sm100 {

inline host::MatmulProblem& matmul_of(host::Scenario& s) { return s.problem_as<host::MatmulProblem>(); }
inline const host::MatmulProblem& matmul_of(const host::Scenario& s) { return s.problem_as<host::MatmulProblem>(); }

}  // namespace sm100
