// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul/host/read_matmul_config.h"

#include <fmt/format.h>

namespace sm100::host {
namespace {

void read_cluster(const TomlDocument& document, const TomlTable& table, MatmulConfig& config, Refusals& refused) {
  const auto cluster = table.integers("cluster", 3, INT64_MIN, INT64_MAX);
  if (cluster[2] != 1)
    refused.push_back(document.message("config.cluster", "allowed are [x, y, 1] (clusters span M and N only)"));
  config.cluster_m = clamp_to_int(cluster[0]), config.cluster_n = clamp_to_int(cluster[1]);
}

}  // namespace

void read_tiles_and_schedule(const TomlDocument& document, const TomlTable& table, MatmulConfig& config,
                             Refusals& refused) {
  if (table.has("cta_group")) config.cta_group = read_unjudged(table, "cta_group");
  if (table.has("cluster")) read_cluster(document, table, config, refused);
  if (table.has("mma")) {
    const auto mma = table.integers("mma", 3, INT64_MIN, INT64_MAX);
    config.mma_m = clamp_to_int(mma[0]), config.mma_n = clamp_to_int(mma[1]), config.mma_k = clamp_to_int(mma[2]);
  }
  if (table.has("stages")) config.stages = read_unjudged(table, "stages");
  if (table.has("accum_stages")) config.accum_stages = read_unjudged(table, "accum_stages");
  if (table.has("clc_stages")) config.clc_stages = read_unjudged(table, "clc_stages");
  if (table.has("raster_order")) config.raster_order = table.choice("raster_order", kRasterOrders);
  if (table.has("block_swizzle")) config.block_swizzle = read_unjudged(table, "block_swizzle");
  if (table.has("mma_prefetch")) config.mma_prefetch = table.boolean("mma_prefetch");
  if (table.has("scheduler") &&
      (config.static_scheduler = table.word("scheduler", {"clc", "static"}) == "static") &&
      !table.has("clc_stages"))
    config.clc_stages = 0;
  if (table.has("ab_swapped")) config.ab_swapped = table.boolean("ab_swapped");
  if (table.has("pdl")) config.pdl = table.boolean("pdl");
}

void refuse(const TomlDocument& document, const std::vector<RuleViolation>& broken, Refusals& refused) {
  for (const RuleViolation& b : broken)
    refused.push_back(document.message(b.key, fmt::format("allowed are {} ({})", b.allowed, b.why), b.value));
}

}  // namespace sm100::host
