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
/// The rows of those that do not change.
void fill_specials(ptx::RegisterFile& file, const PtxCode& code, const WarpIdentity& who);
/// The rows of clocks and timers.
void fill_clocks(ptx::RegisterFile& file, const ptx::Program& program, uint64_t cycle, double sm_clock_ghz);

}  // namespace sm100::sim
