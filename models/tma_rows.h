// SPDX-License-Identifier: Apache-2.0
/// What the rows of a copy take of an SM's copy engine, as an H200 shows it (bench/hardware/tma_costs.cu,
/// docs/accuracy-h200.md section 2).
#pragma once

#include "models/profiles/profile.h"
#include "models/tma.h"

namespace sm100::models {

/// Cycles of a load's rows on their way into shared memory, those outside of the tensor included.
double load_row_cycles(const TensorCopy& copy, const DeviceProfile& profile);

/// Cycles of a store's rows on their way out.
double store_row_cycles(const TensorCopy& copy, const DeviceProfile& profile);

/// Cycles for which they keep the data port of shared memory from the warps.
double port_cycles(const TensorCopy& copy, const DeviceProfile& profile);

}  // namespace sm100::models
