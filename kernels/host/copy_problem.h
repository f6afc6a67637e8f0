// SPDX-License-Identifier: Apache-2.0
/// pipeline_copy's problem: the output holds the source once, or once for every CTA of a multicast cluster, bit by bit.
#pragma once

#include "kernels/host/problem.h"

namespace sm100::host {

class CopyProblem : public Problem {
 public:
  explicit CopyProblem(const Scenario& s);

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override { return {"load", "consumer"}; }
  std::string_view role(int warp) const override { return copy_role(warp); }
  std::vector<Tensor> tensors() const override;  ///< source, destination
  size_t fed_tensor(Feed) const override { return 0; }
  /// Source: seeded bytes; destination: a pattern, so that what nobody writes cannot pass.
  void fill(size_t i, uint8_t* bytes) const override;
  Check check(const std::vector<const uint8_t*>& tensors) const override;
  double flops() const override { return 0; }
  double bytes() const override;
  std::string title() const override;

  StaticGrid grid() const;

 private:
  std::optional<Unwritten> unwritten(const uint8_t* source, const uint8_t* destination) const;
  uint64_t source_bytes() const { return uint64_t(m_) * uint64_t(n_) * kCopyElementBytes; }

  CopyConfig config_;
  int m_, n_, sms_;
  uint64_t seed_;
};

}  // namespace sm100::host
