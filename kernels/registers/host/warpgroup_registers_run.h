// SPDX-License-Identifier: Apache-2.0
/// warpgroup_registers on a configuration: it computes nothing, so there is nothing to check but that it ends.
#pragma once

#include "kernels/host/kernel_run.h"
#include "kernels/host/scenario.h"
#include "kernels/registers/config.h"

namespace sm100::host {

const KernelDefinition& warpgroup_registers_definition();

class WarpgroupRegistersRun : public KernelRun {
 public:
  explicit WarpgroupRegistersRun(const Scenario& s)
      : config_(s.problem_as<WarpgroupRegistersConfig>()), sms_(s.sms_in_run()) {}
  const WarpgroupRegistersConfig& config() const { return config_; }
  struct NoParams {};
  NoParams params(const std::vector<GlobalAddr>&, const TensorMapEncoder&) const { return {}; }
  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override { return {{0, "set-up", "producer, consumer"}}; }
  std::vector<std::string_view> roles() const override { return {"producer", "consumer"}; }
  std::string_view role(int warp) const override { return warpgroup_registers_role(warp); }
  std::vector<Tensor> tensors() const override { return {{"nothing", 256}}; }
  void fill(size_t, uint8_t*) const override {}
  Check check(const std::vector<const uint8_t*>&) const override { return Check::of_nothing(); }
  double flops() const override { return 0; }
  double bytes() const override { return 0; }
  std::string title() const override;
  std::string configuration_json() const override;

 private:
  WarpgroupRegistersConfig config_;
  int sms_;
};

}  // namespace sm100::host
