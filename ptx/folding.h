// SPDX-License-Identifier: Apache-2.0
/// Instructions of PTX that ptxas makes no instruction of its own of: they cost nothing.
///
/// PTX has no predicates in the operands of inline assembly, so code passes them through registers: `selp 1, 0` on
/// one side, `setp.ne 0` on the other, and nothing of it is left.  So are comparisons of constants, zero
/// extensions, the branch on what elect.sync or try_wait has answered (its cost is theirs), and the first of two
/// that the hardware has one instruction for: a shift and the addition of what it makes (LEA), two logical
/// operations (LOP3), a shift by whole bytes and the `or` with other bytes (PRMT), a product of twice the width and
/// its sum (IMAD.WIDE), a comparison and the `and` or `or` of its answer (ISETP).
#pragma once

#include "ptx/program.h"

namespace sm100::ptx {

/// Sets Instr::cost of those to free.
void fold_costs(Program& program);

}  // namespace sm100::ptx
