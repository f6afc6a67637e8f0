// SPDX-License-Identifier: Apache-2.0
// Loads of shared memory that nobody has written (SM4).  Whether it matters is seen in the result: a zero times
// what lies there is NaN only where that is NaN or infinity, as it is here.
#include <fmt/format.h>

#include "models/time.h"
#include "sim/hazards/hazard_checker.h"

namespace sm100::sim {

void HazardChecker::unwritten_looking_read(const Thread& t, uint32_t offset, uint32_t bytes) {
  constexpr int kLooks = 64;  // at each line: ids of -1 and the like are loaded again and again
  if (++unwritten_looks_[{t.by.loc.file_name(), t.by.loc.line()}] > kLooks) return;
  if (cta(t.slot).smem.written(smem_sets_, smem_sets_.intern_range(offset, bytes))) return;
  report_.violation({.id = "SM4",
                     .message = fmt::format(
                         "{} loads shared memory that nobody has written since the CTA's start: {} bytes at {:#x}",
                         kernel(t.slot).role(t.by.warp), bytes, offset),
                     .time = models::now(),
                     .slot = t.slot,
                     .source = t.by,
                     .suspect = true});
}

}  // namespace sm100::sim
