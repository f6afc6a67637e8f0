// SPDX-License-Identifier: Apache-2.0
/// Whether the simulator has an instruction of PTX that is no scalar arithmetic.
#pragma once

#include "ptx/program.h"

namespace sm100::sim::cli {

/// By the opcodes of the seam (kernels/isa/instructions): the base and each modifier of one of them are in the
/// text, and no line of the support table rejects it.  What PTX adds in other modifiers is not looked at.
bool is_known_service(const ptx::Service& service);

}  // namespace sm100::sim::cli
