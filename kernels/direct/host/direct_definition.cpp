// SPDX-License-Identifier: Apache-2.0
/// The direct kernel: how its [problem] and [config] are read.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/direct/host/direct_run.h"
#include "kernels/direct/shared_storage.h"
#include "kernels/host/read_config.h"

namespace sm100::host {
namespace {

const TomlTable::Words<DirectRoles> kRoles = {{"one_thread", DirectRoles::one_thread},
                                              {"specialised", DirectRoles::specialised},
                                              {"persistent", DirectRoles::persistent}};

constexpr int kLargestExtent = 1 << 30;
constexpr int kMostTiles = 1 << 30;  // a tile's number and the next one of its CTA are int
constexpr int kLargestBox = 256;     // of a tensor map, in each dimension

void check_whole_tiles(const TomlDocument& document, const char* key, int value, int tile, const char* why) {
  if (value < tile || value > kLargestExtent || value % tile != 0)
    throw document.error(key,
                         fmt::format("allowed are multiples of {} from {} to {} ({})", tile, tile,
                                     kLargestExtent / tile * tile, why),
                         std::to_string(value));
}

void check_config(const TomlDocument& document, const DirectConfig& c) {
  if (c.cta_group == 2 && c.roles == DirectRoles::one_thread)
    throw document.error(
        "config.roles",
        "with cta_group 2 allowed are \"specialised\" and \"persistent\" (each CTA of a pair loads)");
  const int step = 16 * c.cta_group;
  if (c.block_n < step || c.block_n > 256 || c.block_n % step != 0)
    throw document.error("config.block_n",
                         fmt::format("allowed are multiples of {} from {} to 256 (N of tcgen05.mma with M = {})",
                                     step, step, direct_mma_m(c)),
                         std::to_string(c.block_n));
  if (c.accum_stages > 1 && !is_persistent(c))
    throw document.error("config.accum_stages",
                         "allowed is 1: only with roles = \"persistent\" has a CTA a next tile",
                         std::to_string(c.accum_stages));
  // An MMA's 32 bytes of K, or a whole slab.
  const int slab = direct_a_tile(c).slab_columns();
  const int k_step = std::max(slab, kDirectMmaK), most = kLargestBox * slab;
  if (c.block_k < k_step || c.block_k > most || c.block_k % k_step != 0)
    throw document.error("config.block_k",
                         fmt::format("allowed are multiples of {} from {} to {}", k_step, k_step, most),
                         std::to_string(c.block_k));
  const int fit = int((kSmemBudgetBytes - 1024) / direct_stage_bytes(c));
  if (c.stages < 1 || c.stages > fit)
    throw document.error("config.stages",
                         fit < 1 ? fmt::format("a stage of {} bytes does not fit a CTA's {} bytes of shared memory",
                                               direct_stage_bytes(c), kSmemBudgetBytes)
                                 : fmt::format("allowed are 1 to {} ({} bytes each; a CTA has {})", fit,
                                               direct_stage_bytes(c), kSmemBudgetBytes),
                         std::to_string(c.stages));
}

void read_config(const TomlDocument& document, const TomlTable& table, DirectConfig& c) {
  if (table.has("block_n")) c.block_n = read_unjudged(table, "block_n");
  if (table.has("block_k")) c.block_k = read_unjudged(table, "block_k");
  if (table.has("stages")) c.stages = read_unjudged(table, "stages");
  if (table.has("cta_group")) c.cta_group = read_int(table, "cta_group", 1, 2);
  if (table.has("roles")) c.roles = table.choice("roles", kRoles);
  if (table.has("tma_rank")) c.tma_rank = read_int(table, "tma_rank", 2, 3);
  if (is_persistent(c)) c.accum_stages = 2;
  if (table.has("accum_stages")) c.accum_stages = read_int(table, "accum_stages", 1, 2);
  if (table.has("store_bytes")) {
    const int64_t bytes = table.integer("store_bytes", INT64_MIN, INT64_MAX);
    if (bytes != 16 && bytes != 32) throw document.error("config.store_bytes", "allowed are 16 and 32");
    c.store_bytes = int(bytes);
  }
  if (!table.has("swizzle")) return;
  const int64_t swizzle = table.integer("swizzle", INT64_MIN, INT64_MAX);
  if (swizzle != 0 && swizzle != 128)
    throw document.error("config.swizzle", "allowed are 128 and 0 (none: core matrices of 8 rows x 16 bytes)");
  c.swizzle = swizzle == 0 ? Swizzle::none : Swizzle::b128;
}

int read_ctas(const TomlDocument& document, const TomlTable& table, const DirectConfig& c) {
  const int ctas = read_unjudged(table, "ctas");
  if (!is_persistent(c))
    throw document.error("config.ctas", "only with roles = \"persistent\": else the grid has a CTA for each tile",
                         std::to_string(ctas));
  if (ctas < c.cta_group || ctas > kLargestExtent || ctas % c.cta_group != 0)
    throw document.error("config.ctas",
                         fmt::format("allowed are multiples of {} (cta_group) from {} to {}", c.cta_group,
                                     c.cta_group, kLargestExtent),
                         std::to_string(ctas));
  return ctas;
}

std::any read(const TomlDocument& document, const TomlTable& root, Scenario&) {
  DirectProblem s;
  read_extents(root, s);
  DirectConfig& c = s.config;
  if (root.has("config")) {
    const TomlTable table = root.table("config", {"block_n", "block_k", "stages", "cta_group", "roles", "swizzle",
                                                  "tma_rank", "accum_stages", "store_bytes", "ctas"});
    read_config(document, table, c);
    if (table.has("ctas")) s.ctas = read_ctas(document, table, c);
  }
  check_config(document, c);
  check_whole_tiles(document, "problem.m", s.m, direct_mma_m(c), "whole tiles: nothing is guarded");
  check_whole_tiles(document, "problem.n", s.n, c.block_n, "whole tiles of config.block_n");
  check_whole_tiles(document, "problem.k", s.k, c.block_k, "whole stages of config.block_k");
  const int64_t tiles = int64_t{s.m / kDirectBlockM} * (s.n / c.block_n);
  if (tiles > kMostTiles)
    throw document.error(
        "problem.n",
        fmt::format("{} tiles of {} x {}; allowed are {} at most", tiles, kDirectBlockM, c.block_n, kMostTiles),
        std::to_string(s.n));
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
    "barrier_cluster_arrive",
    "barrier_cluster_wait",
    "ld_shared_u32",
    "cp_async_bulk_tensor_shared_global",
    "tcgen05_alloc",
    "tcgen05_dealloc",
    "tcgen05_mma",
    "tcgen05_commit",
    "tcgen05_commit_multicast",
    "tcgen05_ld_32x32b",
    "tcgen05_wait_ld",
    "tcgen05_fence_before_thread_sync",
    "tcgen05_fence_after_thread_sync",
};

}  // namespace

const KernelDefinition& direct_definition() {
  static const KernelDefinition definition = {.name = "direct",
                                              .description =
                                                  "dense GEMM, C = A * B^T: a thread per role or one for all, a "
                                                  "tile per CTA or pair or persistent ones, no TMA "
                                                  "store (SM100)",
                                              .fault_instructions = kCalls,
                                              .read = read,
                                              .run = run_of<DirectRun>};
  return definition;
}

std::string DirectRun::configuration_json() const {
  const DirectProblem& s = problem_;
  const DirectConfig& c = config_;
  nlohmann::ordered_json json = {
      {"kernel", direct_definition().name},
      {"m", s.m},
      {"n", s.n},
      {"k", s.k},
      {"block_m", kDirectBlockM},
      {"block_n", c.block_n},
      {"block_k", c.block_k},
      {"stages", c.stages},
      {"cta_group", c.cta_group},
      {"roles", word_of(kRoles, c.roles)},
      {"swizzle", c.swizzle == Swizzle::none ? 0 : 128},
      {"tma_rank", c.tma_rank},
  };
  if (is_persistent(c)) json["accum_stages"] = c.accum_stages, json["ctas"] = launch().grid.x;
  if (c.store_bytes != 16) json["store_bytes"] = c.store_bytes;
  return json.dump();
}

}  // namespace sm100::host
