// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/block_scaled/host/block_scaled_rules.h"
#include "kernels/block_scaled/host/operand_words.h"
#include "kernels/grouped_block_scaled/host/grouped_block_scaled_rules.h"
#include "kernels/grouped_block_scaled/host/grouped_block_scaled_run.h"
#include "kernels/matmul/host/read_matmul_config.h"

namespace sm100::host {
namespace {

const TomlTable::Words<ScaleType> kScaleTypes = {{"ue8m0", ScaleType::ue8m0}, {"ue4m3", ScaleType::ue4m3}};
const TomlTable::Words<ScalePadding> kPaddings = {{"zero", ScalePadding::zero}, {"nan", ScalePadding::nan}};
const TomlTable::Words<DataType> kOutputs = {{"bf16", DataType::bf16}, {"f32", DataType::f32}};
const TomlTable::Words<MapEdits> kMapEdits = {{"shared", MapEdits::shared}, {"global", MapEdits::global}};
const TomlTable::Words<EmptyK> kEmptyK = {{"zeros", EmptyK::zeros}, {"accumulator", EmptyK::accumulator}};

void read_problem(const TomlTable& root, GroupedBlockScaledProblem& s) {
  const TomlTable table = root.table("problem", {"groups", "dtype", "scale_type", "scale_padding"});
  for (const auto& row : table.integer_rows("groups", 3, INT64_MIN, INT64_MAX))
    s.groups.push_back({clamp_to_int(row[0]), clamp_to_int(row[1]), clamp_to_int(row[2])});
  std::vector<std::string_view> words;
  for (const OperandWord& o : kOperandWords) words.push_back(o.word);
  const std::string dtype = table.word("dtype", words);
  for (const OperandWord& o : kOperandWords)
    if (o.word == dtype) s.config = GroupedBlockScaledConfig(config_of_operands(o));
  if (table.has("scale_type")) s.config.scale_type = table.choice("scale_type", kScaleTypes);
  if (table.has("scale_padding")) s.scale_padding = table.choice("scale_padding", kPaddings);
}

void read_config(const TomlDocument& document, const TomlTable& root, GroupedBlockScaledProblem& s,
                 Refusals& refused) {
  GroupedBlockScaledConfig& c = s.config;
  if (root.has("config")) {
    const TomlTable table = root.table("config", {"mma", "cta_group", "stages", "accum_stages", "mma_prefetch",
                                                  "output", "alpha", "map_edits", "map_slots", "empty_k"});
    if (table.has("output")) c.output = table.choice("output", kOutputs);
    read_tiles_and_schedule(document, table, c, refused);
    if (table.has("alpha")) s.alpha = float(table.number("alpha", -1e6, 1e6));
    c.scaled = s.alpha != 1;
    if (table.has("map_edits")) c.map_edits = table.choice("map_edits", kMapEdits);
    if (table.has("map_slots")) c.map_slots = read_unjudged(table, "map_slots");
    if (table.has("empty_k")) c.empty_k = table.choice("empty_k", kEmptyK);
  }
  c.cluster_m = c.cta_group == 2 ? 2 : 1;
  if (!document.has("config.accum_stages")) c.accum_stages = default_accum_stages(c);
}

/// Omitted counts become what fits; then the rules apply.
void check_rules(const TomlDocument& document, GroupedBlockScaledProblem& s, Refusals& refused,
                 std::vector<std::string>& warnings) {
  const bool stages_open = !document.has("config.stages"), slots_open = !document.has("config.map_slots");
  GroupedBlockScaledConfig& c = s.config;
  if (stages_open) c.stages = 1;
  if (slots_open) c.map_slots = enough_map_slots(c) > 1 ? 2 : 1;  // any; the count follows from that of stages
  const auto broken = check_grouped(c, s.groups);
  if (!broken.empty()) return refuse(document, broken, refused);
  if (stages_open) c.stages = default_grouped_stages(c);
  if (slots_open) c.map_slots = enough_map_slots(c);
  for (const ConfigWarning& w : grouped_warnings(c)) warnings.push_back(document.message(w.key, w.text, w.value));
}

std::any read(const TomlDocument& document, const TomlTable& root, Scenario& scenario) {
  GroupedBlockScaledProblem s;
  Refusals refused;
  read_problem(root, s);
  if (root.is_word("config", "auto")) {
    const GroupedChoice choice = choose_grouped(s.groups, s.config, scenario.sms_in_run());
    refuse(document, choice.broken, refused);
    s.config = choice.grouped;
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
    "ld_shared_u32",
    "ld_shared_b32",
    "ld_global_nc_v4",
    "ld_global_nc_b64",
    "cp_async_bulk_tensor_shared_global",
    "cp_async_bulk_tensor_shared_global_multicast",
    "cp_async_bulk_tensor_global_shared",
    "cp_async_bulk_commit_group",
    "cp_async_bulk_wait_group_read",
    "tensormap_replace_global_address",
    "tensormap_replace_global_dim",
    "tensormap_replace_global_stride",
    "tensormap_cp_fenceproxy",
    "fence_proxy_tensormap_release",
    "fence_proxy_tensormap_acquire",
    "tcgen05_alloc",
    "tcgen05_dealloc",
    "tcgen05_relinquish_alloc_permit",
    "tcgen05_cp",
    "tcgen05_mma_block_scale",
    "tcgen05_commit",
    "tcgen05_commit_multicast",
    "tcgen05_ld_16x256b",
    "tcgen05_wait_ld",
    "tcgen05_st_32x32b",
    "tcgen05_wait_st",
    "tcgen05_fence_before_thread_sync",
    "tcgen05_fence_after_thread_sync",
};

}  // namespace

const KernelDefinition& grouped_block_scaled_definition() {
  static const KernelDefinition definition = {
      .name = "grouped_block_scaled",
      .description =
          "many block-scaled GEMMs of different shapes in a launch, tensor maps edited on the device (SM100)",
      .fault_instructions = kCalls,
      .read = read,
      .run = run_of<GroupedBlockScaledRun>};
  return definition;
}

std::string GroupedBlockScaledRun::configuration_json() const {
  const GroupedBlockScaledProblem& s = problem_;
  const GroupedBlockScaledConfig& config = config_;
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  for (const GroupProblem& p : s.groups) groups.push_back({p.m, p.n, p.k});
  const nlohmann::ordered_json json = {
      {"kernel", grouped_block_scaled_definition().name},
      {"groups", groups},
      {"dtype", word_of_operands(config)},
      {"scale_type", sm100::name(config.scale_type)},
      {"output", word_of(kOutputs, config.output)},
      {"mma", {config.mma_m, config.mma_n, config.mma_k}},
      {"cta_group", config.cta_group},
      {"stages", config.stages},
      {"accum_stages", config.accum_stages},
      {"mma_prefetch", config.mma_prefetch},
      {"alpha", s.alpha},
      {"map_edits", word_of(kMapEdits, config.map_edits)},
      {"map_slots", config.map_slots},
      {"empty_k", word_of(kEmptyK, config.empty_k)},
  };
  return json.dump();
}

}  // namespace sm100::host
