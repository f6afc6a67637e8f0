// SPDX-License-Identifier: Apache-2.0
/// Table of the compiled grouped block-scaled kernels (sm_100a), for host code: a launch is a lookup.
///
/// Launched as matmul.h says, with storage_bytes<GroupedStorage>(config) and {GroupedBlockScaledParams*,
/// DeviceTrace*}.
#pragma once

#include <span>

#include "kernels/grouped_block_scaled/config.h"
#include "kernels/grouped_block_scaled/params.h"
#include "kernels/isa/device_trace.h"

namespace sm100 {

struct GroupedBlockScaledKernel {
  const char* name;
  GroupedBlockScaledConfig config;
  const void* plain;   ///< without trace points
  const void* traced;  ///< with DeviceRecorder
};

std::span<const GroupedBlockScaledKernel> grouped_block_scaled_kernels();

}  // namespace sm100
