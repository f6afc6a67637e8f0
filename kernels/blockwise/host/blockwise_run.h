// SPDX-License-Identifier: Apache-2.0
/// The blockwise matmul on a scenario's problem: FP8 operands, their scales, and a float64 product of the
/// scaled values.
#pragma once

#include "kernels/blockwise/host/blockwise_problem.h"
#include "kernels/blockwise/params.h"
#include "kernels/host/product.h"
#include "kernels/host/scenario.h"

namespace sm100::host {

const KernelDefinition& blockwise_definition();

class BlockwiseRun : public Product {
 public:
  using Problem = BlockwiseProblem;
  explicit BlockwiseRun(const Scenario& scenario);

  const BlockwiseConfig& config() const { return config_; }
  BlockwiseParams params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const;

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override { return {"scheduler", "load", "mma", "epilogue"}; }
  std::string_view role(int warp) const override { return matmul_role(warp); }
  std::vector<Tensor> tensors() const override;  ///< A, B, scale A, scale B, C
  void fill(size_t i, uint8_t* bytes) const override;
  std::optional<WorkTiles> work_tiles() const override {
    return WorkTiles{.rows = block_m(config_),
                     .columns = config_.mma_n,
                     .round_m = config_.cluster_m,
                     .round_n = config_.cluster_n};
  }
  bool is_plain() const override { return false; }  // sums times scale factors
  ExpectedResult expected_result(const std::vector<GlobalAddr>& addresses) const override;
  std::string title() const override;
  std::string chosen_configuration() const override;
  std::string configuration_json() const override;

 private:
  void read_row(int operand, const std::vector<const uint8_t*>& tensors, int row, double* values) const override;
  int k_blocks() const;
  int n_blocks() const;
  /// Scales from one k block's scales of A to the next: rows begin at 16 bytes.
  int a_scale_pitch() const;

  BlockwiseProblem problem_;
  const BlockwiseConfig& config_ = problem_.config;
  int sms_, gpc_sms_;
};

}  // namespace sm100::host
