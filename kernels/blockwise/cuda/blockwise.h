// SPDX-License-Identifier: Apache-2.0
/// Table of the compiled blockwise kernels (sm_100a), for host code: a launch is a lookup.
///
/// Launched as matmul.h says, with storage_bytes<BlockwiseStorage>(config) and {BlockwiseParams*,
/// DeviceTrace*}.
#pragma once

#include <span>

#include "kernels/blockwise/config.h"
#include "kernels/blockwise/params.h"
#include "kernels/isa/device_trace.h"

namespace sm100 {

struct BlockwiseKernel {
  const char* name;
  BlockwiseConfig config;
  const void* plain;   ///< without trace points
  const void* traced;  ///< with DeviceRecorder
};

std::span<const BlockwiseKernel> blockwise_kernels();

}  // namespace sm100
