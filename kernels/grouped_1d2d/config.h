// SPDX-License-Identifier: Apache-2.0
/// Configuration of the grouped 1D-2D matmul: the blockwise matmul's, how tokens lie in their tensor, and how tiles
/// are handed out.
#pragma once

#include "kernels/blockwise/config.h"
#include "kernels/grouped_1d1d/config.h"

namespace sm100 {

/// Of the base: clc_stages is 0 and static_scheduler false, the cluster is the pair or the CTA, and `scaled` says
/// that experts have factors of their own.
struct Grouped1d2dConfig : BlockwiseConfig, TokenSchedule {
  constexpr Grouped1d2dConfig() { clc_stages = 0; }
  constexpr bool operator==(const Grouped1d2dConfig&) const = default;
};

}  // namespace sm100
