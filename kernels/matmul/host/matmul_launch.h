// SPDX-License-Identifier: Apache-2.0
/// How the matmuls of this family are launched, and their barriers for reports and traces.
#pragma once

#include <vector>

#include "kernels/host/kernel_run.h"
#include "kernels/matmul/config.h"
#include "kernels/pipeline/smem_layout.h"

namespace sm100::host {

/// @param tiles    CTA tiles along M and N, rounded up to clusters, and splits of K
/// @param sms      that take part; gpc_sms of them share a GPC
LaunchShape matmul_launch(const MatmulConfig& config, Dim3 tiles, uint32_t smem_bytes, int sms, int gpc_sms);

std::vector<NamedBarrier> matmul_named_barriers(const MatmulConfig& config);

/// The rows of a storage's barrier table.
template <class Storage, class C>
std::vector<BarrierArray> barriers_of(const C& config) {
  std::vector<BarrierArray> arrays;
  for_each_barrier_array(config, storage_at<Storage>(config), [&](const BarrierArray& a) { arrays.push_back(a); });
  return arrays;
}

}  // namespace sm100::host
