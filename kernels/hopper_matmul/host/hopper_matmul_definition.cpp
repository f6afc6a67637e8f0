// SPDX-License-Identifier: Apache-2.0
/// hopper_matmul: how its [problem] and [config] are read.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/hopper_matmul/host/hopper_matmul_run.h"
#include "kernels/hopper_matmul/shared_storage.h"
#include "kernels/host/read_config.h"

namespace sm100::host {
namespace {

const TomlTable::Words<DataType> kOperands = {
    {"bf16", DataType::bf16}, {"f16", DataType::f16}, {"e4m3", DataType::e4m3}, {"e5m2", DataType::e5m2}};
const TomlTable::Words<DataType> kOutputs = {
    {"bf16", DataType::bf16}, {"f16", DataType::f16}, {"f32", DataType::f32}};
const TomlTable::Words<HopperSchedule> kSchedules = {{"cooperative", HopperSchedule::cooperative},
                                                     {"pingpong", HopperSchedule::pingpong}};
constexpr int kLargestExtent = 1 << 24;  // keeps tile counts and element coordinates within int

int fitting_stages(HopperMatmulConfig c) {
  c.stages = kSmemBudgetBytes / int(hopper_a_tile(c).bytes() + hopper_b_tile(c).bytes());
  while (c.stages > 0 && storage_bytes<HopperStorage>(c) > uint32_t(kSmemBudgetBytes)) --c.stages;
  return c.stages;
}

void check_tile(const TomlDocument& document, const HopperMatmulConfig& c) {
  if (c.block_n != 32 && c.block_n != 64 && c.block_n != 128 && c.block_n != 256)
    throw document.error("config.block_n", "allowed are 32, 64, 128, 256 (N of wgmma.mma_async)",
                         std::to_string(c.block_n));
  if (c.cluster != 1 && c.cluster != 2 && c.cluster != 4)
    throw document.error("config.cluster", "allowed are 1, 2, 4 (CTAs that share the columns of a tile)",
                         std::to_string(c.cluster));
}

void check_stages(const TomlDocument& document, HopperMatmulConfig& c) {
  const int most = fitting_stages(c);
  if (!document.has("config.stages")) c.stages = most;
  // One group of wgmma stays in flight: with a single stage its operands would never be waited for.
  constexpr int kLeast = 2;
  if (c.stages < kLeast || c.stages > most)
    throw document.error("config.stages",
                         fmt::format("allowed are {} to {} ({} bytes each; the wgmma of a stage run while the next "
                                     "one is waited for)",
                                     kLeast, most, hopper_a_tile(c).bytes() + hopper_b_tile(c).bytes()),
                         std::to_string(c.stages));
}

void check_rows(const TomlDocument& document, const char* key, int value, DataType type, const char* of) {
  const int step = 128 / element_bits(type);
  if (value < step || value > kLargestExtent || value % step != 0)
    throw document.error(
        key,
        fmt::format("allowed are multiples of {} from {} to {} (a row of {} in {} must be a multiple "
                    "of 16 bytes)",
                    step, step, kLargestExtent / step * step, of, name(type)),
        std::to_string(value));
}

std::any read(const TomlDocument& document, const TomlTable& root, Scenario& scenario) {
  if (!scenario.device.has_wgmma)
    throw document.error("profile", "hopper_matmul needs a device with wgmma (sm_90a): allowed is \"h200\"");
  if (scenario.registers == 0) scenario.registers = kHopperLaunchRegisters;
  HopperMatmulProblem s;
  read_extents(root, s);
  HopperMatmulConfig& c = s.config;
  if (root.has("config")) {
    const TomlTable table =
        root.table("config", {"dtype", "output", "schedule", "block_n", "cluster", "stages", "raster_order"});
    if (table.has("dtype")) c.dtype = table.choice("dtype", kOperands);
    if (table.has("output")) c.output = table.choice("output", kOutputs);
    if (table.has("schedule")) c.schedule = table.choice("schedule", kSchedules);
    if (table.has("block_n")) c.block_n = read_unjudged(table, "block_n");
    if (table.has("cluster")) c.cluster = read_unjudged(table, "cluster");
    if (table.has("stages")) c.stages = read_unjudged(table, "stages");
    if (table.has("raster_order")) c.raster_order = table.choice("raster_order", kRasterOrders);
  }
  c.mma_n = c.block_n;
  check_tile(document, c);
  check_stages(document, c);
  if (s.m < 1 || s.m > kLargestExtent)
    throw document.error("problem.m", fmt::format("allowed are 1 to {} (rows)", kLargestExtent),
                         std::to_string(s.m));
  check_rows(document, "problem.n", s.n, c.output, "C");
  check_rows(document, "problem.k", s.k, c.dtype, "A and B");
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
    "cp_async_bulk_tensor_shared_global",
    "cp_async_bulk_tensor_shared_global_multicast",
    "cp_async_bulk_tensor_global_shared",
    "cp_async_bulk_commit_group",
    "cp_async_bulk_wait_group_read",
    "wgmma_fence",
    "wgmma_mma_async",
    "wgmma_commit_group",
    "wgmma_wait_group",
};

}  // namespace

const KernelDefinition& hopper_matmul_definition() {
  static const KernelDefinition definition = {.name = "hopper_matmul",
                                              .description =
                                                  "dense GEMM, C = A * B^T: TMA producer, two wgmma consumer "
                                                  "warpgroups, ping-pong or cooperative, clusters "
                                                  "with multicast (SM90)",
                                              .tensor_core = false,  // of SM100; read() asks for wgmma
                                              .fault_instructions = kCalls,
                                              .read = read,
                                              .run = run_of<HopperMatmulRun>};
  return definition;
}

std::string HopperMatmulRun::configuration_json() const {
  const HopperMatmulProblem& s = problem_;
  const HopperMatmulConfig& c = config_;
  const nlohmann::ordered_json json = {
      {"kernel", hopper_matmul_definition().name},
      {"m", s.m},
      {"n", s.n},
      {"k", s.k},
      {"dtype", name(c.dtype)},
      {"output", name(c.output)},
      {"schedule", word_of(kSchedules, c.schedule)},
      {"block_m", hopper_block_m(c)},
      {"block_n", c.block_n},
      {"block_k", hopper_block_k(c)},
      {"cluster", c.cluster},
      {"stages", c.stages},
      {"raster_order", word_of(kRasterOrders, c.raster_order)},
  };
  return json.dump();
}

}  // namespace sm100::host
