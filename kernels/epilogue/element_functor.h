/// What the epilogue does to each element in registers, before it is rounded to the output type:
///
///   C = activation(alpha * A B^T + bias[column] + beta * residual)
///
/// Which terms there are is part of the configuration; alpha, beta and the addresses are kernel parameters.  Rows and
/// columns are the user's also where operands are swapped.  Elements outside C read nothing.
#pragma once

#include "kernels/epilogue/output_strip.h"
#include "kernels/epilogue/tmem_reader.h"
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

/// x / (1 + e^-x)
template <Isa I>
SM100_KERNEL float silu(I& isa, float x) {
  constexpr float kLog2E = 1.44269504f;
  return x * isa.rcp_approx_ftz_f32(1 + isa.ex2_approx_ftz_f32(-x * kLog2E));
}

/// An element of the residual; 0 outside C.
template <Isa I, class Config>
SM100_KERNEL LaneArray<uint32_t, 1> load_residual(I& isa, const Config& cfg,
                                                  const LaneArray<GlobalAddr, 1>& address,
                                                  const LaneArray<bool, 1>& inside, Loc loc) {
  if (output_bytes(cfg) == 4) return isa.ld_global_b32(address, inside, loc);
  return isa.ld_global_b16(address, inside, loc);
}

/// @param first_row, first_column  place of the fragment in the kernel's output (swapped: of C's transpose)
template <int R, Isa I, class Config>
SM100_KERNEL void apply_functor(I& isa, const Config& cfg, const FunctorParams& params, int first_row,
                                int first_column, LaneArray<uint32_t, 4 * R>& f, Loc loc = Loc::current()) {
  for (int i = 0; i < 4 * R; ++i) {
    LaneArray<GlobalAddr, 1> bias_at, residual_at;
    LaneArray<bool, 1> inside;
    isa.for_each_lane(6, [&](int lane) {
      const int along_m = first_row + lane / 4 + 8 * (i / 2 % 2),
                along_n = first_column + 8 * (i / 4) + 2 * (lane % 4) + i % 2;
      const int row = cfg.ab_swapped ? along_n : along_m, column = cfg.ab_swapped ? along_m : along_n;
      inside[lane][0] = row < params.rows && column < params.columns;
      bias_at[lane][0] = params.bias + uint64_t(column) * 4;
      residual_at[lane][0] = params.residual + (uint64_t(row) * uint64_t(params.columns) + uint64_t(column)) *
                                                   uint64_t(output_bytes(cfg));
    });
    LaneArray<uint32_t, 1> bias, residual;
    if (cfg.bias) bias = isa.ld_global_b32(bias_at, inside, loc);
    if (cfg.residual) residual = load_residual(isa, cfg, residual_at, inside, loc);
    isa.for_each_lane(cfg.activation == Activation::silu ? 8 : 3, [&](int lane) {
      float x = as_float(f[lane][i]);
      if (cfg.scaled) x *= params.alpha;
      if (cfg.bias) x += as_float(bias[lane][0]);
      if (cfg.residual) x += params.beta * decode(cfg.output, residual[lane][0]);
      if (cfg.activation == Activation::relu) x = x > 0 ? x : 0;
      if (cfg.activation == Activation::silu) x = silu(isa, x);
      f[lane][i] = as_bits(x);
    });
  }
}

}  // namespace sm100
