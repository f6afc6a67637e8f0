// SPDX-License-Identifier: Apache-2.0
/// Table of the compiled kernels that hold SMs (sm_90a and sm_100a), for host code: a launch is a lookup.
///
/// Launched as matmul.h says, with blocks of kHoldThreads and {HoldParams*, DeviceTrace*}.
#pragma once

#include <span>

#include "kernels/hold/config.h"
#include "kernels/hold/params.h"
#include "kernels/isa/device_trace.h"

namespace sm100 {

struct HoldKernel {
  const char* name;
  HoldConfig config;
  const void* plain;   ///< without trace points
  const void* traced;  ///< with DeviceRecorder
};

std::span<const HoldKernel> hold_kernels();

}  // namespace sm100
