// SPDX-License-Identifier: Apache-2.0
/// The fallback kernel on a problem: C = A * B^T, launched as a CTA per tile.
#pragma once

#include "kernels/fallback/config.h"
#include "kernels/fallback/params.h"
#include "kernels/host/product.h"
#include "kernels/host/scenario.h"

namespace sm100::host {

const KernelDefinition& fallback_definition();

/// [problem] and [config] of a scenario.
struct FallbackProblem {
  int m = 0, n = 0, k = 0;
  FallbackConfig config;
};

class FallbackRun : public Product {
 public:
  using Problem = FallbackProblem;
  explicit FallbackRun(const Scenario& s);

  const FallbackConfig& config() const { return config_; }
  FallbackParams params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const;

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override { return {"warp"}; }
  std::string_view role(int warp) const override { return fallback_role(warp); }
  std::optional<WorkTiles> work_tiles() const override {
    return WorkTiles{.rows = config_.block_m, .columns = config_.block_n};
  }
  std::string configuration_json() const override;

 private:
  FallbackProblem problem_;
  const FallbackConfig& config_ = problem_.config;
};

}  // namespace sm100::host
