// SPDX-License-Identifier: Apache-2.0
/// pipeline_copy as a kernel: how its [problem] and [config] are read.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/copy/host/copy_run.h"
#include "kernels/copy/shared_storage.h"
#include "kernels/host/read_config.h"

namespace sm100::host {
namespace {

constexpr int kLargestExtent = 1 << 24;  // keeps tile counts and element coordinates within int

void check_tile(const TomlDocument& document, const CopyConfig& c) {
  if (c.tile_m != 64 && c.tile_m != 128)
    throw document.error("config.tile_m", "allowed are 64, 128 (rows of a work tile)", std::to_string(c.tile_m));
  const int step = c.k_group_size * copy_block_k(c);
  if (!document.has("config.tile_n") && c.tile_n % step != 0)
    throw document.error("config.k_group_size",
                         fmt::format("must divide the {} k tiles of {} columns that tile_n = {} has",
                                     c.tile_n / copy_block_k(c), copy_block_k(c), c.tile_n),
                         std::to_string(c.k_group_size));
  if (c.tile_n < step || c.tile_n % step != 0 || c.tile_n > kLargestExtent)
    throw document.error("config.tile_n",
                         fmt::format("allowed are multiples of {} ({} k tile{} of {} columns)", step,
                                     c.k_group_size, c.k_group_size == 1 ? "" : "s", copy_block_k(c)),
                         std::to_string(c.tile_n));
}

void check_cluster(const TomlDocument& document, const CopyConfig& c) {
  if (!c.multicast) return;
  if (c.cluster < 2) throw document.error("config.multicast", "needs a cluster of 2, 4 or 8 CTAs", "true");
}

int fitting_copy_stages(CopyConfig c) {
  c.stages = kSmemBudgetBytes / int(copy_slot_bytes(c)) / c.k_group_size * c.k_group_size;
  while (c.stages > 0 && storage_bytes<CopyStorage>(c) > uint32_t(kSmemBudgetBytes)) c.stages -= c.k_group_size;
  return c.stages;
}

void check_stages(const TomlDocument& document, CopyConfig& c) {
  const int most = fitting_copy_stages(c);
  if (!document.has("config.stages")) c.stages = most;
  if (c.stages < 1 || c.stages > most || c.stages % c.k_group_size != 0)
    throw document.error(
        "config.stages",
        fmt::format("allowed are {} to {}{} (slots of {} bytes; two more hold the output)", c.k_group_size, most,
                    c.k_group_size > 1 ? fmt::format(" in steps of {}", c.k_group_size) : "", copy_slot_bytes(c)),
        std::to_string(c.stages));
}

void check_problem(const TomlDocument& document, const CopyProblem& s) {
  if (s.m < 1 || s.m > kLargestExtent)
    throw document.error("problem.m", fmt::format("allowed are 1 to {} (rows)", kLargestExtent));
  if (s.n < 8 || s.n > kLargestExtent || s.n % 8 != 0)
    throw document.error("problem.n",
                         fmt::format("allowed are multiples of 8 from 8 to {} (a row of bf16 must be a "
                                     "multiple of 16 bytes)",
                                     kLargestExtent));
}

std::any read(const TomlDocument& document, const TomlTable& root, Scenario&) {
  CopyProblem s;
  const TomlTable problem = root.table("problem", {"m", "n"});
  s.m = read_unjudged(problem, "m");
  s.n = read_unjudged(problem, "n");
  CopyConfig& c = s.config;
  if (root.has("config")) {
    const TomlTable table = root.table("config", {"tile_m", "tile_n", "cluster", "multicast", "stages",
                                                  "k_group_size", "swizzle", "raster_order", "pdl"});
    if (table.has("swizzle")) c.swizzle = read_swizzle(document, table);
    if (table.has("k_group_size")) c.k_group_size = read_int(table, "k_group_size", 1, 8);
    if (table.has("tile_m")) c.tile_m = read_unjudged(table, "tile_m");
    if (table.has("tile_n")) c.tile_n = read_unjudged(table, "tile_n");
    if (table.has("cluster")) {
      c.cluster = read_int(table, "cluster", 1, 8);
      if (c.cluster & (c.cluster - 1))
        throw document.error("config.cluster", "allowed are 1, 2, 4, 8 (CTAs of a cluster)");
    }
    if (table.has("multicast")) c.multicast = table.boolean("multicast");
    if (table.has("stages")) c.stages = read_unjudged(table, "stages");
    if (table.has("raster_order")) c.raster_order = table.choice("raster_order", kRasterOrders);
    if (table.has("pdl")) c.pdl = table.boolean("pdl");
  }
  check_tile(document, c);
  check_cluster(document, c);
  check_stages(document, c);
  check_problem(document, s);
  return s;
}

/// Isa functions of this kernel that a [[fault]] may name.
constexpr std::string_view kCalls[] = {
    "mbarrier_init",
    "mbarrier_arrive",
    "mbarrier_arrive_expect_tx",
    "mbarrier_try_wait_parity",
    "fence_mbarrier_init",
    "mapa",
    "bar_sync",
    "bar_warp_sync",
    "barrier_cluster_arrive",
    "barrier_cluster_wait",
    "fence_proxy_async_shared_cta",
    "griddepcontrol_wait",
    "griddepcontrol_launch_dependents",
    "cp_async_bulk_tensor_shared_global",
    "cp_async_bulk_tensor_shared_global_multicast",
    "cp_async_bulk_tensor_global_shared",
    "cp_async_bulk_commit_group",
    "cp_async_bulk_wait_group_read",
};

}  // namespace

const KernelDefinition& pipeline_copy_definition() {
  static const KernelDefinition definition = {
      .name = "pipeline_copy",
      .description =
          "copies a matrix: load warp, TMA ring, four consumer warps, TMA store, clusters with multicast "
          "(SM90 and SM100)",
      .tensor_core = false,
      .arithmetic = false,
      .fault_instructions = kCalls,
      .read = read,
      .run = run_of<CopyRun>};
  return definition;
}

std::string CopyRun::configuration_json() const {
  const CopyProblem& s = problem_;
  const CopyConfig& c = config_;
  const nlohmann::ordered_json json = {
      {"kernel", pipeline_copy_definition().name},
      {"m", s.m},
      {"n", s.n},
      {"tile_m", c.tile_m},
      {"tile_n", c.tile_n},
      {"cluster", c.cluster},
      {"multicast", c.multicast},
      {"stages", c.stages},
      {"k_group_size", c.k_group_size},
      {"swizzle", swizzle_span_bytes(c.swizzle)},
      {"raster_order", word_of(kRasterOrders, c.raster_order)},
      {"pdl", c.pdl},
  };
  return json.dump();
}

}  // namespace sm100::host
