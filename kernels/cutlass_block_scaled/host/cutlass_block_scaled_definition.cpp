// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/block_scaled/host/operand_words.h"
#include "kernels/cutlass_block_scaled/host/cutlass_block_scaled_rules.h"
#include "kernels/cutlass_block_scaled/host/cutlass_block_scaled_run.h"
#include "kernels/matmul/host/read_matmul_config.h"

namespace sm100::host {
namespace {

const TomlTable::Words<ScaleType> kScaleTypes = {{"ue8m0", ScaleType::ue8m0}, {"ue4m3", ScaleType::ue4m3}};
const TomlTable::Words<ScalePadding> kPaddings = {{"zero", ScalePadding::zero}, {"nan", ScalePadding::nan}};
const TomlTable::Words<DataType> kOutputs = {{"bf16", DataType::bf16}, {"f32", DataType::f32}};
const TomlTable::Words<StripOrder> kStripOrders = {{"shared_first", StripOrder::shared_first},
                                                   {"forward", StripOrder::forward}};

void read_problem(const TomlTable& root, CutlassBlockScaledProblem& s) {
  const TomlTable table = root.table("problem", {"m", "n", "k", "dtype", "scale_type", "scale_padding"});
  s.m = read_unjudged(table, "m"), s.n = read_unjudged(table, "n"), s.k = read_unjudged(table, "k");
  std::vector<std::string_view> words;
  for (const OperandWord& o : kOperandWords) words.push_back(o.word);
  const std::string dtype = table.word("dtype", words);
  for (const OperandWord& o : kOperandWords)
    if (o.word == dtype) s.config = CutlassBlockScaledConfig(config_of_operands(o));
  if (table.has("scale_type")) s.config.scale_type = table.choice("scale_type", kScaleTypes);
  if (table.has("scale_padding")) s.scale_padding = table.choice("scale_padding", kPaddings);
}

void read_config(const TomlDocument& document, const TomlTable& root, CutlassBlockScaledProblem& s,
                 Refusals& refused) {
  CutlassBlockScaledConfig& c = s.config;
  if (root.has("config")) {
    std::vector<std::string> keys = kTileAndScheduleKeys;
    keys.insert(keys.end(),
                {"output", "alpha", "beta", "overlap", "scale_slots", "residual_stages", "strip_order"});
    const TomlTable table = root.table("config", keys);
    if (table.has("output")) c.output = table.choice("output", kOutputs);
    read_tiles_and_schedule(document, table, c, refused);
    if (table.has("alpha")) s.alpha = float(table.number("alpha", -1e6, 1e6));
    if (table.has("beta")) s.beta = float(table.number("beta", -1e6, 1e6));
    c.scaled = s.alpha != 1, c.residual = s.beta != 0;
    if (table.has("overlap")) c.overlap_columns = read_unjudged(table, "overlap");
    if (table.has("residual_stages")) c.residual_stages = read_unjudged(table, "residual_stages");
    if (table.has("strip_order")) c.strip_order = table.choice("strip_order", kStripOrders);
    if (table.has("scale_slots")) c.scale_slots = read_unjudged(table, "scale_slots");
  }
  const bool stages_open = !document.has("config.accum_stages"), overlap_open = !document.has("config.overlap");
  const AccumulatorChoice accumulators = default_accumulators(c);
  if (overlap_open && (stages_open || c.accum_stages == 1)) c.overlap_columns = accumulators.overlap_columns;
  if (stages_open) c.accum_stages = c.overlap_columns > 0 ? 1 : accumulators.stages;
}

/// Omitted counts become what fits; then the rules apply.
void check_rules(const TomlDocument& document, CutlassBlockScaledProblem& s, Refusals& refused,
                 std::vector<std::string>& warnings) {
  CutlassBlockScaledConfig& c = s.config;
  const bool stages_open = !document.has("config.stages"), slots_open = !document.has("config.scale_slots");
  if (stages_open) c.stages = 1;
  if (slots_open) c.scale_slots = 1;
  const int given_slots = c.scale_slots;
  if (stages_open) c.scale_slots = 1;  // what it may be follows from stages
  auto broken = check_cutlass(c, s.m, s.n, s.k);
  if (!broken.empty()) return refuse(document, broken, refused);
  if (stages_open) c.stages = default_cutlass_stages(c);
  c.scale_slots = slots_open ? default_scale_slots(c) : given_slots;
  broken = check_cutlass(c, s.m, s.n, s.k);
  if (!broken.empty()) return refuse(document, broken, refused);
  for (const ConfigWarning& w : cutlass_warnings(c)) warnings.push_back(document.message(w.key, w.text, w.value));
}

std::any read(const TomlDocument& document, const TomlTable& root, Scenario& scenario) {
  CutlassBlockScaledProblem s;
  Refusals refused;
  read_problem(root, s);
  if (root.is_word("config", "auto")) {
    const CutlassChoice choice =
        choose_cutlass({.m = s.m, .n = s.n, .k = s.k, .sms = scenario.sms_in_run()}, s.config);
    refuse(document, choice.broken, refused);
    s.config = choice.cutlass;
    s.auto_config = true;
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
    "ld_shared_b32",
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
    "tcgen05_wait_ld",
    "tcgen05_fence_before_thread_sync",
    "tcgen05_fence_after_thread_sync",
    "clusterlaunchcontrol_try_cancel",
    "clusterlaunchcontrol_try_cancel_multicast",
};

}  // namespace

const KernelDefinition& cutlass_block_scaled_definition() {
  static const KernelDefinition definition = {
      .name = "cutlass_block_scaled",
      .description =
          "block-scaled GEMM with CUTLASS's roles: overlapping accumulators, beta * residual by TMA (SM100)",
      .fault_instructions = kCalls,
      .read = read,
      .run = run_of<CutlassBlockScaledRun>};
  return definition;
}

std::string CutlassBlockScaledRun::configuration_json() const {
  const CutlassBlockScaledProblem& s = problem_;
  const CutlassBlockScaledConfig& config = config_;
  const nlohmann::ordered_json json = {
      {"kernel", cutlass_block_scaled_definition().name},
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
      {"overlap", config.overlap_columns},
      {"strip_order", word_of(kStripOrders, config.strip_order)},
      {"scale_slots", config.scale_slots},
      {"residual_stages", config.residual_stages},
      {"clc_stages", config.clc_stages},
      {"raster_order", word_of(kRasterOrders, config.raster_order)},
      {"block_swizzle", config.block_swizzle},
      {"mma_prefetch", config.mma_prefetch},
      {"scheduler", config.static_scheduler ? "static" : "clc"},
      {"alpha", s.alpha},
      {"beta", s.beta},
      {"pdl", config.pdl},
  };
  return json.dump();
}

}  // namespace sm100::host
