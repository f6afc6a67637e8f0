// SPDX-License-Identifier: Apache-2.0
/// Kernel parameters of the kernel that holds SMs (`__grid_constant__` on the device).
#pragma once

#include "kernels/isa/address.h"

namespace sm100 {

struct HoldParams {
  GlobalAddr result;  ///< a word per thread of the grid
  int blocks = 0;     ///< of kHoldBlockSteps steps
};

}  // namespace sm100
