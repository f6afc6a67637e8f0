// SPDX-License-Identifier: Apache-2.0
/// The dense matmul on a problem: its launch, its tensors and the terms of its epilogue.
#pragma once

#include "kernels/host/product.h"
#include "kernels/host/scenario.h"
#include "kernels/matmul/host/matmul_problem.h"
#include "kernels/matmul/params.h"

namespace sm100::host {

const KernelDefinition& matmul_definition();

class MatmulRun : public Product {
 public:
  using Problem = MatmulProblem;
  explicit MatmulRun(const Scenario& scenario);

  const MatmulConfig& config() const { return config_; }
  MatmulParams params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const;

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override { return {"scheduler", "load", "mma", "epilogue"}; }
  std::string_view role(int warp) const override { return matmul_role(warp); }
  std::vector<Tensor> tensors() const override;  ///< A, B, bias, residual, workspace and locks where configured, C
  std::vector<FeedInput> feed_inputs() const override;
  void fill(size_t i, uint8_t* bytes) const override;
  std::optional<WorkTiles> work_tiles() const override {
    return WorkTiles{.rows = block_m(config_),
                     .columns = config_.mma_n,
                     .turned = config_.ab_swapped,
                     .round_m = config_.cluster_m,
                     .round_n = config_.cluster_n,
                     .times = config_.num_split_k};
  }
  bool is_plain() const override { return !has_functor(config_); }
  /// Nothing where warps finish each other's elements in shared memory: nobody follows these through it.
  ExpectedResult expected_result(const std::vector<GlobalAddr>& addresses) const override;
  std::string chosen_configuration() const override;
  std::string configuration_json() const override;

 private:
  double finished(double accumulator, int row, int column,
                  const std::vector<const uint8_t*>& tensors) const override;
  double added_error(double accumulators, double results) const override;
  bool needs_norms() const override { return has_functor(config_) && !config_.register_epilogue; }
  /// CTA tiles of the kernel's output, rounded up to clusters.
  int tiles_m() const;
  int tiles_n() const;

  MatmulProblem problem_;
  const MatmulConfig& config_ = problem_.config;
  int sms_, gpc_sms_;
};

}  // namespace sm100::host
