// SPDX-License-Identifier: Apache-2.0
/// The dense matmul as a kernel: how its [problem] and [config] are read.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/host/read_config.h"
#include "kernels/matmul/host/choose_config.h"
#include "kernels/matmul/host/config_rules.h"
#include "kernels/matmul/host/matmul_run.h"
#include "kernels/matmul/host/read_matmul_config.h"

namespace sm100::host {
namespace {

const TomlTable::Words<DataType> kMatmulOutputs = {{"bf16", DataType::bf16},
                                                   {"f16", DataType::f16},
                                                   {"f32", DataType::f32},
                                                   {"e4m3", DataType::e4m3},
                                                   {"e5m2", DataType::e5m2}};
const TomlTable::Words<Activation> kActivations = {
    {"none", Activation::none}, {"relu", Activation::relu}, {"silu", Activation::silu}};
const TomlTable::Words<DataType> kOperandTypes = {{"bf16", DataType::bf16},
                                                  {"f16", DataType::f16},
                                                  {"tf32", DataType::tf32},
                                                  {"e4m3", DataType::e4m3},
                                                  {"e5m2", DataType::e5m2}};

DataType read_operand_type(const TomlDocument& document, const TomlTable& table) {
  const std::string word = table.string("dtype");
  for (const char* later : {"e2m3", "e3m2", "e2m1"})
    if (word == later) throw document.not_implemented("config.dtype", fmt::format("dtype {}", word));
  for (const char* scaled : {"mxfp8", "mxfp8_e4m3", "mxfp8_e5m2", "mxfp4", "nvfp4"})
    if (word == scaled)
      throw document.not_implemented(
          "config.dtype", fmt::format("dtype {} in the dense matmul; kernel = \"block_scaled\" has it", word));
  return table.choice("dtype", kOperandTypes);
}

const std::vector<std::string> kConfigKeys = {
    "dtype",        "output",     "mma",          "cta_group",   "cluster",          "stages",
    "accum_stages", "clc_stages", "k_group_size", "swizzle",     "raster_order",     "block_swizzle",
    "mma_prefetch", "pdl",        "ab_swapped",   "num_split_k", "scheduler",        "alpha",
    "beta",         "bias",       "residual",     "activation",  "register_epilogue"};

MatmulConfig read_config(const TomlDocument& document, const TomlTable& root, Refusals& refused) {
  MatmulConfig config;
  if (!root.has("config")) return config;
  const TomlTable table = root.table("config", kConfigKeys);
  if (table.has("dtype")) config.dtype = read_operand_type(document, table);
  if (table.has("output")) config.output = table.choice("output", kMatmulOutputs);
  read_tiles_and_schedule(document, table, config, refused);
  if (table.has("k_group_size")) config.k_group_size = read_unjudged(table, "k_group_size");
  if (table.has("num_split_k")) config.num_split_k = read_unjudged(table, "num_split_k");
  if (table.has("swizzle")) config.swizzle = read_swizzle(document, table);
  return config;
}

/// config = "auto", for the SMs that take part in the run.
void choose(const TomlDocument& document, int sms, MatmulProblem& s, Refusals& refused) {
  const ConfigChoice choice = choose_config({.m = s.m, .n = s.n, .k = s.k, .sms = sms});
  refuse(document, choice.broken, refused);
  s.config = choice.config;
  s.auto_config = true;
}

/// The epilogue's terms: which there are is configuration, their factors are parameters.
void read_functor(const TomlDocument& document, const TomlTable& root, MatmulProblem& s, Refusals& refused) {
  if (!root.is_table("config")) return;
  const TomlTable table = root.table("config", kConfigKeys);
  MatmulConfig& c = s.config;
  if (table.has("alpha")) s.alpha = float(table.number("alpha", -1e6, 1e6));
  c.scaled = s.alpha != 1;
  if (table.has("bias")) c.bias = table.boolean("bias");
  if (table.has("residual")) c.residual = table.boolean("residual");
  if (table.has("beta")) {
    if (!c.residual) refused.push_back(document.message("config.beta", "allowed with residual = true only"));
    s.beta = float(table.number("beta", -1e6, 1e6));
  }
  if (table.has("activation")) c.activation = table.choice("activation", kActivations);
  if (table.has("register_epilogue")) c.register_epilogue = table.boolean("register_epilogue");
}

/// An omitted stage count becomes what fits; then the rules apply.
void check_rules(const TomlDocument& document, MatmulProblem& s, Refusals& refused,
                 std::vector<std::string>& warnings) {
  const bool stages_open = !document.has("config.stages");
  if (stages_open) s.config.stages = s.config.k_group_size;
  const auto broken = check_config(s.config, s.m, s.n, s.k);
  if (!broken.empty()) return refuse(document, broken, refused);
  // The original's formula budgets generously and knows no alignment; the layout decides what fits at most.
  if (stages_open) s.config.stages = std::min(max_stages(s.config), fitting_stages(s.config));
  for (const ConfigWarning& w : config_warnings(s.config))
    warnings.push_back(document.message(w.key, w.text, w.value));
}

std::any read(const TomlDocument& document, const TomlTable& root, Scenario& scenario) {
  MatmulProblem s;
  read_extents(root, s);
  Refusals refused;
  if (root.is_word("config", "auto")) {
    choose(document, scenario.sms_in_run(), s, refused);
  } else if (root.has("config") && !root.is_table("config")) {
    throw document.error("config", "allowed are \"auto\" and a table, [config]");
  } else {
    s.config = read_config(document, root, refused);
    read_functor(document, root, s, refused);
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
    "ld_acquire_gpu_global_u32",
    "st_release_gpu_global_u32",
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
    "tcgen05_st_16x256b",
    "tcgen05_wait_st",
    "tcgen05_fence_before_thread_sync",
    "tcgen05_fence_after_thread_sync",
    "clusterlaunchcontrol_try_cancel",
    "clusterlaunchcontrol_try_cancel_multicast",
};

}  // namespace

const KernelDefinition& matmul_definition() {
  static const KernelDefinition definition = {
      .name = "matmul",
      .description =
          "dense GEMM, C = A * B^T: scheduler, load, MMA and four epilogue warps, CLC, TMA store (SM100)",
      .fault_instructions = kCalls,
      .read = read,
      .run = run_of<MatmulRun>};
  return definition;
}

std::string MatmulRun::configuration_json() const {
  const MatmulProblem& s = problem_;
  const MatmulConfig& config = config_;
  const nlohmann::ordered_json json = {
      {"kernel", matmul_definition().name},
      {"m", s.m},
      {"n", s.n},
      {"k", s.k},
      {"dtype", sm100::name(config.dtype)},
      {"output", word_of(kMatmulOutputs, config.output)},
      {"mma", {config.mma_m, config.mma_n, config.mma_k}},
      {"cta_group", config.cta_group},
      {"cluster", {config.cluster_m, config.cluster_n, 1}},
      {"stages", config.stages},
      {"k_group_size", config.k_group_size},
      {"accum_stages", config.accum_stages},
      {"clc_stages", config.clc_stages},
      {"num_split_k", config.num_split_k},
      {"swizzle", swizzle_span_bytes(config.swizzle)},
      {"raster_order", word_of(kRasterOrders, config.raster_order)},
      {"block_swizzle", config.block_swizzle},
      {"mma_prefetch", config.mma_prefetch},
      {"scheduler", config.static_scheduler ? "static" : "clc"},
      {"ab_swapped", config.ab_swapped},
      {"alpha", s.alpha},
      {"beta", s.beta},
      {"bias", config.bias},
      {"residual", config.residual},
      {"activation", word_of(kActivations, config.activation)},
      {"register_epilogue", config.register_epilogue},
      {"pdl", config.pdl},
  };
  return json.dump();
}

}  // namespace sm100::host
