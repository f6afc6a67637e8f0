// SPDX-License-Identifier: Apache-2.0
/// The block-scaled matmul on a scenario's problem: packed operands, their scales, and a float64 product of the
/// exact values that both encode.
#pragma once

#include "kernels/block_scaled/host/block_scaled_problem.h"
#include "kernels/block_scaled/host/mma_sums.h"
#include "kernels/block_scaled/host/scale_tensor.h"
#include "kernels/block_scaled/params.h"
#include "kernels/host/product.h"
#include "kernels/host/scenario.h"

namespace sm100::host {

const KernelDefinition& block_scaled_definition();

class BlockScaledRun : public Product {
 public:
  using Problem = BlockScaledProblem;
  explicit BlockScaledRun(const Scenario& scenario);
  /// The same of another problem than the scenario's: one of a group.
  /// @param seed  of the operands
  BlockScaledRun(const Scenario& scenario, const BlockScaledProblem& problem, uint64_t seed);

  const BlockScaledConfig& config() const { return config_; }
  BlockScaledParams params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const;

  /// The accumulators of some rows of C to the bit, row-major: what a quantised output is made of.
  std::vector<float> sums(const std::vector<const uint8_t*>& tensors, int first_row, int rows) const;

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override;
  std::string_view role(int warp) const override { return block_scaled_role(warp); }
  std::vector<Tensor> tensors() const override;  ///< A, B, SFA, SFB, C; quantised A, B, SFA, SFB, SFD, C
  static constexpr size_t kSfa = 2, kSfb = 3, kSfd = 4;  ///< places in it
  void fill(size_t i, uint8_t* bytes) const override;
  std::optional<WorkTiles> work_tiles() const override {
    return WorkTiles{.rows = block_m(config_),
                     .columns = config_.mma_n,
                     .turned = config_.ab_swapped,
                     .round_m = config_.cluster_m,
                     .round_n = config_.cluster_n};
  }
  bool is_plain() const override { return !has_functor(config_) && !quantises(config_); }
  Check check(const std::vector<const uint8_t*>& tensors) const override;
  ExpectedResult expected_result(const std::vector<GlobalAddr>& addresses) const override;
  std::string title() const override;
  std::string chosen_configuration() const override;
  std::string configuration_json() const override;

 private:
  void read_row(int operand, const std::vector<const uint8_t*>& tensors, int row, double* values) const override;
  double finished(double accumulator, int row, int column,
                  const std::vector<const uint8_t*>& tensors) const override;
  /// Bytes of a row of A or B.
  int row_bytes() const { return problem_.k * operand_bits(config_) / 8; }
  /// Of a row of C.
  int output_row_bytes() const { return problem_.n * output_bits(config_) / 8; }
  /// Of A (0) or B (1).
  ScaleTensor scales_of(int operand) const;
  /// SFD
  ScaleTensor output_scales() const;
  /// Rows of A (0) or B (1) as MMAs read them.
  ScaledRows scaled_rows(int operand, const std::vector<const uint8_t*>& tensors, int first, int count) const;

  BlockScaledProblem problem_;
  const BlockScaledConfig& config_ = problem_.config;
  Numerics numerics_;
  int sms_, gpc_sms_;
};

}  // namespace sm100::host
