// SPDX-License-Identifier: Apache-2.0
/// The problems of the microbenchmarks, umma_batches and tma_tiles: they compute nothing, so there is nothing to check.
#pragma once

#include "kernels/host/problem.h"

namespace sm100::host {

/// What both share: no result, and an output tensor that nobody writes.
class MicroProblem : public Problem {
 public:
  size_t fed_tensor(Feed) const override { return 0; }
  void fill(size_t, uint8_t*) const override {}
  Check check(const std::vector<const uint8_t*>&) const override { return {.ok = true, .reference = "nothing"}; }
};

class UmmaBatchesProblem : public MicroProblem {
 public:
  explicit UmmaBatchesProblem(const Scenario& s) : config_(s.umma_batches) {}
  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override { return {"mma", "waiter"}; }
  std::string_view role(int warp) const override { return umma_batches_role(warp); }
  std::vector<Tensor> tensors() const override { return {{"nothing", 256}}; }
  double flops() const override;
  double bytes() const override { return 0; }
  std::string title() const override;

 private:
  UmmaBatchesConfig config_;
};

class TmaTilesProblem : public MicroProblem {
 public:
  explicit TmaTilesProblem(const Scenario& s) : config_(s.tma_tiles), sms_(s.sms_in_run()) {}
  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override { return {}; }
  std::vector<std::string_view> roles() const override { return {"load"}; }
  std::string_view role(int warp) const override { return tma_tiles_role(warp); }
  std::vector<Tensor> tensors() const override;  ///< source, nothing
  double flops() const override { return 0; }
  double bytes() const override;
  std::string title() const override;

  int rows() const;  ///< of the source

 private:
  int ctas() const { return sms_ / config_.cluster * config_.cluster; }
  TmaTilesConfig config_;
  int sms_;
};

}  // namespace sm100::host
