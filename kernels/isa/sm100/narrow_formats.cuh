// SPDX-License-Identifier: Apache-2.0
/// Conversions to and from e2m1 and ue8m0 (PTX cvt), and the reduction of f32 over a warp.  sm_100a only.
#pragma once

#include "kernels/isa/lane_array.h"
#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

template <bool kAvailable = kTargetHasNarrowFormats>
class NarrowFormats {
 public:
  /// a in bits 7:4, b in 3:0.
  SM100_KERNEL static uint32_t cvt_rn_satfinite_e2m1x2_f32(float a, float b) {
    SM100_REQUIRE_NARROW_FORMATS(kAvailable);
    uint32_t packed;
    asm("{\n\t"
        ".reg .b8 pair;\n\t"
        "cvt.rn.satfinite.e2m1x2.f32 pair, %1, %2;\n\t"
        "cvt.u32.u8 %0, pair;\n\t"
        "}"
        : "=r"(packed)
        : "f"(a), "f"(b));
    return packed;
  }
  /// a in bits 15:8, b in 7:0.
  SM100_KERNEL static uint32_t cvt_rp_satfinite_ue8m0x2_f32(float a, float b) {
    SM100_REQUIRE_NARROW_FORMATS(kAvailable);
    uint16_t packed;
    asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(packed) : "f"(a), "f"(b));
    return packed;
  }
  SM100_KERNEL static uint32_t cvt_rn_bf16x2_ue8m0x2(uint32_t pair) {
    SM100_REQUIRE_NARROW_FORMATS(kAvailable);
    uint32_t halves;
    asm("cvt.rn.bf16x2.ue8m0x2 %0, %1;" : "=r"(halves) : "h"(uint16_t(pair)));
    return halves;
  }
  /// The largest magnitude of all lanes; NaN if one has it.
  SM100_KERNEL LaneArray<uint32_t, 1> redux_sync_max_abs_nan_f32(const LaneArray<uint32_t, 1>& values,
                                                                 Loc = Loc::current()) const {
    SM100_REQUIRE_NARROW_FORMATS(kAvailable);
    float largest;
    asm volatile("redux.sync.max.abs.NaN.f32 %0, %1, %2;"
                 : "=f"(largest)
                 : "f"(as_float(values[0][0])), "r"(0xffffffffu));
    LaneArray<uint32_t, 1> result;
    result[0][0] = as_bits(largest);
    return result;
  }
};

}  // namespace sm100::device
