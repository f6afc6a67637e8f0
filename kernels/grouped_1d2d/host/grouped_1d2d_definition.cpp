// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/grouped_1d1d/host/token_rules.h"
#include "kernels/grouped_1d2d/host/choose_grouped_1d2d.h"
#include "kernels/grouped_1d2d/host/grouped_1d2d_rules.h"
#include "kernels/grouped_1d2d/host/grouped_1d2d_run.h"
#include "kernels/matmul/host/read_matmul_config.h"

namespace sm100::host {
namespace {

const TomlTable::Words<DataType> kOperands = {{"e4m3", DataType::e4m3}, {"e5m2", DataType::e5m2}};
const TomlTable::Words<DataType> kScales = {{"f32", DataType::f32}, {"bf16", DataType::bf16}};
const TomlTable::Words<DataType> kOutputs = {{"bf16", DataType::bf16}, {"f32", DataType::f32}};

void read_problem(const TomlDocument& document, const TomlTable& root, Grouped1d2dProblem& s, Refusals& refused) {
  std::vector<std::string> keys = kTokenKeys;
  keys.insert(keys.end(), {"dtype", "scale_dtype", "expert_scales"});
  const TomlTable table = root.table("problem", keys);
  read_tokens(document, table, 1, s, s.config.layout, refused);
  if (table.has("dtype")) s.config.dtype = table.choice("dtype", kOperands);
  if (table.has("scale_dtype")) s.config.scale_dtype = table.choice("scale_dtype", kScales);
  s.config.scaled = table.has("expert_scales") && table.boolean("expert_scales");
}

void read_config(const TomlDocument& document, const TomlTable& root, Grouped1d2dProblem& s, Refusals& refused) {
  if (!root.has("config")) return;
  Grouped1d2dConfig& c = s.config;
  std::vector<std::string> keys = {"mma",          "cta_group",    "cluster",       "stages",
                                   "accum_stages", "raster_order", "block_swizzle", "mma_prefetch",
                                   "pdl",          "ab_swapped",   "output",        "swizzle"};
  keys.insert(keys.end(), kTokenScheduleKeys.begin(), kTokenScheduleKeys.end());
  const TomlTable table = root.table("config", keys);
  if (table.has("output")) c.output = table.choice("output", kOutputs);
  if (table.has("swizzle")) c.swizzle = read_swizzle(document, table);
  read_tiles_and_schedule(document, table, c, refused);
  if (table.has("cta_group") && !table.has("cluster")) c.cluster_m = c.cta_group;
  read_token_schedule(document, table, c, refused);
}

/// An omitted stage count becomes what fits; then the rules apply.
void check_rules(const TomlDocument& document, Grouped1d2dProblem& s, Refusals& refused,
                 std::vector<std::string>& warnings) {
  const bool stages_open = !document.has("config.stages");
  if (stages_open) s.config.stages = 1;
  const auto broken = check_grouped_1d2d(s);
  if (!broken.empty()) return refuse(document, broken, refused);
  if (stages_open) s.config.stages = default_token_stages(s.config);
  for (const ConfigWarning& w : token_warnings(s, s.config))
    warnings.push_back(document.message(w.key, w.text, w.value));
}

/// config = "auto", for the SMs that take part in the run.
void choose(const TomlDocument& document, int sms, Grouped1d2dProblem& s, Refusals& refused) {
  const Grouped1d2dChoice choice = choose_grouped_1d2d(s, sms);
  refuse(document, choice.broken, refused);
  s.config = choice.grouped;
  s.auto_config = true;
}

std::any read(const TomlDocument& document, const TomlTable& root, Scenario& scenario) {
  Grouped1d2dProblem s;
  Refusals refused;
  read_problem(document, root, s, refused);
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
    "griddepcontrol_wait",
    "griddepcontrol_launch_dependents",
    "ld_shared_u32",
    "ld_shared_b128",
    "ld_shared_b16",
    "ld_shared_b32",
    "st_shared_b128",
    "ld_global",
    "ld_global_u32",
    "cp_async_bulk_tensor_shared_global",
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
};

}  // namespace

const KernelDefinition& grouped_1d2d_definition() {
  static const KernelDefinition definition = {
      .name = "grouped_1d2d",
      .description = "MoE: rows of FP8 tokens times their experts' weights, scales of rows and of blocks (SM100)",
      .fault_instructions = kCalls,
      .read = read,
      .run = run_of<Grouped1d2dRun>};
  return definition;
}

std::string Grouped1d2dRun::configuration_json() const {
  const Grouped1d2dProblem& s = problem_;
  const Grouped1d2dConfig& config = config_;
  nlohmann::ordered_json json = {
      {"kernel", grouped_1d2d_definition().name},
      {"tokens", s.tokens},
      {"experts", s.experts},
      {"num_experts", s.num_experts},
      {"n", s.n},
      {"k", s.k},
      {"layout", sm100::name(config.layout)},
      {"expert_scales", config.scaled},
      {"dtype", word_of(kOperands, config.dtype)},
      {"scale_dtype", word_of(kScales, config.scale_dtype)},
      {"output", word_of(kOutputs, config.output)},
      {"mma", {config.mma_m, config.mma_n, config.mma_k}},
      {"swizzle", swizzle_span_bytes(config.swizzle)},
      {"cta_group", config.cta_group},
      {"cluster", {config.cluster_m, config.cluster_n, 1}},
      {"stages", config.stages},
      {"accum_stages", config.accum_stages},
      {"scheduling", config.work_stages > 0 ? "ring" : "replay"},
      {"work_stages", config.work_stages},
      {"store", config.whole_tiles ? "whole" : "guarded"},
      {"raster_order", word_of(kRasterOrders, config.raster_order)},
      {"block_swizzle", config.block_swizzle},
      {"mma_prefetch", config.mma_prefetch},
      {"pdl", config.pdl},
  };
  if (config.layout == TokenLayout::masked) json["slot_rows"] = s.slot_rows;
  if (config.layout == TokenLayout::contiguous) json["alignment"] = s.alignment;
  return json.dump();
}

}  // namespace sm100::host
