// SPDX-License-Identifier: Apache-2.0
/// Fewer rows for a program that is executed: PTX has a register for each value (CUTLASS's GEMM of example 70:
/// 3,300, and a warp 470 KB of rows), of which few are needed at a time.
#pragma once

#include "ptx/program.h"

namespace sm100::ptx {

/// Registers whose values are not needed at the same time get the same row; Program::register_rows is empty then.
///
/// Needed is meant of one lane, since each has its own place in a row: lanes that have gone different ways may hold
/// different registers in it.  What knows of rows what lanes do not have (`register is on its way`) must know it by
/// lane.  Predicates, registers of 128 bits, and those that a unit writes or reads while the warp goes on
/// (tcgen05.ld, wgmma.mma_async) keep a row of their own.
void share_rows(Program& program);

}  // namespace sm100::ptx
