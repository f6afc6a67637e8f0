// SPDX-License-Identifier: Apache-2.0
/// What a quantised output must be, worked out apart from the kernel: numbers are rounded by looking for the
/// nearest value in the table of their type, not by the conversions that the kernel calls.
#pragma once

#include <cstdint>

#include "kernels/epilogue/block_quantizer.h"

namespace sm100::host {

/// Code of the scale for a value that is not negative: ue4m3 the nearest, of two the even one; ue8m0 the smallest
/// that is not below.  Too large: the largest.
uint8_t nearest_scale(ScaleType type, float value);
double value_of_scale(ScaleType type, uint8_t code);

/// Code of the nearest e2m1 or e4m3, of two the even one; too large: the largest.
uint8_t nearest_element(DataType type, float value);
double value_of_element(DataType type, uint8_t code);

/// A block of `count` results that lie `stride` apart.
struct QuantizedBlock {
  uint8_t scale = 0;
  uint8_t elements[32] = {};  ///< a code each
};
QuantizedBlock quantized_block(DataType type, ScaleType scale_type, float norm, const float* results, int count,
                               int stride);

}  // namespace sm100::host
