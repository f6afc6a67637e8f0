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

/// Issues the store: the warp hands its registers over, waits for room on the SM's way out (models/store_path.h)
/// and goes on.  The way takes max(global_store.line_cycles, its sectors) for each line that the lanes touch; L2 is
/// offered what they write gathered as L1 does: lanes in one sector of 32 bytes, or in sectors that follow each
/// other, are one piece.  The last cycle at which a store of the warp becomes visible grows.
void store_to_global(sim::WarpContext& w, const LaneStores& stores);

/// As store_to_global, of lane 0 alone, where what issuing takes has been charged, and nobody asks when the bytes
/// are visible: the device recorder's.
/// @param bytes  within a sector of 32
void store_unseen(sim::WarpContext& w, GlobalAddr address, uint32_t bytes);

}  // namespace sm100::instructions
