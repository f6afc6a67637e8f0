// SPDX-License-Identifier: Apache-2.0
/// Table of the compiled block-scaled kernels (sm_100a), for host code: a launch is a lookup.
///
/// Launched as matmul.h says, with storage_bytes<BlockScaledStorage>(config) and {BlockScaledParams*,
/// DeviceTrace*}.
#pragma once

#include <span>

#include "kernels/block_scaled/config.h"
#include "kernels/block_scaled/params.h"
#include "kernels/isa/device_trace.h"

namespace sm100 {

struct BlockScaledKernel {
  const char* name;
  BlockScaledConfig config;
  const void* plain;   ///< without trace points
  const void* traced;  ///< with DeviceRecorder
};

std::span<const BlockScaledKernel> block_scaled_kernels();

}  // namespace sm100
