// SPDX-License-Identifier: Apache-2.0
/// A kernel that is given as PTX, on the tensors of its launch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/host/kernel_run.h"
#include "kernels/host/product.h"
#include "kernels/host/scenario.h"
#include "kernels/ptx_launch/host/ptx_problem.h"

namespace sm100::host {

class PtxRun : public KernelRun {
 public:
  explicit PtxRun(const Scenario& scenario);

  LaunchShape launch() const override;
  /// Names: the static shared symbols of 64-bit elements.  Which of them are mbarriers, and how they are used, is
  /// learned from a run before.
  std::vector<BarrierArray> barriers() const override;
  std::vector<std::string_view> roles() const override;
  std::string_view role(int warp) const override { return roles_[size_t(warp)]; }
  std::vector<Tensor> tensors() const override;
  void fill(size_t i, uint8_t* bytes) const override;
  void before_trial() const override;
  Check check(const std::vector<const uint8_t*>& tensors) const override;
  ExpectedResult expected_result(const std::vector<GlobalAddr>& addresses) const override;
  double check_bytes() const override { return product_ ? product_->check_bytes() : 0; }
  double flops() const override { return product_ ? product_->flops() : 0; }
  double bytes() const override;
  std::string title() const override;
  std::string configuration_json() const override;

  const PtxProblem& problem() const { return problem_; }
  const ptx::Entry& entry() const { return problem_.file.entry(); }
  /// The parameter window of a launch whose tensors lie at `addresses`.
  std::vector<uint8_t> parameters(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const;

 private:
  Check check_copy(const std::vector<const uint8_t*>& tensors) const;
  Check check_reference(const std::vector<const uint8_t*>& tensors) const;

  const PtxProblem problem_;
  const uint64_t seed_;
  std::vector<std::string> roles_;
  std::unique_ptr<Product> product_;  ///< what the result is compared with
};

}  // namespace sm100::host
