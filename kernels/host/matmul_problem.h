// SPDX-License-Identifier: Apache-2.0
/// The dense matmul's problem: C = A * B^T with seeded operands, checked against a float64 product.
#pragma once

#include "kernels/host/problem.h"

namespace sm100::host {

class MatmulProblem : public Problem {
 public:
  explicit MatmulProblem(const Scenario& s)
      : config_(s.config),
        m_(s.m),
        n_(s.n),
        k_(s.k),
        sms_(s.sms > 0 ? s.sms : s.device.device.sms),
        gpc_sms_(s.device.device.gpc_sms),
        seed_(s.seed),
        alpha_(s.alpha),
        beta_(s.beta),
        bit_model_(s.numerics == Numerics::b200) {}

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override { return {"scheduler", "load", "mma", "epilogue"}; }
  std::string_view role(int warp) const override { return matmul_role(warp); }
  std::vector<Tensor> tensors() const override;  ///< A, B, bias, residual, workspace and locks where configured, C
  size_t fed_tensor(Feed feed) const override { return feed == Feed::residual ? (config_.bias ? 3 : 2) : 0; }
  /// A and B: values in [-1, 1), rounded to their type; C: NaN, so that an element that nobody writes cannot pass.
  void fill(size_t i, uint8_t* bytes) const override;
  Check check(const std::vector<const uint8_t*>& tensors) const override;
  double flops() const override { return 2.0 * m_ * n_ * k_; }
  double bytes() const override;
  std::string title() const override;

 private:
  MatmulConfig config_;
  int m_, n_, k_, sms_, gpc_sms_;
  uint64_t seed_;
  float alpha_, beta_;
  bool bit_model_;

  /// CTA tiles of the kernel's output, rounded up to clusters.
  int tiles_m() const;
  int tiles_n() const;
  double finished(double accumulator, int row, int column, const std::vector<const uint8_t*>& tensors) const;
};

/// Largest relative Frobenius error that passes: the output type's rounding, or f32 summation for f32 output.  The check
/// adds what the configuration's own roundings may: the bit model's truncation, and rounding before a functor on the strip.
double error_limit(DataType output);

}  // namespace sm100::host
