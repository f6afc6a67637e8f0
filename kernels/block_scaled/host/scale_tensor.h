// SPDX-License-Identifier: Apache-2.0
/// The scales of an operand in global memory: whole atoms of 128 rows x 4 scales, those along K one after the other
/// (kernels/isa/scale_layout.h).
#pragma once

#include <cstdint>

#include "kernels/block_scaled/config.h"
#include "kernels/isa/tensor_map.h"

namespace sm100::host {

struct ScaleTensor {
  int rows = 0, scales = 0;  ///< of the operand: scales along K of each row
  ScaleType type = ScaleType::ue8m0;

  int row_groups() const;  ///< atoms along the rows
  int k_atoms() const;     ///< along K
  uint64_t bytes() const;  ///< with the padding to whole atoms

  /// Random scales near 1: ue8m0 powers of two from 1/4 to 2, ue4m3 values from 1/4 to below 2.
  /// @param padding  the byte of what is not a scale of the operand
  void fill(uint64_t seed, uint8_t padding, uint8_t* bytes) const;
  /// Every scale is `code`, the padding zero, as whoever reads the tensor needs it.
  void clear(uint8_t code, uint8_t* bytes) const;
  double value(const uint8_t* bytes, int row, int scale) const;

  /// Of boxes of `box`: {512 bytes, atoms along K, atoms along the rows}.  Throws InputError where the driver would
  /// refuse it.
  TensorMapFields map_fields(GlobalAddr address, const ScaleShape& box) const;
};

/// A byte that is no number.
constexpr uint8_t nan_scale(ScaleType type) { return type == ScaleType::ue8m0 ? 0xff : 0x7f; }

}  // namespace sm100::host
