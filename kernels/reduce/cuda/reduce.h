// SPDX-License-Identifier: Apache-2.0
/// Table of the compiled reduction kernels (sm_90a and sm_100a), for host code: a launch is a lookup.
///
/// Launched as matmul.h says, with blocks of kReduceThreads and {ReduceParams*, DeviceTrace*}.
#pragma once

#include <span>

#include "kernels/isa/device_trace.h"
#include "kernels/reduce/config.h"
#include "kernels/reduce/params.h"

namespace sm100 {

struct ReduceKernel {
  const char* name;
  ReduceConfig config;
  const void* plain;   ///< without trace points
  const void* traced;  ///< with DeviceRecorder
};

std::span<const ReduceKernel> reduce_kernels();

}  // namespace sm100
