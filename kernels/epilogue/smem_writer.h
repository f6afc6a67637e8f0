/// Registers to the output strip in shared memory: row-major rows of one swizzle span, written so that the
/// TMA store with the same swizzle finds them in place (swizzling follows absolute address bits, PTX 5.5.6).
#pragma once

#include "kernels/epilogue/tmem_reader.h"
#include "kernels/isa/number_formats.h"
#include "kernels/isa/swizzle.h"

namespace sm100 {

/// Strip buffer: `row_bytes` per row, swizzled.
struct StripBuffer {
  SmemAddr base;
  uint32_t row_bytes;
  Swizzle swizzle;
  SM100_HD SmemAddr at(int row, uint32_t byte) const {
    return {swizzle_address(swizzle, base.value + uint32_t(row) * row_bytes + byte)};
  }
};

/// BF16: pairs of neighbouring columns are packed, and the 16x256b register order is exactly stmatrix's.
template <int R, Isa I>
SM100_KERNEL void write_fragment_bf16(I& isa, const StripBuffer& strip, int first_row,
                                      const LaneArray<uint32_t, 4 * R>& f, Loc loc = Loc::current()) {
  if constexpr (R == 1) {
    LaneArray<SmemAddr, 1> rows;
    LaneArray<uint32_t, 2> packed;
    isa.for_each_lane(6, [&](int lane) {
      rows[lane][0] = strip.at(first_row + lane % 16, 0);
      for (int i = 0; i < 2; ++i)
        packed[lane][i] = isa.cvt_rn_bf16x2_f32(as_float(f[lane][2 * i + 1]), as_float(f[lane][2 * i]));
    });
    isa.stmatrix_x2(rows, packed, loc);
  } else {
    for (int r = 0; r < R;
         r += 2) {  // 16 columns: lanes 0-15 address the rows of the left 8, lanes 16-31 of the right
      LaneArray<SmemAddr, 1> rows;
      LaneArray<uint32_t, 4> packed;
      isa.for_each_lane(10, [&](int lane) {
        rows[lane][0] = strip.at(first_row + lane % 16, uint32_t(16 * r + 16 * (lane / 16)));
        for (int i = 0; i < 4; ++i)
          packed[lane][i] =
              isa.cvt_rn_bf16x2_f32(as_float(f[lane][4 * r + 2 * i + 1]), as_float(f[lane][4 * r + 2 * i]));
      });
      isa.stmatrix_x4(rows, packed, loc);
    }
  }
}

/// FP32: stmatrix moves 16-bit elements only, so two columns at a time with plain 8-byte stores.
template <int R, Isa I>
SM100_KERNEL void write_fragment_f32(I& isa, const StripBuffer& strip, int first_row,
                                     const LaneArray<uint32_t, 4 * R>& f, Loc loc = Loc::current()) {
  for (int r = 0; r < R; ++r) {
    for (int half = 0; half < 2; ++half) {
      LaneArray<SmemAddr, 1> address;
      LaneArray<uint32_t, 2> value;
      isa.for_each_lane(4, [&](int lane) {
        const int t = lane;
        address[lane][0] = strip.at(first_row + t / 4 + 8 * half, uint32_t(4 * (8 * r + 2 * (t % 4))));
        value[lane][0] = f[lane][4 * r + 2 * half];
        value[lane][1] = f[lane][4 * r + 2 * half + 1];
      });
      isa.st_shared_v2(address, value, loc);
    }
  }
}

}  // namespace sm100
