// SPDX-License-Identifier: Apache-2.0
/// What the epilogue does to each element:
///
///   C = activation(alpha * A B^T + bias[column] + beta * residual)
///
/// Which terms there are is part of the configuration; alpha, beta and the addresses are kernel parameters.  Rows
/// and columns are the user's also where operands are swapped.  It is applied in one of two places: in registers,
/// before the accumulators are rounded to the output type (fragment_functor.h), or on the strip in shared memory,
/// afterwards (strip_functor.h).
///
/// Rows of C are multiples of 16 bytes, else TMA could not store them: what begins in C at a multiple of its size
/// and is no larger is inside C or outside as a whole.  Outside C nothing is read.
#pragma once

#include "kernels/epilogue/output_strip.h"
#include "kernels/isa/isa.h"
#include "kernels/isa/number_formats.h"

namespace sm100 {

enum class Activation : uint8_t { none, relu, silu };

struct FunctorParams {
  float alpha = 1, beta = 0;
  GlobalAddr bias;      ///< f32, one for each column of C
  GlobalAddr residual;  ///< of C's type and shape
  int rows = 0, columns = 0;
};

template <class C>
SM100_HD constexpr bool has_functor(const C& c) {
  return c.scaled || c.bias || c.residual || c.activation != Activation::none;
}
/// Instructions per element: of each term, and of what makes an f32 of a narrower residual.
template <class C>
SM100_HD constexpr int functor_instructions(const C& c) {
  const int product = c.scaled || c.bias ? 1 : 0,
            widening = output_bytes(c) == 4   ? 0
                       : output_bytes(c) == 2 ? 1
                                              : 2,
            residual = c.residual ? 1 + widening : 0;
  return product + residual + (c.activation == Activation::silu ? 5 : c.activation == Activation::relu ? 2 : 0);
}

/// An element's place in C.
struct ElementPlace {
  int row, column;

  SM100_HD bool inside(const FunctorParams& params) const { return row < params.rows && column < params.columns; }
  SM100_HD GlobalAddr bias(const FunctorParams& params) const { return params.bias + uint64_t(column) * 4; }
  /// Bytes from C's first element, and from the residual's.
  SM100_HD uint64_t offset(const FunctorParams& params, int element_bytes) const {
    return (uint64_t(row) * uint64_t(params.columns) + uint64_t(column)) * uint64_t(element_bytes);
  }
};
/// The kernel's M is the user's N where operands are swapped.
template <class C>
SM100_HD constexpr ElementPlace place_in_c(const C& c, int along_m, int along_n) {
  return c.ab_swapped ? ElementPlace{along_n, along_m} : ElementPlace{along_m, along_n};
}

/// x / (1 + e^-x)
template <Isa I>
SM100_KERNEL float silu(I& isa, float x) {
  constexpr float kLog2E = 1.44269504f;
  return x * isa.rcp_approx_ftz_f32(1 + isa.ex2_approx_ftz_f32(-x * kLog2E));
}

/// Element i of words that hold neighbouring elements of C's type.
template <Isa I, class Config>
SM100_KERNEL float output_element(I& isa, const Config& cfg, const uint32_t* words, int i) {
  const auto half = [&](uint32_t word) { return word >> 16 * (i % 2); };
  if (output_bytes(cfg) == 4) return as_float(words[i]);
  if (cfg.output == DataType::bf16) return as_float(half(words[i / 2]) << 16);
  if (cfg.output == DataType::f16) return isa.cvt_f32_f16(half(words[i / 2]));
  const uint32_t pair = words[i / 4] >> 16 * (i / 2 % 2);
  return isa.cvt_f32_f16(
      half(cfg.output == DataType::e5m2 ? isa.cvt_rn_f16x2_e5m2x2(pair) : isa.cvt_rn_f16x2_e4m3x2(pair)));
}

/// Terms that the configuration lacks are not evaluated.  Which of them share one rounding is said by fma: left to
/// the compilers, nvcc contracts and a host may or may not.
/// @param bias, residual  functions that give the element's
template <Isa I, class Config, class Bias, class Residual>
SM100_KERNEL float functor_of(I& isa, const Config& cfg, const FunctorParams& params, float x, Bias bias,
                              Residual residual) {
  if (cfg.scaled && cfg.bias)
    x = isa.fma_rn_f32(x, params.alpha, bias());
  else if (cfg.scaled)
    x *= params.alpha;
  else if (cfg.bias)
    x += bias();
  if (cfg.residual) x = isa.fma_rn_f32(params.beta, residual(), x);
  if (cfg.activation == Activation::relu) x = x > 0 ? x : 0;
  if (cfg.activation == Activation::silu) x = silu(isa, x);
  return x;
}

}  // namespace sm100
