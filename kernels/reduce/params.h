// SPDX-License-Identifier: Apache-2.0
/// Kernel parameters of the reduction kernel (`__grid_constant__` on the device).
#pragma once

#include "kernels/isa/address.h"
#include "kernels/reduce/config.h"

namespace sm100 {

struct ReduceParams {
  GlobalAddr partial[kReduceMostSlices] = {};  ///< `elements` f32 each; those from `slices` on are null
  GlobalAddr sum;                              ///< `elements` of the output type
  int64_t elements = 0;                        ///< a multiple of kReduceStripElements
};

}  // namespace sm100
