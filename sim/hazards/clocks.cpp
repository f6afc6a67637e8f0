// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/clocks.h"

#include "models/vector/kernels.h"

namespace sm100::sim {

void VectorClock::take_later(Clock* to, const Clock* from, size_t count) {
  vector::kernels().take_later(to, from, count);
}

}  // namespace sm100::sim
