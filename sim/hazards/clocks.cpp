// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/clocks.h"

#include <algorithm>

#include "models/vector/kernels.h"

namespace sm100::sim {

void VectorClock::join_another(const VectorClock& other) {
  const uint32_t size = clocks_.size(), others = other.clocks_.size();
  const vector::Kernels& kernels = vector::kernels();
  const vector::Later later = kernels.later_of(clocks_.begin(), other.clocks_.begin(), std::min(size, others));
  if (!later.second && others <= size) return;  // also where the other has none
  if (!later.first && size <= others)
    clocks_ = other.clocks_;
  else
    kernels.take_later(clocks_.own(others), other.clocks_.begin(), others);
}

}  // namespace sm100::sim
