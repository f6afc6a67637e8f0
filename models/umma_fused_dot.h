// SPDX-License-Identifier: Apache-2.0
/// The bit model of the tensor core's sums (`run.numerics = "b200"`): the products of one MMA and the old D are one
/// fused sum.
///
/// A term is a product of significands and the sum of their exponents, or the old D; a subnormal takes part with
/// the smallest exponent of its type.  The largest exponent E of all terms counts, terms are cut off toward zero
/// after 25 fractional bits below 2^E and added exactly; the sum is cut off to f32, or rounded to nearest even to
/// f16.
///
/// What this rests on:
///   published  all of the above, and that an old D of zero has the exponent -126, so that E is not below it:
///   MMA-Sim
///              (arXiv 2511.10909 and its public code), compared with a B200 on random operands, cta_group::1
///   measured   on an H200, whose wgmma has the same form: products that are zero do not raise E, whatever the
///   other factor
///              (0 * 2^127 leaves a small D as it is); every result of zero is +0, also of negative sums that
///              vanish.  The public code has these as an exponent of -126 for the product and as -0
///   assumed    that a B200 does in these two what an H200 does; that a pair of CTAs adds as one does; that an MMA
///   which
///              does not read D adds as one whose D is zero
#pragma once

#include <cstdint>

namespace sm100::models {

/// One element of D: sum of a[i] * b[i] over k, plus `c` when `accumulate`.
/// @param a_min_exponent, b_min_exponent  of the smallest normal numbers of their types
/// @param f16_d  D is f16, and so is `c`
/// @return f32 bits; NaN is canonical (0x7fffffff).  For D in f16 the lowest bit keeps a trace of what was cut off,
/// so that
///         rounding them to f16 is the rounding of the sum
uint32_t fused_dot_b200(const float* a, const float* b, int k, float c, bool accumulate, int a_min_exponent = -126,
                        int b_min_exponent = -126, bool f16_d = false);

}  // namespace sm100::models
