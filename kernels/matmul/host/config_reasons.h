// SPDX-License-Identifier: Apache-2.0
/// The thresholds of the heuristic and the sentences that explain what it chose.
#pragma once

#include "kernels/matmul/host/choose_config.h"

namespace sm100::host {

inline constexpr int kSmallM = 32;  // below it one CTA's tile holds all of M
inline constexpr int kTinyBlock =
    64 * 16;  // elements of C per CTA: up to here a group of four k tiles per ring stage
inline constexpr int kSmallBlock = 64 * 96;  // up to here a group of two
inline constexpr int kWavesToSwizzle = 4;    // fewer waves reuse L2 well enough

/// One decision per key of [config], in the order in which they were made.  `choice` has config and candidates.
/// @param swizzle_figures  what each block swizzle reads; needed if config.block_swizzle is not 0
std::vector<ConfigDecision> config_reasons(const ConfigRequest& request, const ConfigChoice& choice,
                                           const std::string& swizzle_figures);

}  // namespace sm100::host
