// SPDX-License-Identifier: Apache-2.0
/// The grouped 1D-2D matmul on a scenario's problem: FP8 tokens with scales of their rows, stacked experts with
/// scales of their blocks.
#pragma once

#include "kernels/grouped_1d1d/host/token_product.h"
#include "kernels/grouped_1d2d/host/grouped_1d2d_problem.h"
#include "kernels/grouped_1d2d/params.h"
#include "kernels/host/scenario.h"

namespace sm100::host {

const KernelDefinition& grouped_1d2d_definition();

class Grouped1d2dRun : public TokenProduct {
 public:
  using Problem = Grouped1d2dProblem;
  explicit Grouped1d2dRun(const Scenario& scenario);

  const Grouped1d2dConfig& config() const { return config_; }
  Grouped1d2dParams params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const;

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override { return {"scheduler", "load", "mma", "epilogue"}; }
  std::string_view role(int warp) const override { return matmul_role(warp); }
  std::optional<WorkTiles> work_tiles() const override {
    if (config_.layout == TokenLayout::contiguous) return std::nullopt;  // there of all rows
    return WorkTiles{.rows = block_m(config_), .columns = config_.mma_n, .round_m = config_.cta_group};
  }
  std::vector<Tensor> tensors() const override;  ///< A, B, scale A, scale B, words about groups, C
  void fill(size_t i, uint8_t* bytes) const override;
  bool is_plain() const override { return !has_functor(config_); }
  ExpectedResult expected_result(const std::vector<GlobalAddr>& addresses) const override;
  std::string title() const override;
  std::string chosen_configuration() const override;
  std::string configuration_json() const override;

 private:
  void read_token(const std::vector<const uint8_t*>& tensors, const TokenGroup& group, int token,
                  double* values) const override;
  void read_weights(const std::vector<const uint8_t*>& tensors, int expert, int row, double* values) const override;
  int k_blocks() const;
  /// Of one expert.
  int n_blocks() const;
  /// Scales of A of a k block, with their padding.
  int a_scale_pitch() const;

  Grouped1d2dProblem problem_;
  const Grouped1d2dConfig& config_ = problem_.config;
  int sms_, gpc_sms_;
};

}  // namespace sm100::host
