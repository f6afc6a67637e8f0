// SPDX-License-Identifier: Apache-2.0
/// What a warp's stores to global memory take of the SM and of L2: one law for role code and for PTX.
#pragma once

#include <cstdint>

#include "kernels/isa/address.h"
#include "kernels/isa/lane_array.h"

namespace sm100::sim {
class WarpContext;
}

namespace sm100::instructions {

/// What the lanes of one st.global write.
struct LaneStores {
  const LaneArray<GlobalAddr, 1>& addresses;
  uint32_t lanes;      ///< bit of each lane that stores
  uint32_t bytes;      ///< of each lane
  int64_t offset = 0;  ///< bytes, added to each address
};

/// Takes the SM's load-store path for every line that the lanes touch (memory.line_bytes), one after the other; the
/// warp goes on when they are through (docs/measurements.md: smem.store_lines_per_cycle).
void pass_lines(sim::WarpContext& w, const LaneStores& stores);

/// Offers L2 what the lanes write, gathered as L1 does: lanes in one sector of 32 bytes, or in sectors that follow
/// each other, are one piece.  The warp does not wait; the last cycle at which a store of it becomes visible
/// grows.
void write_to_l2(sim::WarpContext& w, const LaneStores& stores);

}  // namespace sm100::instructions
