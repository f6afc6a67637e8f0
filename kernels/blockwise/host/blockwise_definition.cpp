// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/blockwise/host/blockwise_rules.h"
#include "kernels/blockwise/host/blockwise_run.h"
#include "kernels/blockwise/host/choose_blockwise.h"
#include "kernels/matmul/host/read_matmul_config.h"

namespace sm100::host {
namespace {

const TomlTable::Words<DataType> kOperands = {{"e4m3", DataType::e4m3}, {"e5m2", DataType::e5m2}};
const TomlTable::Words<DataType> kScales = {{"f32", DataType::f32}, {"bf16", DataType::bf16}};
const TomlTable::Words<DataType> kOutputs = {{"bf16", DataType::bf16}, {"f32", DataType::f32}};

/// The operands are the problem's: "auto" chooses a configuration for them.
void read_problem(const TomlTable& root, BlockwiseProblem& s) {
  const TomlTable table = root.table("problem", {"m", "n", "k", "dtype", "scale_dtype"});
  s.m = read_unjudged(table, "m"), s.n = read_unjudged(table, "n"), s.k = read_unjudged(table, "k");
  if (table.has("dtype")) s.config.dtype = table.choice("dtype", kOperands);
  if (table.has("scale_dtype")) s.config.scale_dtype = table.choice("scale_dtype", kScales);
}

void read_config(const TomlDocument& document, const TomlTable& root, BlockwiseProblem& s, Refusals& refused) {
  if (!root.has("config")) return;
  std::vector<std::string> keys = kTileAndScheduleKeys;
  keys.insert(keys.end(), {"output", "swizzle"});
  const TomlTable table = root.table("config", keys);
  if (table.has("output")) s.config.output = table.choice("output", kOutputs);
  if (table.has("swizzle")) s.config.swizzle = read_swizzle(document, table);
  read_tiles_and_schedule(document, table, s.config, refused);
}

/// An omitted stage count becomes what fits; then the rules apply.
void check_rules(const TomlDocument& document, BlockwiseProblem& s, Refusals& refused,
                 std::vector<std::string>& warnings) {
  const bool stages_open = !document.has("config.stages");
  if (stages_open) s.config.stages = 1;
  const auto broken = check_blockwise(s.config, s.m, s.n, s.k);
  if (!broken.empty()) return refuse(document, broken, refused);
  if (stages_open) s.config.stages = default_stages(s.config);
  for (const ConfigWarning& w : config_warnings(s.config))
    warnings.push_back(document.message(w.key, w.text, w.value));
}

/// config = "auto", for the SMs that take part in the run.
void choose(const TomlDocument& document, int sms, BlockwiseProblem& s, Refusals& refused) {
  const BlockwiseChoice choice = choose_blockwise({.m = s.m, .n = s.n, .k = s.k, .sms = sms}, s.config);
  refuse(document, choice.broken, refused);
  s.config = choice.blockwise;
  s.auto_config = true;
}

std::any read(const TomlDocument& document, const TomlTable& root, Scenario& scenario) {
  BlockwiseProblem s;
  Refusals refused;
  read_problem(root, s);
  if (root.is_word("config", "auto")) {
    choose(document, scenario.sms_in_run(), s, refused);
  } else if (root.has("config") && !root.is_table("config")) {
    throw document.error("config", "allowed are \"auto\" and a table, [config]");
  } else {
    read_config(document, root, s, refused);
    check_rules(document, s, refused, scenario.warnings);
  }
  if (!refused.empty()) throw InputError(refused);
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
    "bar_arrive",
    "bar_warp_sync",
    "barrier_cluster_arrive",
    "barrier_cluster_wait",
    "fence_proxy_async_shared_cta",
    "ld_shared_u32",
    "ld_shared_b128",
    "ld_shared_b16",
    "ld_shared_b32",
    "ld_global",
    "cp_async_bulk_tensor_shared_global",
    "cp_async_bulk_tensor_shared_global_multicast",
    "cp_async_bulk_tensor_global_shared",
    "cp_async_bulk_commit_group",
    "cp_async_bulk_wait_group_read",
    "tcgen05_alloc",
    "tcgen05_dealloc",
    "tcgen05_relinquish_alloc_permit",
    "tcgen05_mma",
    "tcgen05_commit",
    "tcgen05_commit_multicast",
    "tcgen05_ld_16x256b",
    "tcgen05_wait_ld",
    "tcgen05_fence_before_thread_sync",
    "tcgen05_fence_after_thread_sync",
    "clusterlaunchcontrol_try_cancel",
    "clusterlaunchcontrol_try_cancel_multicast",
};

}  // namespace

const KernelDefinition& blockwise_definition() {
  static const KernelDefinition definition = {.name = "blockwise",
                                              .description =
                                                  "FP8 GEMM with f32 or bf16 scales for blocks of 128: the "
                                                  "matmul's roles, sums of k tiles in registers (SM100)",
                                              .fault_instructions = kCalls,
                                              .read = read,
                                              .run = run_of<BlockwiseRun>};
  return definition;
}

std::string BlockwiseRun::configuration_json() const {
  const BlockwiseProblem& s = problem_;
  const BlockwiseConfig& config = config_;
  const nlohmann::ordered_json json = {
      {"kernel", blockwise_definition().name},
      {"m", s.m},
      {"n", s.n},
      {"k", s.k},
      {"dtype", word_of(kOperands, config.dtype)},
      {"scale_dtype", word_of(kScales, config.scale_dtype)},
      {"output", word_of(kOutputs, config.output)},
      {"mma", {config.mma_m, config.mma_n, config.mma_k}},
      {"swizzle", swizzle_span_bytes(config.swizzle)},
      {"cta_group", config.cta_group},
      {"cluster", {config.cluster_m, config.cluster_n, 1}},
      {"stages", config.stages},
      {"accum_stages", config.accum_stages},
      {"clc_stages", config.clc_stages},
      {"raster_order", word_of(kRasterOrders, config.raster_order)},
      {"block_swizzle", config.block_swizzle},
      {"mma_prefetch", config.mma_prefetch},
      {"scheduler", config.static_scheduler ? "static" : "clc"},
  };
  return json.dump();
}

}  // namespace sm100::host
