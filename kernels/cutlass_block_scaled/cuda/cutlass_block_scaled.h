// SPDX-License-Identifier: Apache-2.0
/// Table of the compiled block-scaled kernels in CUTLASS's arrangement (sm_100a), for host code: a launch is a
/// lookup.
///
/// Launched as matmul.h says, with storage_bytes<CutlassStorage>(config) and {CutlassBlockScaledParams*,
/// DeviceTrace*}.
#pragma once

#include <span>

#include "kernels/cutlass_block_scaled/config.h"
#include "kernels/cutlass_block_scaled/params.h"
#include "kernels/isa/device_trace.h"

namespace sm100 {

struct CutlassBlockScaledKernel {
  const char* name;
  CutlassBlockScaledConfig config;
  const void* plain;   ///< without trace points
  const void* traced;  ///< with DeviceRecorder
};

std::span<const CutlassBlockScaledKernel> cutlass_block_scaled_kernels();

}  // namespace sm100
