// SPDX-License-Identifier: Apache-2.0
/// Configuration of the kernel that holds SMs: one warp per CTA that computes for a while, in a CTA that leaves no
/// shared memory to others.
#pragma once

#include <cstdint>

namespace sm100 {

struct HoldConfig {
  uint32_t smem_bytes = 0;  ///< dynamic shared memory of a CTA, which the kernel does not touch

  constexpr bool operator==(const HoldConfig&) const = default;
};

inline constexpr int kHoldWarps = 1;
inline constexpr int kHoldThreads = 32 * kHoldWarps;
inline constexpr int kHoldStepInstructions = 6;  ///< three shifts, three xors
inline constexpr int kHoldBlockSteps = 64;       ///< between two looks at the count

/// Role of a warp, for reports and traces.
constexpr const char* hold_role(int) { return "hold"; }

/// Marsaglia's xorshift32: each step needs the one before, and nothing computes many at once.
constexpr uint32_t xorshift(uint32_t x) {
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return x;
}

}  // namespace sm100
