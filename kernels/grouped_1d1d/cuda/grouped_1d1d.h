// SPDX-License-Identifier: Apache-2.0
/// Table of the compiled grouped 1D-1D kernels (sm_100a), for host code: a launch is a lookup.
///
/// Launched as matmul.h says, with storage_bytes<Grouped1d1dStorage>(config) and {Grouped1d1dParams*,
/// DeviceTrace*}.
#pragma once

#include <span>

#include "kernels/grouped_1d1d/config.h"
#include "kernels/grouped_1d1d/params.h"
#include "kernels/isa/device_trace.h"

namespace sm100 {

struct Grouped1d1dKernel {
  const char* name;
  Grouped1d1dConfig config;
  const void* plain;   ///< without trace points
  const void* traced;  ///< with DeviceRecorder
};

std::span<const Grouped1d1dKernel> grouped_1d1d_kernels();

}  // namespace sm100
