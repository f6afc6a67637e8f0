// SPDX-License-Identifier: Apache-2.0
/// The block-scaled matmul in CUTLASS's arrangement on a scenario's problem: the block-scaled product, and a
/// residual.
#pragma once

#include "kernels/block_scaled/host/block_scaled_run.h"
#include "kernels/cutlass_block_scaled/host/cutlass_block_scaled_problem.h"
#include "kernels/cutlass_block_scaled/params.h"

namespace sm100::host {

const KernelDefinition& cutlass_block_scaled_definition();

class CutlassBlockScaledRun : public BlockScaledRun {
 public:
  using Problem = CutlassBlockScaledProblem;
  explicit CutlassBlockScaledRun(const Scenario& scenario);

  const CutlassBlockScaledConfig& config() const { return config_; }
  CutlassBlockScaledParams params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const;

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override;
  std::string_view role(int warp) const override { return cutlass_role(warp); }
  std::vector<Tensor> tensors() const override;  ///< A, B, SFA, SFB, residual where beta is not 0, C
  void fill(size_t i, uint8_t* bytes) const override;
  bool is_plain() const override { return !config_.scaled && !config_.residual; }
  ExpectedResult expected_result(const std::vector<GlobalAddr>& addresses) const override;
  std::string chosen_configuration() const override;
  std::string configuration_json() const override;

 private:
  double finished(double accumulator, int row, int column,
                  const std::vector<const uint8_t*>& tensors) const override;

  CutlassBlockScaledProblem problem_;
  const CutlassBlockScaledConfig& config_ = problem_.config;
  int sms_, gpc_sms_;
};

}  // namespace sm100::host
