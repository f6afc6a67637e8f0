// SPDX-License-Identifier: Apache-2.0
/// The fallback kernel: how its [problem] and [config] are read.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/fallback/host/fallback_run.h"
#include "kernels/host/read_config.h"

namespace sm100::host {
namespace {

const TomlTable::Words<DataType> kFallbackOutputs = {{"bf16", DataType::bf16}, {"f32", DataType::f32}};

constexpr int kLargestExtent = 1 << 30;  // keeps grid arithmetic within int
constexpr int kLargestGridY = 65535;     // CUDA launch limit

void check_block(const TomlDocument& document, const FallbackConfig& c) {
  if (c.block_m != 64 && c.block_m != 128)
    throw document.error("config.block_m", "allowed are 64, 128 (M of tcgen05.mma)", std::to_string(c.block_m));
  const int step = c.block_m == 64 ? 8 : 16;
  if (c.block_n < step || c.block_n > 256 || c.block_n % step != 0)
    throw document.error("config.block_n",
                         fmt::format("allowed are multiples of {} from {} to 256 (N of tcgen05.mma with M = {})",
                                     step, step, c.block_m),
                         std::to_string(c.block_n));
}

void check_problem(const TomlDocument& document, const FallbackProblem& s) {
  const int64_t most_m = std::min<int64_t>(int64_t(kLargestGridY) * s.config.block_m, kLargestExtent);
  if (s.m < 1 || s.m > most_m)
    throw document.error("problem.m", fmt::format("allowed are 1 to {} (the grid has at most {} rows of {})",
                                                  most_m, kLargestGridY, s.config.block_m));
  if (s.n < 1 || s.n > kLargestExtent)
    throw document.error("problem.n", fmt::format("allowed are 1 to {} (columns of C)", kLargestExtent));
  if (s.k < 8 || s.k > kLargestExtent || s.k % 8 != 0)
    throw document.error("problem.k",
                         fmt::format("allowed are multiples of 8 from 8 to {} (a row of A and B in bf16 must be a "
                                     "multiple of 16 bytes)",
                                     kLargestExtent));
}

std::any read(const TomlDocument& document, const TomlTable& root, Scenario&) {
  FallbackProblem s;
  read_extents(root, s);
  FallbackConfig& c = s.config;
  if (root.has("config")) {
    const TomlTable table = root.table("config", {"output", "block_m", "block_n"});
    if (table.has("output")) c.output = table.choice("output", kFallbackOutputs);
    if (table.has("block_m")) c.block_m = read_unjudged(table, "block_m");
    if (table.has("block_n")) c.block_n = read_unjudged(table, "block_n");
  }
  check_block(document, c);
  check_problem(document, s);
  return s;
}

/// Isa functions of this kernel that a [[fault]] may name.
constexpr std::string_view kCalls[] = {
    "mbarrier_init",
    "mbarrier_arrive_expect_tx",
    "mbarrier_try_wait_parity",
    "fence_mbarrier_init",
    "bar_sync",
    "bar_warp_sync",
    "ld_shared_u32",
    "cp_async_bulk_tensor_shared_global",
    "tcgen05_alloc",
    "tcgen05_dealloc",
    "tcgen05_relinquish_alloc_permit",
    "tcgen05_mma",
    "tcgen05_commit",
    "tcgen05_ld_16x256b",
    "tcgen05_wait_ld",
    "tcgen05_fence_before_thread_sync",
    "tcgen05_fence_after_thread_sync",
};

}  // namespace

const KernelDefinition& fallback_definition() {
  static const KernelDefinition definition = {
      .name = "fallback",
      .description =
          "dense GEMM, C = A * B^T: one tile per CTA, four warps without roles, guarded stores, any N (SM100)",
      .fault_instructions = kCalls,
      .read = read,
      .run = run_of<FallbackRun>};
  return definition;
}

std::string FallbackRun::configuration_json() const {
  const FallbackProblem& s = problem_;
  const FallbackConfig& c = config_;
  const nlohmann::ordered_json json = {
      {"kernel", fallback_definition().name},
      {"m", s.m},
      {"n", s.n},
      {"k", s.k},
      {"output", word_of(kFallbackOutputs, c.output)},
      {"block_m", c.block_m},
      {"block_n", c.block_n},
  };
  return json.dump();
}

}  // namespace sm100::host
