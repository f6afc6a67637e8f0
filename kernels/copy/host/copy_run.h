// SPDX-License-Identifier: Apache-2.0
/// pipeline_copy on a problem: the output holds the source once, or once for every CTA of a multicast cluster, bit
/// by bit.
#pragma once

#include "kernels/copy/config.h"
#include "kernels/copy/params.h"
#include "kernels/host/kernel_run.h"
#include "kernels/host/scenario.h"

namespace sm100::host {

const KernelDefinition& pipeline_copy_definition();

/// [problem] and [config] of a scenario.
struct CopyProblem {
  int m = 0, n = 0;
  CopyConfig config;
};

class CopyRun : public KernelRun {
 public:
  using Problem = CopyProblem;
  explicit CopyRun(const Scenario& s);

  const CopyConfig& config() const { return config_; }
  CopyParams params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const;

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override { return {"load", "consumer"}; }
  std::string_view role(int warp) const override { return copy_role(warp); }
  std::optional<WorkTiles> work_tiles() const override {
    return WorkTiles{.rows = config_.tile_m, .columns = config_.tile_n};
  }
  std::vector<Tensor> tensors() const override;  ///< source, destination
  std::vector<FeedInput> feed_inputs() const override { return {{"source", 0}}; }
  /// Source: seeded bytes; destination: a pattern, so that what nobody writes cannot pass.
  void fill(size_t i, uint8_t* bytes) const override;
  Check check(const std::vector<const uint8_t*>& tensors) const override;
  ExpectedResult expected_result(const std::vector<GlobalAddr>& addresses) const override;
  double flops() const override { return 0; }
  double bytes() const override;
  std::string title() const override;
  std::string configuration_json() const override;

  StaticGrid grid() const;

 private:
  std::optional<Unwritten> unwritten(const uint8_t* source, const uint8_t* destination) const;
  uint64_t source_bytes() const { return uint64_t(problem_.m) * uint64_t(problem_.n) * kCopyElementBytes; }

  CopyProblem problem_;
  const CopyConfig& config_ = problem_.config;
  int persistent_ctas_;
  uint64_t seed_;
};

}  // namespace sm100::host
