// SPDX-License-Identifier: Apache-2.0
/// Faults that name an instruction by its line.
#pragma once

#include "kernels/isa/portability.h"

namespace sm100::sim {

/// A front end says where the instruction stands that it executes next: faults by line look there.  Warps share a
/// thread, and nothing comes between this call and the instruction.
void faults_look_at(const Loc& loc);

}  // namespace sm100::sim
