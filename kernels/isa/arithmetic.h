// SPDX-License-Identifier: Apache-2.0
/// Integer arithmetic that tile counts need.
#pragma once

#include "kernels/isa/portability.h"

namespace sm100 {

SM100_HD constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
SM100_HD constexpr int align_up(int a, int b) { return ceil_div(a, b) * b; }

}  // namespace sm100
