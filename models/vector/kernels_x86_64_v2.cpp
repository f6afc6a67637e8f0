// SPDX-License-Identifier: Apache-2.0
// x86-64-v2: SSE4.2, no fused multiply-add.
#include <immintrin.h>
#include "models/vector/kernel_tables.h"
#include "models/vector/panel_buffer.h"

namespace sm100::vector {
namespace {

#define SM100_UNFUSED
inline float canonical(float x) { return x == x ? x : __builtin_bit_cast(float, kCanonicalNan); }
inline float add_to(float d, float sum) { return d == d ? canonical(d + sum) : d; }

/// 4 numbers in f32.
struct F32 {
  using T = float;
  static constexpr int kLanes = 4, kRows = 4;
  __m128 v;

  static F32 all(T x) { return {_mm_set1_ps(x)}; }
  static F32 load(const T* p) { return {_mm_loadu_ps(p)}; }
  static void store(T* p, F32 x) { _mm_storeu_ps(p, x.v); }
  static F32 multiply_add(F32 x, F32 y, F32 sum) { return {_mm_add_ps(sum.v, _mm_mul_ps(x.v, y.v))}; }
  static F32 canonical(F32 x) {
    return {_mm_blendv_ps(x.v, _mm_castsi128_ps(_mm_set1_epi32(kCanonicalNan)), _mm_cmpunord_ps(x.v, x.v))};
  }
  static F32 add_to(F32 d, F32 sum) {
    const F32 added = canonical({_mm_add_ps(d.v, sum.v)});
    return {_mm_blendv_ps(added.v, d.v, _mm_cmpunord_ps(d.v, d.v))};
  }
};

/// 2 numbers in f64.
struct F64 {
  using T = double;
  static constexpr int kLanes = 2, kRows = 4;
  __m128d v;

  static F64 all(T x) { return {_mm_set1_pd(x)}; }
  static F64 load(const T* p) { return {_mm_loadu_pd(p)}; }
  static void store(T* p, F64 x) { _mm_storeu_pd(p, x.v); }
  static F64 multiply_add(F64 x, F64 y, F64 sum) { return {_mm_add_pd(sum.v, _mm_mul_pd(x.v, y.v))}; }
  static F64 canonical(F64 x) { return x; }
  static F64 add_to(F64 d, F64 sum) { return {_mm_add_pd(d.v, sum.v)}; }
};

#include "models/vector/kernels.inl"

}  // namespace

const Kernels kX86V2Kernels{product_f32, product_f64, take_later, later_of};

}  // namespace sm100::vector
