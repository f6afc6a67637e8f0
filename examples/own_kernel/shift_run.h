// SPDX-License-Identifier: Apache-2.0
/// The shift kernel as sm100sim knows it: how a scenario configures it, what it is launched on, whether its result
/// is right.
#pragma once

#include "kernels/host/kernel_run.h"
#include "kernels/host/scenario.h"
#include "shift_kernel.h"
#include "sim/kernel_code.h"

namespace own {

class ShiftRun : public host::KernelRun {
 public:
  explicit ShiftRun(const host::Scenario& scenario)
      : config_(scenario.problem_as<ShiftConfig>()), seed_(scenario.seed) {}

  const ShiftConfig& config() const { return config_; }
  ShiftParams params(const std::vector<GlobalAddr>& addresses, const host::TensorMapEncoder& encode) const;

  host::LaunchShape launch() const override { return {.grid = {1, 1, 1}, .warps = 2, .smem_bytes = kSmemBytes}; }
  /// Who arrives and who waits: reports and traces take names from it.  Without a table barriers are named by
  /// address.
  std::vector<BarrierArray> barriers() const override;
  std::vector<std::string_view> roles() const override { return {"load", "store"}; }
  std::string_view role(int warp) const override { return warp == 0 ? "load" : "store"; }
  std::vector<host::Tensor> tensors() const override {
    return {{"source", bytes_of()}, {"destination", bytes_of()}};
  }
  void fill(size_t i, uint8_t* bytes) const override;
  host::Check check(const std::vector<const uint8_t*>& tensors) const override;
  double flops() const override { return 0; }
  double bytes() const override { return 2.0 * double(bytes_of()); }
  std::string title() const override { return std::to_string(config_.tiles) + " tiles of 64 x 64 bf16"; }
  std::string configuration_json() const override;

 private:
  uint64_t bytes_of() const { return uint64_t(config_.tiles) * kTileBytes; }
  ShiftConfig config_;
  uint64_t seed_;
};

/// What a program registers: sm100::sim::add_kernel(own::shift_code()).
sim::KernelCode shift_code();

}  // namespace own
