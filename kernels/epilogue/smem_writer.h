// SPDX-License-Identifier: Apache-2.0
/// Registers to the output strip in shared memory: rows of one swizzle span, written so that the TMA store with the
/// same swizzle finds them in place (swizzling follows absolute address bits, PTX 5.5.6).
///
/// Straight strips have a row of C in each of their rows.  Transposed ones (ab_swapped) have a column of the
/// accumulator in each row, cut into blocks of 128 bytes, so that the kernel's M runs along C's contiguous
/// dimension.
#pragma once

#include "kernels/epilogue/lane_costs.h"
#include "kernels/epilogue/output_strip.h"
#include "kernels/epilogue/tmem_reader.h"
#include "kernels/isa/number_formats.h"
#include "kernels/isa/swizzle.h"

namespace sm100 {

/// Place of an element in the accumulator strip.
struct StripElement {
  int row, column;
};

/// Where an element of the accumulator strip lies in its shared-memory buffer, and which one lies at an address.
template <class Config>
struct StripBuffer {
  const Config& cfg;
  SmemAddr base;

  /// @param row, column  of the accumulator strip
  SM100_HD constexpr SmemAddr at(int row, int column) const {
    uint32_t offset;
    if (cfg.ab_swapped) {
      const int block = row / block_columns(cfg), along = row % block_columns(cfg);
      offset = uint32_t((block * strip_columns(cfg) + column) * 128 + along * output_bytes(cfg));
    } else {
      offset = uint32_t(row) * strip_row_bytes(cfg) + uint32_t(column * output_bytes(cfg));
    }
    return {swizzle_address(strip_swizzle(cfg), base.value + offset)};
  }
  SM100_HD constexpr StripElement element_at(SmemAddr address) const {
    // Without signs a quotient by a power of two is a shift.
    const uint32_t offset = swizzle_address(strip_swizzle(cfg), address.value) - base.value;
    const auto element = uint32_t(output_bytes(cfg)), columns = uint32_t(strip_columns(cfg));
    if (!cfg.ab_swapped) {
      const auto row_bytes = uint32_t(strip_row_bytes(cfg));
      return {int(offset / row_bytes), int(offset % row_bytes / element)};
    }
    const uint32_t span = offset / 128, along = offset % 128 / element;
    return {int(span / columns * uint32_t(block_columns(cfg)) + along), int(span % columns)};
  }
};

/// Two neighbouring columns as 16-bit elements, the right one in the upper half.
template <Isa I, class Config>
SM100_KERNEL uint32_t pack_16bit(I& isa, const Config& cfg, uint32_t left, uint32_t right) {
  if (cfg.output == DataType::f16) return isa.cvt_rn_f16x2_f32(as_float(right), as_float(left));
  return isa.cvt_rn_bf16x2_f32(as_float(right), as_float(left));
}

/// BF16 and FP16: the 16x256b register order is exactly stmatrix's, straight or transposed.
template <int R, Isa I, class Config>
SM100_KERNEL void write_fragment_16bit(I& isa, const Config& cfg, const StripBuffer<Config>& strip, int first_row,
                                       const LaneArray<uint32_t, 4 * R>& f, Loc loc) {
  // Matrices of a 16 x 16 step: rows 0-7 and 8-15 of the left 8 columns, then of the right 8.
  const auto address = [&](int lane, int column) {
    return cfg.ab_swapped ? strip.at(first_row + 8 * (lane / 8 % 2), column + 8 * (lane / 16) + lane % 8)
                          : strip.at(first_row + lane % 16, column + 8 * (lane / 16));
  };
  if constexpr (R == 1) {
    LaneArray<SmemAddr, 1> rows;
    LaneArray<uint32_t, 2> packed;
    isa.for_each_lane(lane_cost::kStmatrixX2, [&](int lane) {
      rows(lane) = address(lane % 16, 0);
      for (int i = 0; i < 2; ++i) packed[lane][i] = pack_16bit(isa, cfg, f[lane][2 * i], f[lane][2 * i + 1]);
    });
    if (cfg.ab_swapped)
      isa.stmatrix_x2_trans(rows, packed, loc);
    else
      isa.stmatrix_x2(rows, packed, loc);
  } else {
    for (int r = 0; r < R; r += 2) {
      LaneArray<SmemAddr, 1> rows;
      LaneArray<uint32_t, 4> packed;
      isa.for_each_lane(lane_cost::kStmatrixX4, [&](int lane) {
        rows(lane) = address(lane, 8 * r);
        for (int i = 0; i < 4; ++i)
          packed[lane][i] = pack_16bit(isa, cfg, f[lane][4 * r + 2 * i], f[lane][4 * r + 2 * i + 1]);
      });
      if (cfg.ab_swapped)
        isa.stmatrix_x4_trans(rows, packed, loc);
      else
        isa.stmatrix_x4(rows, packed, loc);
    }
  }
}

/// FP32: stmatrix moves 16-bit elements only, so two columns at a time with plain stores, transposed one by one.
template <int R, Isa I, class Config>
SM100_KERNEL void write_fragment_f32(I& isa, const Config& cfg, const StripBuffer<Config>& strip, int first_row,
                                     const LaneArray<uint32_t, 4 * R>& f, Loc loc) {
  for (int r = 0; r < R; ++r) {
    for (int half = 0; half < 2; ++half) {
      const auto row = [&](int lane) { return first_row + lane / 4 + 8 * half; };
      const auto column = [&](int lane) { return 8 * r + 2 * (lane % 4); };
      if (cfg.ab_swapped) {
        for (int i = 0; i < 2; ++i) {
          LaneArray<SmemAddr, 1> address;
          LaneArray<uint32_t, 1> value;
          isa.for_each_lane(lane_cost::kSharedElement, [&](int lane) {
            address(lane) = strip.at(row(lane), column(lane) + i);
            value(lane) = f[lane][4 * r + 2 * half + i];
          });
          isa.st_shared_b32(address, value, loc);
        }
      } else {
        LaneArray<SmemAddr, 1> address;
        LaneArray<uint32_t, 2> value;
        isa.for_each_lane(lane_cost::kSharedPair, [&](int lane) {
          address(lane) = strip.at(row(lane), column(lane));
          value[lane][0] = f[lane][4 * r + 2 * half];
          value[lane][1] = f[lane][4 * r + 2 * half + 1];
        });
        isa.st_shared_v2(address, value, loc);
      }
    }
  }
}

/// FP8: two columns are 16 bits.
template <int R, Isa I, class Config>
SM100_KERNEL void write_fragment_8bit(I& isa, const Config& cfg, const StripBuffer<Config>& strip, int first_row,
                                      const LaneArray<uint32_t, 4 * R>& f, Loc loc) {
  for (int r = 0; r < R; ++r) {
    for (int half = 0; half < 2; ++half) {
      LaneArray<SmemAddr, 1> address;
      LaneArray<uint32_t, 1> value;
      isa.for_each_lane(lane_cost::kSharedBytes, [&](int lane) {
        address(lane) = strip.at(first_row + lane / 4 + 8 * half, 8 * r + 2 * (lane % 4));
        const float left = as_float(f[lane][4 * r + 2 * half]), right = as_float(f[lane][4 * r + 2 * half + 1]);
        value(lane) = cfg.output == DataType::e5m2 ? isa.cvt_rn_satfinite_e5m2x2_f32(right, left)
                                                   : isa.cvt_rn_satfinite_e4m3x2_f32(right, left);
      });
      isa.st_shared_b16(address, value, loc);
    }
  }
}

/// @param first_row  of the 16 rows of the fragment, in the strip
template <int R, Isa I, class Config>
SM100_KERNEL void write_fragment(I& isa, const Config& cfg, const StripBuffer<Config>& strip, int first_row,
                                 const LaneArray<uint32_t, 4 * R>& f, Loc loc = Loc::current()) {
  if (output_bytes(cfg) == 4)
    write_fragment_f32<R>(isa, cfg, strip, first_row, f, loc);
  else if (output_bytes(cfg) == 2)
    write_fragment_16bit<R>(isa, cfg, strip, first_row, f, loc);
  else
    write_fragment_8bit<R>(isa, cfg, strip, first_row, f, loc);
}

}  // namespace sm100
