// SPDX-License-Identifier: Apache-2.0
/// Registers straight to a row-major matrix in global memory, for rows that TMA cannot store: their pitch may be
/// any number of bytes.  Every store is guarded by its element's place in the matrix.
#pragma once

#include "kernels/epilogue/lane_costs.h"
#include "kernels/epilogue/tmem_reader.h"
#include "kernels/isa/number_formats.h"

namespace sm100 {

/// The whole output matrix.
struct GlobalMatrix {
  GlobalAddr base;
  int rows, columns;

  SM100_HD GlobalAddr at(int row, int column, uint32_t element_bytes) const {
    return base + (uint64_t(row) * uint64_t(columns) + uint64_t(column)) * element_bytes;
  }
  SM100_HD bool contains(int row, int column) const { return row < rows && column < columns; }
};

/// Registers 2p and 2p + 1 of a 16x256b fragment hold two neighbouring columns of one row: p = 2r + half is row
/// t/4 + 8 * half, columns 8r + 2 * (t%4) and the next.
struct FragmentPair {
  int row, column;
  SM100_HD FragmentPair(int first_row, int first_column, int p, int lane)
      : row(first_row + lane / 4 + 8 * (p % 2)), column(first_column + 8 * (p / 2) + 2 * (lane % 4)) {}
};

/// BF16: a pair is one 32-bit word where all rows begin at a word, else two elements of 16 bits.
/// @param first_row, first_column  place of the fragment's corner in the matrix; the column is even
template <int R, Isa I>
SM100_KERNEL void store_fragment_bf16(I& isa, const GlobalMatrix& c, int first_row, int first_column,
                                      const LaneArray<uint32_t, 4 * R>& f, Loc loc = Loc::current()) {
  const bool words = c.columns % 2 == 0;
  for (int p = 0; p < 2 * R; ++p) {
    LaneArray<GlobalAddr, 1> left, right;
    LaneArray<uint32_t, 1> packed, upper;
    LaneArray<bool, 1> left_inside, right_inside;
    isa.for_each_lane_address(lane_cost::kGlobalPair, [&](int lane) {
      const FragmentPair pair(first_row, first_column, p, lane);
      left(lane) = c.at(pair.row, pair.column, 2);
      right(lane) = left(lane) + 2;
      left_inside(lane) = c.contains(pair.row, pair.column);
      right_inside(lane) = c.contains(pair.row, pair.column + 1);
    });
    isa.for_each_lane(0, [&](int lane) {
      packed(lane) = isa.cvt_rn_bf16x2_f32(as_float(f[lane][2 * p + 1]), as_float(f[lane][2 * p]));
      upper(lane) = packed(lane) >> 16;
    });
    if (words) {  // an even number of columns: both are inside, or neither
      isa.st_global_b32(left, packed, left_inside, loc);
    } else {
      isa.st_global_b16(left, packed, left_inside, loc);
      isa.st_global_b16(right, upper, right_inside, loc);
    }
  }
}

/// FP32: an element at a time.
template <int R, Isa I>
SM100_KERNEL void store_fragment_f32(I& isa, const GlobalMatrix& c, int first_row, int first_column,
                                     const LaneArray<uint32_t, 4 * R>& f, Loc loc = Loc::current()) {
  for (int i = 0; i < 4 * R; ++i) {
    LaneArray<GlobalAddr, 1> address;
    LaneArray<uint32_t, 1> value;
    LaneArray<bool, 1> inside;
    isa.for_each_lane_address(lane_cost::kGlobalElement, [&](int lane) {
      const FragmentPair pair(first_row, first_column, i / 2, lane);
      address(lane) = c.at(pair.row, pair.column + i % 2, 4);
      inside(lane) = c.contains(pair.row, pair.column + i % 2);
    });
    isa.for_each_lane(0, [&](int lane) { value(lane) = f[lane][i]; });
    isa.st_global_b32(address, value, inside, loc);
  }
}

}  // namespace sm100
