// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/block_scaled/host/block_scaled_rules.h"
#include "kernels/block_scaled/host/block_scaled_run.h"
#include "kernels/block_scaled/host/choose_block_scaled.h"
#include "kernels/block_scaled/host/operand_words.h"
#include "kernels/matmul/host/read_matmul_config.h"

namespace sm100::host {
namespace {

const TomlTable::Words<ScaleType> kScaleTypes = {{"ue8m0", ScaleType::ue8m0}, {"ue4m3", ScaleType::ue4m3}};
const TomlTable::Words<ScalePadding> kPaddings = {{"zero", ScalePadding::zero}, {"nan", ScalePadding::nan}};
const TomlTable::Words<DataType> kOutputs = {
    {"bf16", DataType::bf16}, {"f32", DataType::f32}, {"e2m1", DataType::e2m1}, {"e4m3", DataType::e4m3}};
const TomlTable::Words<ScaleDirection> kDirections = {{"rows", ScaleDirection::rows},
                                                      {"columns", ScaleDirection::columns}};

enum class OutputMistake : uint8_t { none, unrounded_reciprocal, amax_of_accumulators };
const TomlTable::Words<OutputMistake> kMistakes = {{"none", OutputMistake::none},
                                                   {"unrounded_reciprocal", OutputMistake::unrounded_reciprocal},
                                                   {"amax_of_accumulators", OutputMistake::amax_of_accumulators}};

/// The operands are the problem's: "auto" chooses a configuration for them.
void read_problem(const TomlTable& root, BlockScaledProblem& s) {
  const TomlTable table = root.table("problem", {"m", "n", "k", "dtype", "scale_type", "scale_padding"});
  s.m = read_unjudged(table, "m"), s.n = read_unjudged(table, "n"), s.k = read_unjudged(table, "k");
  std::vector<std::string_view> words;
  for (const OperandWord& o : kOperandWords) words.push_back(o.word);
  const std::string dtype = table.word("dtype", words);
  BlockScaledConfig& c = s.config;
  for (const OperandWord& o : kOperandWords)
    if (o.word == dtype) c = config_of_operands(o);
  if (table.has("scale_type")) c.scale_type = table.choice("scale_type", kScaleTypes);
  if (table.has("scale_padding")) s.scale_padding = table.choice("scale_padding", kPaddings);
}

OutputMistake mistake_of(const OutputScaling& how) {
  return !how.reciprocal_of_rounded ? OutputMistake::unrounded_reciprocal
         : !how.amax_of_results     ? OutputMistake::amax_of_accumulators
                                    : OutputMistake::none;
}

const std::vector<std::string> kQuantisedKeys = {"output_block", "output_scale_type", "output_scales", "norm",
                                                 "output_mistake"};

/// Outputs of 4 and 8 bits have scales, as the operands of the next product need them; others have none.
void read_scaled_output(const TomlDocument& document, const TomlTable& table, BlockScaledProblem& s) {
  BlockScaledConfig& c = s.config;
  if (c.output != DataType::e2m1 && c.output != DataType::e4m3) {
    for (const std::string& key : kQuantisedKeys)
      if (table.has(key))
        throw document.error("config." + key, fmt::format("only outputs in \"e2m1\" and \"e4m3\" have scales, "
                                                          "not \"{}\"",
                                                          word_of(kOutputs, c.output)));
    return;
  }
  OutputScaling& how = c.scaled_output;
  how.type = c.output == DataType::e2m1 ? ScaleType::ue4m3 : ScaleType::ue8m0;
  if (table.has("output_scale_type")) how.type = table.choice("output_scale_type", kScaleTypes);
  how.block = how.type == ScaleType::ue4m3 ? 16 : 32;
  if (table.has("output_block")) how.block = read_unjudged(table, "output_block");
  if (table.has("output_scales")) how.direction = table.choice("output_scales", kDirections);
  if (table.has("norm")) s.norm = float(table.number("norm", 1e-6, 1e6));
  if (!table.has("output_mistake")) return;
  const OutputMistake mistake = table.choice("output_mistake", kMistakes);
  how.reciprocal_of_rounded = mistake != OutputMistake::unrounded_reciprocal;
  how.amax_of_results = mistake != OutputMistake::amax_of_accumulators;
}

void read_config(const TomlDocument& document, const TomlTable& root, BlockScaledProblem& s, Refusals& refused) {
  BlockScaledConfig& c = s.config;
  if (root.has("config")) {
    std::vector<std::string> keys = kTileAndScheduleKeys;
    keys.insert(keys.end(), {"output", "alpha"});
    keys.insert(keys.end(), kQuantisedKeys.begin(), kQuantisedKeys.end());
    const TomlTable table = root.table("config", keys);
    if (table.has("output")) c.output = table.choice("output", kOutputs);
    read_scaled_output(document, table, s);
    read_tiles_and_schedule(document, table, c, refused);
    if (table.has("alpha")) s.alpha = float(table.number("alpha", -1e6, 1e6));
    c.scaled = s.alpha != 1;
  }
  if (!document.has("config.accum_stages")) c.accum_stages = default_accum_stages(c);
}

/// An omitted stage count becomes what fits; then the rules apply.
void check_rules(const TomlDocument& document, BlockScaledProblem& s, Refusals& refused,
                 std::vector<std::string>& warnings) {
  const bool stages_open = !document.has("config.stages");
  if (stages_open) s.config.stages = 1;
  const auto broken = check_block_scaled(s.config, s.m, s.n, s.k);
  if (!broken.empty()) return refuse(document, broken, refused);
  if (stages_open) s.config.stages = default_stages(s.config);
  for (const ConfigWarning& w : config_warnings(s.config))
    warnings.push_back(document.message(w.key, w.text, w.value));
}

/// config = "auto", for the SMs that take part in the run.
void choose(const TomlDocument& document, int sms, BlockScaledProblem& s, Refusals& refused) {
  const BlockScaledChoice choice = choose_block_scaled({.m = s.m, .n = s.n, .k = s.k, .sms = sms}, s.config);
  refuse(document, choice.broken, refused);
  s.config = choice.scaled;
  s.auto_config = true;
}

std::any read(const TomlDocument& document, const TomlTable& root, Scenario& scenario) {
  BlockScaledProblem s;
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
    "shfl_sync_bfly_b32",
    "st_global",
    "griddepcontrol_wait",
    "griddepcontrol_launch_dependents",
    "ld_shared_u32",
    "ld_shared_b128",
    "cp_async_bulk_tensor_shared_global",
    "cp_async_bulk_tensor_shared_global_multicast",
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
    "tcgen05_ld_32x32b",
    "tcgen05_wait_ld",
    "tcgen05_st_32x32b",
    "tcgen05_wait_st",
    "tcgen05_fence_before_thread_sync",
    "tcgen05_fence_after_thread_sync",
    "clusterlaunchcontrol_try_cancel",
    "clusterlaunchcontrol_try_cancel_multicast",
};

}  // namespace

const KernelDefinition& block_scaled_definition() {
  static const KernelDefinition definition = {
      .name = "block_scaled",
      .description =
          "block-scaled GEMM (MXFP8, MXFP4, NVFP4): the matmul's roles, scales through tcgen05.cp (SM100)",
      .fault_instructions = kCalls,
      .read = read,
      .run = run_of<BlockScaledRun>};
  return definition;
}

std::string BlockScaledRun::configuration_json() const {
  const BlockScaledProblem& s = problem_;
  const BlockScaledConfig& config = config_;
  nlohmann::ordered_json json = {
      {"kernel", block_scaled_definition().name},
      {"m", s.m},
      {"n", s.n},
      {"k", s.k},
      {"dtype", word_of_operands(config)},
      {"scale_type", sm100::name(config.scale_type)},
      {"output", word_of(kOutputs, config.output)},
      {"mma", {config.mma_m, config.mma_n, config.mma_k}},
      {"cta_group", config.cta_group},
      {"cluster", {config.cluster_m, config.cluster_n, 1}},
      {"stages", config.stages},
      {"accum_stages", config.accum_stages},
      {"clc_stages", config.clc_stages},
      {"raster_order", word_of(kRasterOrders, config.raster_order)},
      {"block_swizzle", config.block_swizzle},
      {"mma_prefetch", config.mma_prefetch},
      {"scheduler", config.static_scheduler ? "static" : "clc"},
      {"ab_swapped", config.ab_swapped},
      {"alpha", s.alpha},
      {"pdl", config.pdl},
  };
  if (quantises(config))
    json.update({{"output_block", config.scaled_output.block},
                 {"output_scale_type", sm100::name(config.scaled_output.type)},
                 {"output_scales", word_of(kDirections, config.scaled_output.direction)},
                 {"norm", s.norm},
                 {"output_mistake", word_of(kMistakes, mistake_of(config.scaled_output))}});
  return json.dump();
}

}  // namespace sm100::host
