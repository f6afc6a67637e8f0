// SPDX-License-Identifier: Apache-2.0
#include "models/umma_sparsity.h"

namespace sm100::models {
namespace {

constexpr int kHalfChunks = 4;  ///< of kinds f16 and tf32: chunks in 16 bits of a cell

int chunk_of(MmaKind kind) {
  switch (kind) {
    case MmaKind::tf32: return 2;
    case MmaKind::mxf4:
    case MmaKind::mxf4nvf4: return 8;
    default: return 4;
  }
}

/// The 4 bits of a chunk.
uint32_t bits_of(TensorMemory& tmem, const MmaOperation& op, int row, int chunk) {
  const bool spread = metadata_columns(op.kind) == 1;  // over two lanes
  const DataPathLayout layout = layout_of(op);
  // The row groups of 16 lanes lie as D has them: every second one with M = 64.
  const int group = row / 16 * (layout == DataPathLayout::f ? 32 : 16);
  const uint32_t first = op.metadata.lane() + uint32_t(group);
  const uint32_t column = metadata_column(op);
  if (!spread)
    return tmem.cell(first + uint32_t(row % 16), column + uint32_t(chunk / 8)) >> (4 * (chunk % 8)) & 0xf;
  const uint32_t lane = first + uint32_t(row % 8 + 8 * (chunk / kHalfChunks));
  return tmem.cell(lane, column) >> (16 * (row % 16 / 8) + 4 * (chunk % kHalfChunks)) & 0xf;
}

}  // namespace

std::optional<uint32_t> read_places(TensorMemory& tmem, const MmaOperation& op, int row, uint8_t* places) {
  std::optional<uint32_t> undefined;
  const int chunk = chunk_of(op.kind), chunks = mma_k(op.kind, true) / chunk;
  for (int c = 0; c < chunks; ++c) {
    const uint32_t bits = bits_of(tmem, op, row, c), first = bits & 3, second = bits >> 2;
    const bool defined = op.kind == MmaKind::tf32 ? bits == 0b0100 || bits == 0b1110 : first < second;
    if (!defined && !undefined) undefined = bits;
    const auto at = [&](uint32_t element) { *places++ = uint8_t(c * chunk + int(element)); };
    switch (chunk) {
      case 2: at(first / 2); break;
      case 4: at(first), at(second); break;
      default: at(2 * first), at(2 * first + 1), at(2 * second), at(2 * second + 1);
    }
  }
  return undefined;
}

}  // namespace sm100::models
