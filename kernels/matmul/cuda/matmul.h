// SPDX-License-Identifier: Apache-2.0
/// Table of the compiled matmul kernels, for host code: a launch is a lookup.
///
/// Launch with cudaLaunchKernelExC: grid (grid_m, grid_n, 1), block kMatmulThreads, cluster (cluster_m, cluster_n,
/// 1), dynamic shared memory storage_bytes<SharedStorage>(config) with cudaFuncAttributeMaxDynamicSharedMemorySize
/// set to it. Arguments, of both variants: {MatmulParams*, DeviceTrace*}; the plain one ignores the second.
#pragma once

#include <span>

#include "kernels/isa/device_trace.h"
#include "kernels/matmul/config.h"
#include "kernels/matmul/params.h"

namespace sm100 {

inline constexpr int kMatmulThreads = 32 * kMatmulWarps;

struct MatmulKernel {
  const char* name;
  MatmulConfig config;
  const void* plain;   ///< without trace points
  const void* traced;  ///< with DeviceRecorder
};

std::span<const MatmulKernel> matmul_kernels();

/// Those of one list of configurations.h, instantiated in its .cu.
template <class List>
std::span<const MatmulKernel> compiled_kernels();

}  // namespace sm100
