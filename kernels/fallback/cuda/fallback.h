// SPDX-License-Identifier: Apache-2.0
/// Table of the compiled fallback kernels (sm_100a), for host code: a launch is a lookup.
///
/// Launched as matmul.h says, with blocks of kFallbackThreads and {FallbackParams*, DeviceTrace*}.
#pragma once

#include <span>

#include "kernels/fallback/config.h"
#include "kernels/fallback/params.h"
#include "kernels/isa/device_trace.h"

namespace sm100 {

struct FallbackKernel {
  const char* name;
  FallbackConfig config;
  const void* plain;   ///< without trace points
  const void* traced;  ///< with DeviceRecorder
};

std::span<const FallbackKernel> fallback_kernels();

}  // namespace sm100
