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

}  // namespace

int stored_of_chunk(MmaKind kind) { return chunk_of(kind) / 2; }

ChunkBits chunk_bits(TensorMemory& tmem, const MmaOperation& op, int row, int chunk) {
  const bool spread = metadata_columns(op.kind) == 1;  // over two lanes
  const DataPathLayout layout = layout_of(op);
  // The row groups of 16 lanes lie as D has them: every second one with M = 64.
  const int group = row / 16 * (layout == DataPathLayout::f ? 32 : 16);
  const uint32_t first = op.metadata.lane() + uint32_t(group);
  const uint32_t column = metadata_column(op) + (spread ? 0 : uint32_t(chunk / 8));
  const uint32_t lane = first + uint32_t(spread ? row % 8 + 8 * (chunk / kHalfChunks) : row % 16);
  const int shift = spread ? 16 * (row % 16 / 8) + 4 * (chunk % kHalfChunks) : 4 * (chunk % 8);
  return {tmem.cell(lane, column) >> shift & 0xf, lane, column};
}

uint32_t read_places(TensorMemory& tmem, const MmaOperation& op, int row, uint8_t* places) {
  uint32_t undefined = 0;
  const int chunk = chunk_of(op.kind), chunks = mma_k(op.kind, true) / chunk;
  for (int c = 0; c < chunks; ++c) {
    const uint32_t bits = chunk_bits(tmem, op, row, c).bits, first = bits & 3, second = bits >> 2;
    const bool defined = op.kind == MmaKind::tf32 ? bits == 0b0100 || bits == 0b1110 : first < second;
    if (!defined) undefined |= 1u << c;
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
