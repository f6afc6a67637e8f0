// SPDX-License-Identifier: Apache-2.0
/// How many CTAs an SM holds: whichever of its registers, threads, warps, shared memory, named barriers or CTA
/// slots is used up first (CUDA programming guide, "Hardware Multithreading" and the table of technical
/// specifications per compute capability).  The limits stand in the profile's [device].
///
/// Registers belong to the SM's four partitions: each warp takes whole units from one of them.  Every CTA takes 1
/// KiB of shared memory more than it asks for.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "models/profiles/profile.h"

namespace sm100::models {

/// What a CTA takes of its SM.
struct CtaResources {
  int warps = 1;
  uint32_t smem_bytes = 0;  ///< static and dynamic
  int registers = 0;        ///< of a thread; 0: not known, and taken to be no limit
  bool operator==(const CtaResources&) const = default;
};

/// What an SM lacks to hold all of these CTAs at once: "registers", "threads", "warps", "shared memory", "named
/// barriers", "CTA slots"; empty: nothing, they fit.
std::string lacking(std::span<const CtaResources> ctas, const DeviceProfile& profile);

struct Occupancy {
  int ctas = 0;       ///< of a kernel that fit on one SM
  std::string limit;  ///< what one more would lack
};
Occupancy occupancy(const CtaResources& cta, const DeviceProfile& profile);

}  // namespace sm100::models
