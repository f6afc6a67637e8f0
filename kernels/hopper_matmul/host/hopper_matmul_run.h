// SPDX-License-Identifier: Apache-2.0
/// hopper_matmul on a problem: C = A * B^T, launched as as many CTAs as run at once.
#pragma once

#include "kernels/hopper_matmul/config.h"
#include "kernels/hopper_matmul/params.h"
#include "kernels/host/product.h"
#include "kernels/host/scenario.h"

namespace sm100::host {

const KernelDefinition& hopper_matmul_definition();

/// [problem] and [config] of a scenario.
struct HopperMatmulProblem {
  int m = 0, n = 0, k = 0;
  HopperMatmulConfig config;
};

class HopperMatmulRun : public Product {
 public:
  using Problem = HopperMatmulProblem;
  explicit HopperMatmulRun(const Scenario& s);

  const HopperMatmulConfig& config() const { return config_; }
  HopperMatmulParams params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const;

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override { return {"load", "spare", "consumer"}; }
  std::string_view role(int warp) const override { return hopper_role(warp); }
  std::optional<WorkTiles> work_tiles() const override {
    return WorkTiles{.rows = hopper_block_m(config_) * config_.cluster,  // each CTA of a cluster has a part
                     .columns = config_.block_n,
                     .times = config_.cluster};
  }
  std::string configuration_json() const override;

  StaticGrid grid() const;

 private:
  HopperMatmulProblem problem_;
  const HopperMatmulConfig& config_ = problem_.config;
  int persistent_ctas_;
};

}  // namespace sm100::host
