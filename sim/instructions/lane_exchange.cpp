// SPDX-License-Identifier: Apache-2.0
// Shuffles and reductions over the lanes of a warp on the model.
#include "kernels/isa/instructions/lane_exchange.h"

#include "kernels/isa/number_formats.h"
#include "sim/warp_context.h"

namespace sm100::instructions {

using sim::WarpContext;

void ShflSyncBfly::execute(WarpContext& w) const {
  w.charge(w.issue.alu);  // assumed as long as an instruction of the ALU; what waits for the result is not modelled
  if (!w.sm.with_data) return;
  const LaneArray<uint32_t, 1> from = *values;  // the result may be the same array
  for (int lane = 0; lane < kWarpLanes; ++lane) (*result)(lane) = from((lane ^ lane_mask) % kWarpLanes);
}

void ReduxSyncMaxAbsNanF32::execute(WarpContext& w) const {
  w.charge(w.issue.alu);
  if (!w.sm.with_data) return;
  float largest = 0;
  for (int lane = 0; lane < kWarpLanes; ++lane)
    largest = max_nan_f32(largest, as_float((*values)(lane)&0x7fffffffu));
  for (int lane = 0; lane < kWarpLanes; ++lane) (*result)(lane) = as_bits(largest);
}

}  // namespace sm100::instructions
