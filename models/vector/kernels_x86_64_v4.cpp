// SPDX-License-Identifier: Apache-2.0
// x86-64-v4: AVX-512.
#include <immintrin.h>
#include "models/vector/kernel_tables.h"
#include "models/vector/panel_buffer.h"

namespace sm100::vector {
namespace {

/// 16 numbers in f32.
struct F32 {
  using T = float;
  static constexpr int kLanes = 16, kRows = 8;
  __m512 v;

  static F32 all(T x) { return {_mm512_set1_ps(x)}; }
  static F32 load(const T* p) { return {_mm512_loadu_ps(p)}; }
  static void store(T* p, F32 x) { _mm512_storeu_ps(p, x.v); }
  static F32 multiply_add(F32 x, F32 y, F32 sum) { return {_mm512_fmadd_ps(x.v, y.v, sum.v)}; }
  static F32 canonical(F32 x) {
    return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(x.v, x.v, _CMP_UNORD_Q), x.v,
                                 _mm512_castsi512_ps(_mm512_set1_epi32(kCanonicalNan)))};
  }
  static F32 add_to(F32 d, F32 sum) {
    const F32 added = canonical({_mm512_add_ps(d.v, sum.v)});
    return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(d.v, d.v, _CMP_UNORD_Q), added.v, d.v)};
  }
};

/// 8 numbers in f64.
struct F64 {
  using T = double;
  static constexpr int kLanes = 8, kRows = 8;
  __m512d v;

  static F64 all(T x) { return {_mm512_set1_pd(x)}; }
  static F64 load(const T* p) { return {_mm512_loadu_pd(p)}; }
  static void store(T* p, F64 x) { _mm512_storeu_pd(p, x.v); }
  static F64 multiply_add(F64 x, F64 y, F64 sum) { return {_mm512_fmadd_pd(x.v, y.v, sum.v)}; }
  static F64 canonical(F64 x) { return x; }
  static F64 add_to(F64 d, F64 sum) { return {_mm512_add_pd(d.v, sum.v)}; }
};

#include "models/vector/kernels.inl"

}  // namespace

const Kernels kX86V4Kernels{product_f32, product_f64, take_later, later_of};

}  // namespace sm100::vector
