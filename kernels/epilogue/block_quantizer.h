// SPDX-License-Identifier: Apache-2.0
/// How a block of results becomes FP4 or FP8 with a scale of its own (kernels of the NVFP4 and MX formats; the
/// recipe is that of CUTLASS's epilogues):
///
///   amax   = the largest |x| of the block; NaN if one of its elements is
///   scale  = amax * (norm / M), M the largest number of the element type: to ue4m3 rounded to nearest even, to
///            ue8m0 rounded up; both saturate
///   factor = norm / scale, of the scale as it was rounded; at most the largest finite f32, so that a block of
///            zeros, whose scale is zero, stays zero
///   y      = x * factor, rounded to nearest even; saturates
///
/// A reader takes y * scale / norm.  1 / scale is exact in ue8m0; in ue4m3 it is rcp.approx.ftz.f32.  A NaN makes
/// the scale NaN and with it the whole block: e4m3 elements are NaN, e2m1 has none and gets its largest number.
///
/// Arithmetic of one lane; who holds what is the business of scaled_output.h.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/number_formats.h"
#include "kernels/isa/scale_layout.h"

namespace sm100 {

/// What the elements of a block have in common.
enum class ScaleDirection : uint8_t {
  rows,     ///< neighbours in a row of C: the scales lie as SFA of a product whose A is C
  columns,  ///< in a column: as SFA of a product whose A is C transposed
};

/// How C is quantised.  Of the configuration; `block` 0: it is not.
struct OutputScaling {
  int block = 0;  ///< elements that share a scale: 16 or 32
  ScaleType type = ScaleType::ue4m3;
  ScaleDirection direction = ScaleDirection::rows;
  // Mistakes that the check of results must find: false is one.
  bool reciprocal_of_rounded = true;  ///< false: of the scale before it was rounded, which no reader knows
  bool amax_of_results = true;        ///< false: of the accumulators, before the functor

  constexpr bool operator==(const OutputScaling&) const = default;
};

/// Kernel parameters of a quantised output.
struct ScaledOutputParams {
  GlobalAddr scales;        ///< SFD, in atoms of 128 x 4 (scale_layout.h)
  int rows = 0;             ///< of the scale tensor: rows of C, or its columns
  int blocks = 0;           ///< scales of each
  float norm = 1;           ///< keeps the scales of a tensor within the range of their type
  float norm_over_max = 0;  ///< norm / M
};

/// Columns of a row that a lane quantises at a time: a strip of the output.
inline constexpr int kScaledStripColumns = 32;

/// M
SM100_HD constexpr float largest_element(DataType type) { return type == DataType::e2m1 ? 6.f : 448.f; }

inline constexpr float kLargestF32 = 3.402823466e+38f;

template <class C>
SM100_HD constexpr bool quantises(const C& c) {
  if constexpr (requires { c.scaled_output; }) return c.scaled_output.block != 0;
  return false;
}

/// Elements that share a scale; 1 where there are no scales, so that dead code divides by no zero.
template <class C>
SM100_HD constexpr int elements_per_scale(const C& c) {
  return quantises(c) ? c.scaled_output.block : 1;
}

/// The scale's code, in the lowest byte.
template <Isa I>
SM100_KERNEL uint32_t scale_code(I& isa, ScaleType type, float scale) {
  return type == ScaleType::ue8m0 ? isa.cvt_rp_satfinite_ue8m0x2_f32(0.f, scale)
                                  : isa.cvt_rn_satfinite_e4m3x2_f32(0.f, scale);  // of no negative number: ue4m3
}

/// 1 / the scale of that code.
template <Isa I>
SM100_KERNEL float reciprocal_of_scale(I& isa, ScaleType type, uint32_t code) {
  constexpr uint32_t kTwiceBias = 254;  // a negated exponent; NaN, 255, stays what it is
  if (type == ScaleType::ue8m0) return as_float(isa.cvt_rn_bf16x2_ue8m0x2((kTwiceBias - code) & 0xff) << 16);
  return isa.rcp_approx_ftz_f32(isa.cvt_f32_f16(isa.cvt_rn_f16x2_e4m3x2(code)));
}

/// A block's scale, and what its elements are multiplied by.
struct BlockScale {
  uint32_t code;
  float factor;
};
template <Isa I>
SM100_KERNEL BlockScale scale_of_block(I& isa, OutputScaling how, const ScaledOutputParams& params, float amax) {
  const float scale = amax * params.norm_over_max;
  const uint32_t code = scale_code(isa, how.type, scale);
  const float reciprocal =
      how.reciprocal_of_rounded ? reciprocal_of_scale(isa, how.type, code) : isa.rcp_approx_ftz_f32(scale);
  return {code, isa.min_nan_f32(params.norm * reciprocal, kLargestF32)};
}

/// Of two results; the larger magnitude, NaN wins.
template <Isa I>
SM100_KERNEL float larger_magnitude(I& isa, float amax, uint32_t x) {
  return isa.max_nan_f32(amax, as_float(x & 0x7fffffffu));
}

/// Four or eight neighbours, the first in the lowest bits: a word of e4m3 or of e2m1.
template <Isa I>
SM100_KERNEL uint32_t packed_word(I& isa, DataType type, const uint32_t* x) {
  const auto pair = [&](int i) {
    const float left = as_float(x[2 * i]), right = as_float(x[2 * i + 1]);
    return type == DataType::e2m1 ? isa.cvt_rn_satfinite_e2m1x2_f32(right, left)
                                  : isa.cvt_rn_satfinite_e4m3x2_f32(right, left);
  };
  if (type != DataType::e2m1) return pair(0) | pair(1) << 16;
  return pair(0) | pair(1) << 8 | pair(2) << 16 | pair(3) << 24;
}

}  // namespace sm100
