// SPDX-License-Identifier: Apache-2.0
/// The kernel that holds SMs on the host: how many CTAs, for how long, and what they must have computed.
#pragma once

#include "kernels/hold/config.h"
#include "kernels/hold/params.h"
#include "kernels/host/kernel_run.h"
#include "kernels/host/scenario.h"

namespace sm100::host {

struct HoldProblem {
  int ctas = 0;
  int blocks = 0;           ///< of kHoldBlockSteps steps
  double microseconds = 0;  ///< that these take, as the model charges them
  HoldConfig config;
};

const KernelDefinition& hold_definition();

class HoldRun : public KernelRun {
 public:
  using Problem = HoldProblem;
  explicit HoldRun(const Scenario& scenario) : problem_(scenario.problem_as<HoldProblem>()) {}

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<std::string_view> roles() const override { return {hold_role(0)}; }
  std::string_view role(int warp) const override { return hold_role(warp); }
  std::vector<Tensor> tensors() const override;  ///< R: a word per thread
  void fill(size_t i, uint8_t* bytes) const override;
  /// Every byte.
  Check check(const std::vector<const uint8_t*>& tensors) const override;
  double flops() const override { return 0; }
  double bytes() const override { return double(tensors()[0].bytes); }
  std::string title() const override;
  std::string configuration_json() const override;

  const HoldConfig& config() const { return problem_.config; }
  HoldParams params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder&) const {
    return {addresses[0], problem_.blocks};
  }

 private:
  const HoldProblem problem_;
};

}  // namespace sm100::host
