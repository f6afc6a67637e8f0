// SPDX-License-Identifier: Apache-2.0
/// The fallback kernel's problem: the dense matmul's product, operands and check, launched as a CTA per tile.
#pragma once

#include "kernels/host/matmul_problem.h"

namespace sm100::host {

class FallbackProblem : public MatmulProblem {
 public:
  explicit FallbackProblem(const Scenario& s);

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override { return {"warp"}; }
  std::string_view role(int warp) const override { return fallback_role(warp); }

 private:
  FallbackConfig config_;
  int m_, n_;
};

}  // namespace sm100::host
