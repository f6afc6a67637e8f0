// SPDX-License-Identifier: Apache-2.0
/// What special registers of a warp hold (PTX 10).
#pragma once

#include "sim/ptx/ptx_code.h"

namespace sm100::sim {

/// Who a warp is.
struct WarpIdentity {
  Dim3 ctaid;
  uint32_t cluster_rank = 0;
  uint32_t warp = 0;  ///< of the CTA
  uint64_t sm = 0, sms = 1, grid = 0;
};

/// The threads of a warp: those of the block that are left for it.
ptx::LaneMask lanes_of_warp(const PtxLaunch& launch, uint32_t warp);

/// The rows of those that do not change, of a code that must outlive this.
class SpecialRows {
 public:
  explicit SpecialRows(const PtxCode& code);
  /// For many warps: what lanes hold is computed once for all CTAs.
  void look_up_lanes();
  void fill(ptx::RegisterFile& file, const WarpIdentity& who) const;

  using OfLane = uint32_t (*)(Dim3 block, uint32_t thread, uint32_t lane);
  using VectorOfWarp = Dim3 (*)(const PtxCode&, const WarpIdentity&);
  using ScalarOfWarp = uint64_t (*)(const PtxCode&, const WarpIdentity&);

 private:
  /// Where a register's value comes from: one of the three; none: it is 0.
  struct Source {
    const ptx::Special* special;
    OfLane of_lane = nullptr;
    VectorOfWarp vector = nullptr;
    ScalarOfWarp scalar = nullptr;
    char component = 0;              ///< of the vector: 'x', 'y' or 'z'
    std::vector<uint32_t> values{};  ///< of_lane's, by thread of the CTA
  };
  const PtxCode& code_;
  std::vector<Source> sources_;
};

/// The rows of clocks and timers.
void fill_clocks(ptx::RegisterFile& file, const ptx::Program& program, uint64_t cycle, double sm_clock_ghz);

}  // namespace sm100::sim
