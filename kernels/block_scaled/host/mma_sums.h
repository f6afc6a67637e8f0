// SPDX-License-Identifier: Apache-2.0
/// The accumulators of a block-scaled product to the bit, recomputed on the host: what a quantised output is
/// compared with, because a scale or an element may turn on the last bit.
///
/// The two models of sums (`run.numerics`), as models/umma_numerics.h has them: `fast` multiplies a k tile at a
/// time, fused multiply-adds along k, and adds it to the accumulator; `b200` is a fused sum for each MMA.
#pragma once

#include <vector>

#include "kernels/block_scaled/config.h"
#include "kernels/host/scenario.h"

namespace sm100::host {

/// Rows of an operand with all that MMAs read: whole k tiles, zeros where the problem ends, as TMA fills them in.
struct ScaledRows {
  int rows = 0, k = 0;          ///< elements of a row
  int scales = 0;               ///< of a row
  std::vector<float> elements;  ///< row-major
  std::vector<float> factors;   ///< scales[row][k / block]

  const float* row(int i) const { return elements.data() + ptrdiff_t(i) * k; }
  const float* scales_of(int i) const { return factors.data() + ptrdiff_t(i) * scales; }
};

/// d[i][j] = the accumulator of a's row i and b's row j; row-major, b.rows to a row.
std::vector<float> mma_sums(const BlockScaledConfig& config, Numerics numerics, const ScaledRows& a,
                            const ScaledRows& b);

}  // namespace sm100::host
