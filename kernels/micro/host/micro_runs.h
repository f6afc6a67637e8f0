// SPDX-License-Identifier: Apache-2.0
/// The microbenchmarks umma_batches and tma_tiles on a configuration: they compute nothing, so there is nothing to
/// check.
#pragma once

#include "kernels/host/kernel_run.h"
#include "kernels/host/scenario.h"
#include "kernels/micro/tma_tiles.h"
#include "kernels/micro/umma_batches.h"

namespace sm100::host {

const KernelDefinition& umma_batches_definition();
const KernelDefinition& tma_tiles_definition();

/// What both share: no result, and an output tensor that nobody writes.
class MicroRun : public KernelRun {
 public:
  void fill(size_t, uint8_t*) const override {}
  Check check(const std::vector<const uint8_t*>&) const override { return Check::of_nothing(); }
};

class UmmaBatchesRun : public MicroRun {
 public:
  explicit UmmaBatchesRun(const Scenario& s) : config_(s.problem_as<UmmaBatchesConfig>()) {}
  const UmmaBatchesConfig& config() const { return config_; }
  struct NoParams {};
  NoParams params(const std::vector<GlobalAddr>&, const TensorMapEncoder&) const { return {}; }
  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override { return {"mma", "waiter"}; }
  std::string_view role(int warp) const override { return umma_batches_role(warp); }
  std::vector<Tensor> tensors() const override { return {{"nothing", 256}}; }
  double flops() const override;
  double bytes() const override { return 0; }
  std::string title() const override;
  std::string configuration_json() const override;

 private:
  UmmaBatchesConfig config_;
};

class TmaTilesRun : public MicroRun {
 public:
  explicit TmaTilesRun(const Scenario& s) : config_(s.problem_as<TmaTilesConfig>()), sms_(s.sms_in_run()) {}
  const TmaTilesConfig& config() const { return config_; }
  TmaTilesParams params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const;
  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<std::string_view> roles() const override { return {"load"}; }
  std::string_view role(int warp) const override { return tma_tiles_role(warp); }
  std::vector<Tensor> tensors() const override;  ///< source, target
  double flops() const override { return 0; }
  double bytes() const override;
  std::string title() const override;
  std::string configuration_json() const override;

  int rows() const;  ///< of the source

 private:
  int ctas() const { return sms_ / config_.cluster * config_.cluster; }
  TmaTilesConfig config_;
  int sms_;
};

}  // namespace sm100::host
