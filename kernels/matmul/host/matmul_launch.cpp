// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul/host/matmul_launch.h"

#include <algorithm>

#include "kernels/matmul/named_barriers.h"

namespace sm100::host {

LaunchShape matmul_launch(const MatmulConfig& config, Dim3 tiles, uint32_t smem_bytes, int sms_in_run,
                          int gpc_sms) {
  Dim3 grid = tiles;
  if (config.static_scheduler) {  // a cluster for every place on the device, at most one for each tile
    const uint32_t ctas = uint32_t(cluster_size(config)), clusters = grid.x * grid.y * grid.z / ctas;
    // Clusters lie inside GPCs.  All that are launched must fit at once: splits wait for each other.
    const uint32_t gpc = std::max(1u, uint32_t(gpc_sms)), sms = uint32_t(sms_in_run);
    const uint32_t places = sms / gpc * (gpc / ctas) + sms % gpc / ctas;
    const uint32_t launched = std::min(clusters, std::max(1u, places));
    grid = {launched * uint32_t(config.cluster_m), uint32_t(config.cluster_n), 1};
  }
  return {.grid = grid,
          .cluster = {uint32_t(config.cluster_m), uint32_t(config.cluster_n), 1},
          .warps = kMatmulWarps,
          .smem_bytes = smem_bytes,
          .pdl = config.pdl};
}

std::vector<NamedBarrier> matmul_named_barriers(const MatmulConfig& config) {
  std::vector<NamedBarrier> all;
  for_each_named_barrier(config, [&](const NamedBarrier& b) { all.push_back(b); });
  return all;
}

}  // namespace sm100::host
