// SPDX-License-Identifier: Apache-2.0
/// The grouped 1D-1D matmul on a scenario's problem: tokens, stacked experts and their scales.
#pragma once

#include "kernels/block_scaled/host/scale_tensor.h"
#include "kernels/grouped_1d1d/host/token_product.h"
#include "kernels/grouped_1d1d/params.h"
#include "kernels/host/scenario.h"

namespace sm100::host {

const KernelDefinition& grouped_1d1d_definition();

class Grouped1d1dRun : public TokenProduct {
 public:
  using Problem = Grouped1d1dProblem;
  explicit Grouped1d1dRun(const Scenario& scenario);

  const Grouped1d1dConfig& config() const { return config_; }
  Grouped1d1dParams params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const;

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override { return {"scheduler", "load", "mma", "epilogue"}; }
  std::string_view role(int warp) const override { return matmul_role(warp); }
  std::vector<Tensor> tensors() const override;  ///< A, B, SFA, SFB, words about groups, C
  void fill(size_t i, uint8_t* bytes) const override;
  /// Of each group.
  std::optional<WorkTiles> work_tiles() const override {
    if (config_.layout == TokenLayout::contiguous) return std::nullopt;  // there of all rows
    return WorkTiles{.rows = block_m(config_),
                     .columns = config_.mma_n,
                     .turned = config_.ab_swapped,
                     .round_m = config_.cta_group};
  }
  ExpectedResult expected_result(const std::vector<GlobalAddr>& addresses) const override;
  bool is_plain() const override { return !has_functor(config_); }
  std::string title() const override;
  std::string chosen_configuration() const override;
  std::string configuration_json() const override;

 private:
  void read_token(const std::vector<const uint8_t*>& tensors, const TokenGroup& group, int token,
                  double* values) const override;
  void read_weights(const std::vector<const uint8_t*>& tensors, int expert, int row, double* values) const override;

  /// Bytes of a row of A or B.
  int row_bytes() const { return problem_.k * operand_bits(config_) / 8; }
  /// Of one expert in the tensor of scales.
  int expert_scale_rows() const { return align_up(problem_.n, kScaleAtomRows); }
  /// Of A (0) or B (1).
  ScaleTensor scales_of(int operand) const;
  void fill_scale_padding(int operand, uint8_t* bytes) const;
  /// The exact values of a row of A or B.
  void read_values(int operand, const std::vector<const uint8_t*>& tensors, int row, int scale_row,
                   double* values) const;

  Grouped1d1dProblem problem_;
  const Grouped1d1dConfig& config_ = problem_.config;
  int sms_, gpc_sms_;
};

}  // namespace sm100::host
