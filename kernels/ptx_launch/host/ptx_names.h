// SPDX-License-Identifier: Apache-2.0
/// What barriers and warps of a PTX kernel are called: what the program's text lets warps do, and names.toml.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernels/host/ptx_layout.h"
#include "kernels/ptx_launch/host/ptx_problem.h"
#include "ptx/warp_view.h"

namespace sm100::host {

/// What each warp of a CTA may do, by the program's text.
std::vector<ptx::WarpView> ptx_views(const ptx::Program& program, const SharedLayout& layout, Dim3 block);

/// The symbols of shared memory that are arrays of mbarriers: those of 64-bit elements, and those of bytes, as nvcc
/// writes arrays, each eight of which an mbarrier.init is for. Symbols that the entry does not use have no place.
std::vector<PtxBarriers> barrier_symbols(const PtxProblem& problem, const ptx::Program& program,
                                         const SharedLayout& layout, const std::vector<ptx::WarpView>& views);

/// Reads [[barrier]] and [[role]] of a names.toml into the problem: names, stages, who arrives and waits, in place
/// of symbols that lie there.  Throws InputError.
void read_ptx_names(const std::filesystem::path& file, PtxProblem& problem);

}  // namespace sm100::host
