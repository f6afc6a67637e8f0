// SPDX-License-Identifier: Apache-2.0
/// The bit model of the tensor core's sums (`run.numerics = "b200"`): the products of one MMA and the old D are one
/// fused sum.
///
/// A term is a product of significands and the sum of their exponents, or the old D; a subnormal takes part with
/// the smallest exponent of its type.  The largest exponent E of all terms counts, terms are cut off toward zero
/// after 25 fractional bits below 2^E and added exactly; the sum is cut off to f32, or rounded to nearest even to
/// f16.  Block-scaled kinds:
///   mxf8f6f4        the exponents of the two scale factors, powers of two, are added to that of each product
///   mxf4, mxf4nvf4  the products of 16 neighbours along k are added exactly; the sum times the significands of
///                   their two scale factors is a term, whose exponent is that of the scale factors alone.  The
///                   four terms and the old D are cut off after 35 fractional bits
///
/// What this rests on:
///   published  all of the above, and that an old D of zero has the exponent -126, so that E is not below it:
///              MMA-Sim (arXiv 2511.10909 and its public code), compared with a B200 on random operands,
///              cta_group::1.  There, 8-bit elements; and a NaN among the scale factors gives NaN, also times zero
///   measured   on an H200, whose wgmma has the same form: products that are zero do not raise E, whatever the
///              other factor (0 * 2^127 leaves a small D as it is); every result of zero is +0, also of negative
///              sums that vanish.  The public code has these as an exponent of -126 for the product and as -0
///   assumed    that a B200 does in these two what an H200 does, and with groups of products whose sum is zero or
///              whose scale factor is; that a pair of CTAs adds as one does; that an MMA which does not read D
///              adds as one whose D is zero; that elements of 4 and 6 bits in kinds f8f6f4 and mxf8f6f4 add as
///              those of 8 bits do
#pragma once

#include <cstdint>

namespace sm100::models {

/// One element of D: sum of a[i] * b[i] over k, which is 64 at most, plus `c` when `accumulate`.
/// @param a_min_exponent, b_min_exponent  of the smallest normal numbers of their types
/// @param f16_d  D is f16, and so is `c`
/// @return f32 bits; NaN is canonical (0x7fffffff).  For D in f16 the lowest bit keeps a trace of what was cut off,
/// so that
///         rounding them to f16 is the rounding of the sum
uint32_t fused_dot_b200(const float* a, const float* b, int k, float c, bool accumulate, int a_min_exponent = -126,
                        int b_min_exponent = -126, bool f16_d = false);

/// The same of kind::mxf8f6f4, D in f32.
/// @param sfa, sfb  scale factors of the row of A and of B
uint32_t fused_dot_b200_mxf8f6f4(const float* a, const float* b, int k, float c, bool accumulate,
                                 int a_min_exponent, int b_min_exponent, float sfa, float sfb);

/// The same of kinds mxf4 and mxf4nvf4: a and b are e2m1.
/// @param sfa, sfb  one scale factor for each `block` elements along k
/// @param block     16 or 32
/// @param ue8m0     the type of the scale factors; else ue4m3
uint32_t fused_dot_b200_mxf4(const float* a, const float* b, int k, float c, bool accumulate, const float* sfa,
                             const float* sfb, int block, bool ue8m0);

/// How wgmma of an H200 adds, bit for bit on 720,896 random products of each type (docs/instructions.md): as above,
/// but zero terms take no part in the largest exponent.  8-bit types keep 13 fractional bits instead of 25, and an
/// f32 D of theirs is cut off after 13 bits as well.
enum class WgmmaSum { f32, f16, fp8_f32, fp8_f16 };

/// @return f32 bits; of an f16 D as fused_dot_b200() returns them
uint32_t fused_dot_wgmma(const float* a, const float* b, int k, float c, bool accumulate, int a_min_exponent,
                         int b_min_exponent, WgmmaSum sum);

}  // namespace sm100::models
