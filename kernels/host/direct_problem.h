// SPDX-License-Identifier: Apache-2.0
/// The direct kernel's problem: the dense matmul's product, operands and check, launched as a CTA, or a pair, per tile.
#pragma once

#include "kernels/host/matmul_problem.h"

namespace sm100::host {

class DirectProblem : public MatmulProblem {
 public:
  explicit DirectProblem(const Scenario& s);

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override;
  std::string_view role(int warp) const override { return direct_role(config_, warp); }

 private:
  DirectConfig config_;
  int m_, n_;
};

}  // namespace sm100::host
