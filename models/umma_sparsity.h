// SPDX-License-Identifier: Apache-2.0
/// Sparse A of tcgen05.mma.sp: where along K its elements belong (PTX 9.7.16.10.8).
///
/// Shared memory has every second element of a row of A.  Metadata in tensor memory have 4 bits for each chunk of
/// K: two numbers of 2 bits, the lower first.
///   kind::tf32              chunks of 2 elements, 1 of them stored: 0b0100 is the first, 0b1110 the second
///   kind::f16, f8f6f4, i8, mxf8f6f4   chunks of 4, 2 stored: their numbers, which ascend
///   kind::mxf4, mxf4nvf4    chunks of 8, of which 2 of 4 pairs are stored: the pairs' numbers, which ascend
/// Where the metadata of row r of a CTA lie (PTX's figures for M = 128 and 256, as CuTe has them):
///   kinds f16, tf32   the column that the sparsity selector adds to the address; chunks 0 to 3 in lane
///                     16 * (r / 16) + r % 8, chunks 4 to 7 eight lanes further on, in the lower half of the cell
///                     for r % 16 < 8 and in the upper for the others
///   other kinds       lane r, chunks 0 to 7 in the column of the address and 8 to 15 in the next
/// .ws with M of 32 or 64 has them, as A in tensor memory, in each quarter or half of the lanes (CuTe); the values
/// of the first are taken.  A chunk that names an element twice adds what it has twice there (PTX does not define
/// it). Assumed, because PTX has it only in a figure that no public source spells out: M = 64 without .ws has the
/// 16 lanes of each row group where its D has them.
#pragma once

#include <cstdint>

#include "models/umma_numerics.h"

namespace sm100::models {

/// Columns of metadata that an MMA reads, from the address or the selected column on.
constexpr uint32_t metadata_columns(MmaKind kind) { return kind == MmaKind::f16 || kind == MmaKind::tf32 ? 1 : 2; }
/// The first of them.
constexpr uint32_t metadata_column(const MmaOperation& op) {
  return op.metadata.column() + op.idesc.sparsity_selector;
}

/// Most elements of a row of A that an MMA has.
inline constexpr int kMostStored = 64;

/// The places along K of the elements that row `row` of a CTA has, mma_k / 2 of them, to `places`.
/// @return the chunks whose bits PTX does not define, a bit each
uint32_t read_places(TensorMemory& tmem, const MmaOperation& op, int row, uint8_t* places);

/// Elements that A has of a chunk.
int stored_of_chunk(MmaKind kind);

/// A cell of metadata: 4 bits of a chunk, and where they lie.
struct ChunkBits {
  uint32_t bits, lane, column;
};
ChunkBits chunk_bits(TensorMemory& tmem, const MmaOperation& op, int row, int chunk);

}  // namespace sm100::models
