// SPDX-License-Identifier: Apache-2.0
/// The reduction on the host: partial sums, their sum, launch, check.
#pragma once

#include "kernels/host/kernel_run.h"
#include "kernels/host/scenario.h"
#include "kernels/reduce/config.h"
#include "kernels/reduce/params.h"

namespace sm100::host {

/// D and the partial sums are m x n, row-major.
struct ReduceProblem {
  int m = 0, n = 0;
  ReduceConfig config;
};

const KernelDefinition& reduce_definition();

class ReduceRun : public KernelRun {
 public:
  using Problem = ReduceProblem;
  explicit ReduceRun(const Scenario& scenario);

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<std::string_view> roles() const override { return {reduce_role(0)}; }
  std::string_view role(int warp) const override { return reduce_role(warp); }
  std::vector<Tensor> tensors() const override;  ///< P0, P1, ..., D
  void fill(size_t i, uint8_t* bytes) const override;
  /// Every byte: the same additions in the same order.
  Check check(const std::vector<const uint8_t*>& tensors) const override;
  double flops() const override { return 0; }
  double bytes() const override;
  std::string title() const override;
  std::string configuration_json() const override;

  const ReduceConfig& config() const { return problem_.config; }
  ReduceParams params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const;

 private:
  int64_t elements() const { return int64_t(problem_.m) * problem_.n; }

  const ReduceProblem problem_;
  const uint64_t seed_;
};

}  // namespace sm100::host
