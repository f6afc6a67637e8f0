// SPDX-License-Identifier: Apache-2.0
/// The operand of setmaxnreg (PTX, Miscellaneous Instructions: setmaxnreg): registers of a thread.
#pragma once

#include "kernels/isa/portability.h"

namespace sm100 {

SM100_HD constexpr bool register_count_allowed(int registers) {
  return registers >= 24 && registers <= 256 && registers % 8 == 0;
}

}  // namespace sm100
