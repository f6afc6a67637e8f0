// SPDX-License-Identifier: Apache-2.0
// Plain C++: what processors other than x86-64 use.
#include "models/vector/kernel_tables.h"
#include "models/vector/panel_buffer.h"

namespace sm100::vector {
namespace {

#ifdef __FP_FAST_FMAF  // defined by the compiler where it is one instruction
inline float fused(float x, float y, float sum) { return __builtin_fmaf(x, y, sum); }
inline double fused(double x, double y, double sum) { return __builtin_fma(x, y, sum); }
#else
#define SM100_UNFUSED
#endif

inline float canonical(float x) { return x == x ? x : __builtin_bit_cast(float, kCanonicalNan); }
inline double canonical(double x) { return x; }
template <class T>
T add_to(T d, T sum) {
  return d == d ? canonical(d + sum) : d;
}

/// 16 bytes of numbers: GCC and clang map them to whatever the processor has.
template <class Number, int Lanes>
struct Row {
  using T = Number;
  static constexpr int kLanes = Lanes, kRows = 4;
  T v __attribute__((vector_size(16)));

  static Row all(T x) {
    Row r;
    for (int i = 0; i < Lanes; ++i) r.v[i] = x;
    return r;
  }
  static Row load(const T* p) {
    Row r;
    __builtin_memcpy(&r.v, p, sizeof r.v);
    return r;
  }
  static void store(T* p, Row x) { __builtin_memcpy(p, &x.v, sizeof x.v); }
  static Row multiply_add(Row x, Row y, Row sum) {
#ifdef SM100_UNFUSED
    sum.v += x.v * y.v;
#else
    for (int i = 0; i < Lanes; ++i) sum.v[i] = fused(x.v[i], y.v[i], sum.v[i]);
#endif
    return sum;
  }
  static Row canonical(Row x) {
    for (int i = 0; i < Lanes; ++i) x.v[i] = sm100::vector::canonical(x.v[i]);
    return x;
  }
  static Row add_to(Row d, Row sum) {
    for (int i = 0; i < Lanes; ++i) d.v[i] = sm100::vector::add_to(d.v[i], sum.v[i]);
    return d;
  }
};
using F32 = Row<float, 4>;
using F64 = Row<double, 2>;

#include "models/vector/kernels.inl"

}  // namespace

const Kernels kPortableKernels{product_f32, product_f64, take_later, later_of};

}  // namespace sm100::vector
