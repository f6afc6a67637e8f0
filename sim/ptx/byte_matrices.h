// SPDX-License-Identifier: Apache-2.0
/// Matrices of 8-bit elements that ldmatrix and stmatrix transpose on their way (PTX 9.7.14.5.15 and .16, sm_100a):
/// in which lane and register an element is.
///
/// In shared memory a matrix is rows of 16 bytes, as the 8 x 8 matrices of 16-bit elements are, and the same lanes
/// give their addresses.  So the bytes move as those do, untransposed, and change places in registers: lane l has
/// bytes 4 (l % 4) to + 3 of row 8 q + l / 4 in register q.  Where elements go from there: PTX's figures, and
/// CUTLASS's copies with these instructions (cute/atom/copy_traits_sm100.hpp).
#pragma once

#include <cstdint>

#include "ptx/program.h"

namespace sm100::sim::byte_matrices {

/// Rows of shared memory, between the two layouts of registers.
struct Rows {
  uint8_t bytes[32][16] = {};
};

/// @param registers  [lane * count + register], count 1, 2 or 4
inline Rows rows_of_words(const uint32_t* registers, int count) {
  Rows rows;
  for (int lane = 0; lane < ptx::kLanes; ++lane)
    for (int q = 0; q < count; ++q)
      for (int b = 0; b < 4; ++b)
        rows.bytes[8 * q + lane / 4][4 * (lane % 4) + b] = uint8_t(registers[lane * count + q] >> (8 * b));
  return rows;
}
inline void words_of_rows(const Rows& rows, uint32_t* registers, int count) {
  for (int lane = 0; lane < ptx::kLanes; ++lane)
    for (int q = 0; q < count; ++q) {
      uint32_t& word = registers[lane * count + q] = 0;
      for (int b = 0; b < 4; ++b) word |= uint32_t(rows.bytes[8 * q + lane / 4][4 * (lane % 4) + b]) << (8 * b);
    }
}

/// ldmatrix.m16n16.x1 (count 2) or .x2 (4) .trans.b8: a lane has column l / 4, and in the next register column l /
/// 4 + 8, of the four rows from 4 (l % 4) on.
inline void transpose_loaded(uint32_t* registers, int count) {
  const Rows rows = rows_of_words(registers, count);
  for (int lane = 0; lane < ptx::kLanes; ++lane)
    for (int q = 0; q < count; ++q) {
      uint32_t& word = registers[lane * count + q] = 0;
      for (int b = 0; b < 4; ++b)
        word |= uint32_t(rows.bytes[16 * (q / 2) + 4 * (lane % 4) + b][lane / 4 + 8 * (q % 2)]) << (8 * b);
    }
}

/// stmatrix.m16n8.x1, .x2 or .x4 .trans.b8, before it is stored untransposed: a lane has columns l / 4 and l / 4 +
/// 8 of rows 2 (l % 4) and + 1.
inline void transpose_to_store(uint32_t* registers, int count) {
  Rows rows;
  for (int lane = 0; lane < ptx::kLanes; ++lane)
    for (int q = 0; q < count; ++q)
      for (int b = 0; b < 4; ++b)
        rows.bytes[8 * q + 2 * (lane % 4) + b % 2][lane / 4 + 8 * (b / 2)] =
            uint8_t(registers[lane * count + q] >> (8 * b));
  words_of_rows(rows, registers, count);
}

}  // namespace sm100::sim::byte_matrices
