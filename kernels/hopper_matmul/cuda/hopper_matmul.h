// SPDX-License-Identifier: Apache-2.0
/// Table of the compiled hopper_matmul kernels (sm_90a), for host code: a launch is a lookup.
///
/// Launched as matmul.h says, with blocks of kHopperThreads and {HopperMatmulParams*, DeviceTrace*}.
#pragma once

#include <span>

#include "kernels/hopper_matmul/config.h"
#include "kernels/hopper_matmul/params.h"
#include "kernels/isa/device_trace.h"

namespace sm100 {

inline constexpr int kHopperThreads = 32 * kHopperWarps;

struct HopperMatmulKernel {
  const char* name;
  HopperMatmulConfig config;
  const void* plain;   ///< without trace points
  const void* traced;  ///< with DeviceRecorder
};

std::span<const HopperMatmulKernel> hopper_matmul_kernels();

}  // namespace sm100
