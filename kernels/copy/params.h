// SPDX-License-Identifier: Apache-2.0
/// Kernel parameters of pipeline_copy (`__grid_constant__` on the device).
#pragma once

#include "kernels/isa/tensor_map.h"
#include "kernels/scheduler/static_walk.h"

namespace sm100 {

struct CopyParams {
  TensorMap source;       ///< {N, M}, box {block_k, rows one CTA loads}
  TensorMap destination;  ///< {N, M, copies}, box {block_k, tile_m, 1}
  StaticGrid grid;
};

}  // namespace sm100
