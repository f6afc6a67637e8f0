// SPDX-License-Identifier: Apache-2.0
/// Operand tiles in shared memory, as TMA writes them and the tensor core reads them.
#pragma once

#include "kernels/isa/smem_descriptor.h"

namespace sm100 {

/// K-major operand tile of one swizzle span per row: groups of 8 rows lie 8 spans apart (PTX 9.7.16.4).
template <class Config>
SM100_HD constexpr SmemDescriptor operand_descriptor(const Config& cfg, SmemAddr tile) {
  return make_smem_descriptor(tile, 16, 8 * swizzle_span_bytes(cfg.swizzle), cfg.swizzle);
}

}  // namespace sm100
