// SPDX-License-Identifier: Apache-2.0
/// The words for block-scaled operands, as `problem.dtype` has them.
#pragma once

#include <string_view>

#include "kernels/block_scaled/config.h"

namespace sm100::host {

/// A format and the type of its elements.
struct OperandWord {
  std::string_view word;
  BlockFormat format;
  DataType dtype;
};
inline constexpr OperandWord kOperandWords[] = {{"mxfp8_e4m3", BlockFormat::mxfp8, DataType::e4m3},
                                                {"mxfp8_e5m2", BlockFormat::mxfp8, DataType::e5m2},
                                                {"mxfp4", BlockFormat::mxfp4, DataType::e2m1},
                                                {"nvfp4", BlockFormat::nvfp4, DataType::e2m1}};

/// A configuration of these operands, with their usual scales.
constexpr BlockScaledConfig config_of_operands(const OperandWord& operands) {
  BlockScaledConfig c;
  c.format = operands.format, c.dtype = operands.dtype;
  c.scale_type = c.format == BlockFormat::nvfp4 ? ScaleType::ue4m3 : ScaleType::ue8m0;
  c.mma_k = int(kMmaKBytes) * 8 / operand_bits(c);
  return c;
}

constexpr std::string_view word_of_operands(const BlockScaledConfig& c) {
  for (const OperandWord& o : kOperandWords)
    if (o.format == c.format && o.dtype == c.dtype) return o.word;
  return "?";
}

}  // namespace sm100::host
