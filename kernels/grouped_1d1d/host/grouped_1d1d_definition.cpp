// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "kernels/block_scaled/host/block_scaled_rules.h"
#include "kernels/block_scaled/host/operand_words.h"
#include "kernels/grouped_1d1d/host/choose_grouped_1d1d.h"
#include "kernels/grouped_1d1d/host/grouped_1d1d_rules.h"
#include "kernels/grouped_1d1d/host/grouped_1d1d_run.h"
#include "kernels/matmul/host/read_matmul_config.h"

namespace sm100::host {
namespace {

constexpr int kDefaultWorkStages = 2;

const TomlTable::Words<ScaleType> kScaleTypes = {{"ue8m0", ScaleType::ue8m0}, {"ue4m3", ScaleType::ue4m3}};
const TomlTable::Words<ScalePadding> kPaddings = {{"zero", ScalePadding::zero}, {"nan", ScalePadding::nan}};
const TomlTable::Words<DataType> kOutputs = {{"bf16", DataType::bf16}, {"f32", DataType::f32}};
const TomlTable::Words<TokenLayout> kLayouts = {{"prefix_sum", TokenLayout::prefix_sum},
                                                {"contiguous", TokenLayout::contiguous},
                                                {"masked", TokenLayout::masked}};

std::vector<int> read_list(const TomlTable& table, std::string_view key) {
  std::vector<int> values;
  for (int64_t value : table.integer_list(key, INT64_MIN, INT64_MAX)) values.push_back(clamp_to_int(value));
  return values;
}

void read_operands(const TomlTable& table, Grouped1d1dConfig& c) {
  std::vector<std::string_view> words;
  for (const OperandWord& o : kOperandWords) words.push_back(o.word);
  const std::string dtype = table.word("dtype", words);
  for (const OperandWord& o : kOperandWords)
    if (o.word == dtype) static_cast<BlockScaledConfig&>(c) = config_of_operands(o);
  c.clc_stages = 0;
  if (table.has("scale_type")) c.scale_type = table.choice("scale_type", kScaleTypes);
}

/// Keys that mean something in one layout only.
void refuse_keys_of_other_layouts(const TomlDocument& document, const TomlTable& table, TokenLayout layout,
                                  Refusals& refused) {
  const auto only = [&](std::string_view key, bool here, const char* text) {
    if (table.has(key) && !here) refused.push_back(document.message(table.path(key), text));
  };
  only("experts", layout != TokenLayout::masked,
       "not with layout = \"masked\": the slots are those of the experts 0, 1, 2 ... in their order");
  only("num_experts", layout != TokenLayout::masked,
       "not with layout = \"masked\": there are as many experts as problem.tokens has counts");
  only("slot_rows", layout == TokenLayout::masked, "for layout = \"masked\" only: rows of each expert's slot");
  only("alignment", layout == TokenLayout::contiguous,
       "for layout = \"contiguous\" only: groups begin at multiples of so many rows");
}

/// What tokens and layout leave open.
void complete_groups(const TomlTable& table, Grouped1d1dProblem& s) {
  s.experts.resize(s.tokens.size());
  std::iota(s.experts.begin(), s.experts.end(), 0);
  s.num_experts = int(s.tokens.size());
  if (s.config.layout == TokenLayout::masked) {
    const int most = *std::max_element(s.tokens.begin(), s.tokens.end());
    s.slot_rows = most > 0 && most <= 1 << 30 ? align_up(most, kScaleAtomRows) : kScaleAtomRows;
    if (table.has("slot_rows")) s.slot_rows = read_unjudged(table, "slot_rows");
    return;
  }
  if (table.has("experts")) {
    s.experts = read_list(table, "experts");
    s.num_experts = std::max(0, *std::max_element(s.experts.begin(), s.experts.end())) + 1;
  }
  if (table.has("num_experts")) s.num_experts = read_unjudged(table, "num_experts");
  if (table.has("alignment")) s.alignment = read_unjudged(table, "alignment");
}

void read_problem(const TomlDocument& document, const TomlTable& root, Grouped1d1dProblem& s, Refusals& refused) {
  const TomlTable table =
      root.table("problem", {"tokens", "experts", "num_experts", "n", "k", "dtype", "scale_type", "scale_padding",
                             "layout", "slot_rows", "alignment", "expert_scales"});
  read_operands(table, s.config);
  s.tokens = read_list(table, "tokens");
  s.n = read_unjudged(table, "n"), s.k = read_unjudged(table, "k");
  if (table.has("layout")) s.config.layout = table.choice("layout", kLayouts);
  refuse_keys_of_other_layouts(document, table, s.config.layout, refused);
  complete_groups(table, s);
  if (table.has("scale_padding")) s.scale_padding = table.choice("scale_padding", kPaddings);
  s.config.scaled = table.has("expert_scales") && table.boolean("expert_scales");
}

/// [config], but for the counts of stages, which follow from it where they are left out.
void read_config(const TomlDocument& document, const TomlTable& root, Grouped1d1dProblem& s, Refusals& refused) {
  Grouped1d1dConfig& c = s.config;
  if (root.has("config")) {
    const TomlTable table = root.table(
        "config", {"mma", "cta_group", "cluster", "stages", "accum_stages", "raster_order", "block_swizzle",
                   "mma_prefetch", "pdl", "ab_swapped", "output", "scheduling", "work_stages", "store"});
    if (table.has("output")) c.output = table.choice("output", kOutputs);
    read_tiles_and_schedule(document, table, c, refused);
    if (table.has("cta_group") && !table.has("cluster")) c.cluster_m = c.cta_group;
    if (table.has("store")) c.whole_tiles = table.word("store", {"guarded", "whole"}) == "whole";
    const bool ring = table.has("scheduling") && table.word("scheduling", {"replay", "ring"}) == "ring";
    if (ring) c.work_stages = kDefaultWorkStages;
    if (table.has("work_stages")) {
      c.work_stages = read_unjudged(table, "work_stages");
      if (!ring)
        refused.push_back(
            document.message("config.work_stages", "for scheduling = \"ring\" only: slots of the ring"));
      else if (c.work_stages == 0)
        refused.push_back(
            document.message("config.work_stages", "allowed are 1 to 64 (slots of the scheduler warp's ring)"));
    }
  }
  if (c.mma_n >= 8 && c.mma_n < 64 && c.mma_n % 8 == 0)
    throw document.not_implemented(
        "config.mma",
        fmt::format("N = {}: below 64 warps of their own must bring the scales of B to tensor memory; "
                    "allowed are N = 64, 128, 192 and 256",
                    c.mma_n));
  if (!document.has("config.accum_stages")) c.accum_stages = default_accum_stages(c);
}

/// An omitted stage count becomes what fits; then the rules apply.
void check_rules(const TomlDocument& document, Grouped1d1dProblem& s, Refusals& refused,
                 std::vector<std::string>& warnings) {
  const bool stages_open = !document.has("config.stages");
  if (stages_open) s.config.stages = 1;
  const auto broken = check_grouped_1d1d(s);
  if (!broken.empty()) return refuse(document, broken, refused);
  if (stages_open) s.config.stages = default_grouped_stages(s.config);
  for (const ConfigWarning& w : grouped_1d1d_warnings(s))
    warnings.push_back(document.message(w.key, w.text, w.value));
}

/// config = "auto", for the SMs that take part in the run.
void choose(const TomlDocument& document, int sms, Grouped1d1dProblem& s, Refusals& refused) {
  const Grouped1d1dChoice choice = choose_grouped_1d1d(s, sms);
  refuse(document, choice.broken, refused);
  s.config = choice.grouped;
  s.auto_config = true;
}

std::any read(const TomlDocument& document, const TomlTable& root, Scenario& scenario) {
  Grouped1d1dProblem s;
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
    "st_shared_b128",
    "ld_global_u32",
    "cp_async_bulk_tensor_shared_global",
    "cp_async_bulk_tensor_global_shared",
    "cp_async_bulk_commit_group",
    "cp_async_bulk_wait_group_read",
    "tcgen05_alloc",
    "tcgen05_dealloc",
    "tcgen05_relinquish_alloc_permit",
    "tcgen05_cp",
    "tcgen05_mma_block_scale",
    "tcgen05_commit",
    "tcgen05_commit_multicast",
    "tcgen05_ld_16x256b",
    "tcgen05_wait_ld",
    "tcgen05_fence_before_thread_sync",
    "tcgen05_fence_after_thread_sync",
};

}  // namespace

const KernelDefinition& grouped_1d1d_definition() {
  static const KernelDefinition definition = {
      .name = "grouped_1d1d",
      .description = "MoE: rows of tokens times their experts' weights, block-scaled (MXFP8, MXFP4, NVFP4; SM100)",
      .fault_instructions = kCalls,
      .read = read,
      .run = run_of<Grouped1d1dRun>};
  return definition;
}

std::string Grouped1d1dRun::configuration_json() const {
  const Grouped1d1dProblem& s = problem_;
  const Grouped1d1dConfig& config = config_;
  nlohmann::ordered_json json = {
      {"kernel", grouped_1d1d_definition().name},
      {"tokens", s.tokens},
      {"experts", s.experts},
      {"num_experts", s.num_experts},
      {"n", s.n},
      {"k", s.k},
      {"layout", sm100::name(config.layout)},
      {"expert_scales", config.scaled},
      {"dtype", word_of_operands(config)},
      {"scale_type", sm100::name(config.scale_type)},
      {"output", word_of(kOutputs, config.output)},
      {"mma", {config.mma_m, config.mma_n, config.mma_k}},
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
      {"ab_swapped", config.ab_swapped},
      {"pdl", config.pdl},
  };
  if (config.layout == TokenLayout::masked) json["slot_rows"] = s.slot_rows;
  if (config.layout == TokenLayout::contiguous) json["alignment"] = s.alignment;
  return json.dump();
}

}  // namespace sm100::host
