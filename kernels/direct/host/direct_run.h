// SPDX-License-Identifier: Apache-2.0
/// The direct kernel on a problem: C = A * B^T, launched as a CTA, or a pair, per tile, or as persistent ones.
#pragma once

#include "kernels/direct/config.h"
#include "kernels/direct/params.h"
#include "kernels/host/product.h"
#include "kernels/host/scenario.h"

namespace sm100::host {

const KernelDefinition& direct_definition();

/// [problem] and [config] of a scenario.
struct DirectProblem {
  int m = 0, n = 0, k = 0;
  DirectConfig config;
  int ctas = 0;  ///< persistent: of the grid at most; 0: as many as the run's SMs hold
};

class DirectRun : public Product {
 public:
  using Problem = DirectProblem;
  explicit DirectRun(const Scenario& s);

  const DirectConfig& config() const { return config_; }
  DirectParams params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const;

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override;
  std::string_view role(int warp) const override { return direct_role(config_, warp); }
  std::optional<WorkTiles> work_tiles() const override {
    return WorkTiles{.rows = kDirectBlockM, .columns = config_.block_n};
  }
  std::string configuration_json() const override;

 private:
  DirectProblem problem_;
  int resident_ctas_;  ///< of all the run's SMs
  const DirectConfig& config_ = problem_.config;
};

}  // namespace sm100::host
