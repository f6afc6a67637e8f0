// SPDX-License-Identifier: Apache-2.0
/// Table of the compiled pipeline_copy kernels (sm_90a and sm_100a), for host code: a launch is a lookup.
///
/// Launched as matmul.h says, with blocks of kCopyThreads and {CopyParams*, DeviceTrace*}.
#pragma once

#include <span>

#include "kernels/copy/config.h"
#include "kernels/copy/params.h"
#include "kernels/isa/device_trace.h"

namespace sm100 {

inline constexpr int kCopyThreads = 32 * kCopyWarps;

struct CopyKernel {
  const char* name;
  CopyConfig config;
  const void* plain;   ///< without trace points
  const void* traced;  ///< with DeviceRecorder
};

std::span<const CopyKernel> copy_kernels();

}  // namespace sm100
