// SPDX-License-Identifier: Apache-2.0
/// The simulator's hot loops, in the form of the instruction set in use: matrix products, clocks that are joined
/// and compared.
///
/// A result is defined to the bit, whatever the instruction set: sums run over k in ascending order, each step is
/// one fused multiply-add (rounded once), and NaN results have one pattern.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/vector/instruction_set.h"

namespace sm100::vector {

/// D = A B^T or D += A B^T.  All matrices are row-major: a[i * a_stride + l] and b[j * b_stride + l] with l along
/// k. Each element of D is the sum over l = 0 ... k - 1, starting from 0; `accumulate` adds it to what D holds.
template <class T>
struct Product {
  int m, n, k;
  const T* a;
  ptrdiff_t a_stride;
  const T* b;
  ptrdiff_t b_stride;
  T* d;
  ptrdiff_t d_stride;
  bool accumulate;
};

/// Bits of every NaN that a product computes; the tensor core's (docs/instructions.md).
inline constexpr uint32_t kCanonicalNan = 0x7fffffff;

/// d + sum, as products with `accumulate` add.
inline float added(float d, float sum) {
  if (d != d) return d;
  const float x = d + sum;
  return x == x ? x : __builtin_bit_cast(float, kCanonicalNan);
}

/// Which of two clocks has something that is later than the other's.
struct Later {
  bool first, second;
};

struct Kernels {
  /// Operands have at most 12 significant bits (f16, bf16, tf32, 8-bit types).  Where D += finds a NaN in D, that
  /// NaN stays.
  void (*product_f32)(const Product<float>&);
  /// Operands have at most 24 significant bits and f32's range, so that products are exact in f64.
  void (*product_f64)(const Product<double>&);
  /// to[i] = max(to[i], from[i])
  void (*take_later)(uint32_t* to, const uint32_t* from, size_t count);
  /// Whether some a[i] > b[i], and whether some b[i] > a[i].
  Later (*later_of)(const uint32_t* a, const uint32_t* b, size_t count);
};

/// Those of one instruction set, which must be available.
const Kernels& kernels_of(InstructionSet set);

/// Those in use: chosen on the first call.
const Kernels& kernels();

}  // namespace sm100::vector
