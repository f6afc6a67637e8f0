// SPDX-License-Identifier: Apache-2.0
/// Table of the compiled direct kernels (sm_100a), for host code: a launch is a lookup.
///
/// Launched as matmul.h says, with blocks of direct_threads(config) and {DirectParams*, DeviceTrace*}.
#pragma once

#include <span>

#include "kernels/direct/config.h"
#include "kernels/direct/params.h"
#include "kernels/isa/device_trace.h"

namespace sm100 {

struct DirectKernelEntry {
  const char* name;
  DirectConfig config;
  const void* plain;   ///< without trace points
  const void* traced;  ///< with DeviceRecorder
};

std::span<const DirectKernelEntry> direct_kernels();

}  // namespace sm100
