// SPDX-License-Identifier: Apache-2.0
/// Scales of blocks on the host: f32 or bf16 values one after the other.
#pragma once

#include <cstdint>

#include "kernels/isa/number_formats.h"

namespace sm100::host {

/// A tensor of them.
class BlockScales {
 public:
  BlockScales(DataType type, uint8_t* data) : type_(type), data_(data) {}

  /// Scales from 1/2 to 2 with all bits of their mantissas.
  void fill(uint64_t seed, uint64_t bytes);
  /// BF16: rounded to the nearest, ties to even.
  void set(int64_t i, float value);

 private:
  DataType type_;
  uint8_t* data_;
};

double block_scale(DataType type, const uint8_t* data, int64_t i);

}  // namespace sm100::host
