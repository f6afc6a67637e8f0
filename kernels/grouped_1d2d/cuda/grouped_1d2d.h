// SPDX-License-Identifier: Apache-2.0
/// Table of the compiled grouped 1D-2D kernels (sm_100a), for host code: a launch is a lookup.
///
/// Launched as matmul.h says, with storage_bytes<Grouped1d2dStorage>(config) and {Grouped1d2dParams*,
/// DeviceTrace*}.
#pragma once

#include <span>

#include "kernels/grouped_1d2d/config.h"
#include "kernels/grouped_1d2d/params.h"
#include "kernels/isa/device_trace.h"

namespace sm100 {

struct Grouped1d2dKernel {
  const char* name;
  Grouped1d2dConfig config;
  const void* plain;   ///< without trace points
  const void* traced;  ///< with DeviceRecorder
};

std::span<const Grouped1d2dKernel> grouped_1d2d_kernels();

}  // namespace sm100
