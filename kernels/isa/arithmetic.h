// SPDX-License-Identifier: Apache-2.0
/// Integer arithmetic that tile counts need.
#pragma once

#include <cstdint>

#include "kernels/isa/portability.h"

namespace sm100 {

SM100_HD constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
SM100_HD constexpr int align_up(int a, int b) { return ceil_div(a, b) * b; }

/// Quotient where nobody counts instructions; role code has `div_u32`.
struct PlainDivision {
  SM100_HD constexpr uint32_t operator()(uint32_t a, uint32_t b) const { return a / b; }
};

}  // namespace sm100
