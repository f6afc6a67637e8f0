// SPDX-License-Identifier: Apache-2.0
/// What barriers and warps of a PTX kernel are called: what the program's text lets warps do, and names.toml.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernels/host/ptx_layout.h"
#include "kernels/ptx_launch/host/ptx_problem.h"

namespace sm100::host {

/// Of each warp: "scheduler", "load", "mma", "epilogue"; empty: the text does not say.
std::vector<std::string> ptx_roles(const ptx::Program& program, const SharedLayout& layout, Dim3 block);

/// Reads [[barrier]] and [[role]] of a names.toml into the problem: names, stages, who arrives and waits, in place
/// of symbols that lie there.  Throws InputError.
void read_ptx_names(const std::filesystem::path& file, PtxProblem& problem);

}  // namespace sm100::host
