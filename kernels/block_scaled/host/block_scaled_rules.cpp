// SPDX-License-Identifier: Apache-2.0
#include "kernels/block_scaled/host/block_scaled_rules.h"

#include <algorithm>

#include "kernels/block_scaled/block_scaled_kernel.h"
#include "kernels/matmul/host/config_rule_checks.h"

namespace sm100::host {
namespace {

using ScaledRules = Rules<BlockScaledConfig>;

/// Scales of rows beyond 128 of a CTA, or of 64 + 32 columns, would lie where no copy of whole atoms puts them.
void check_mma_shape(ScaledRules& rules) {
  const BlockScaledConfig& c = rules.config;
  ScaledRules::Sound& sound = rules.sound;
  sound.cta_group = rules.require(c.cta_group == 1 || c.cta_group == 2, "config.cta_group", c.cta_group, "1, 2",
                                  "CTAs of one MMA");
  if (sound.cta_group) {
    const int rows = kScaleAtomRows * c.cta_group;
    sound.mma_m =
        rules.require(c.mma_m == rows, "config.mma", mma_text(c), fmt::format("M = {}", rows),
                      fmt::format("cta_group {}: each CTA has the 128 rows of a scale atom", c.cta_group));
  }
  const int step = c.cta_group == 2 ? 16 : 8;
  const bool stored = c.mma_n >= step && c.mma_n < 64 && c.mma_n % step == 0;
  sound.mma_n = rules.require(
      stored || c.mma_n == 64 || c.mma_n == 128 || c.mma_n == 192 || c.mma_n == 256, "config.mma", mma_text(c),
      fmt::format("N = 64, 128, 192, 256, or {} to {} in steps of {}", step, 64 - step, step),
      "from 64 on scales are copied in whole atoms, below warps store them row by row");
  const int k = kMmaKBytes * 8 / operand_bits(c);
  rules.require(c.mma_k == k, "config.mma", mma_text(c), fmt::format("K = {}", k),
                fmt::format("one MMA takes 32 bytes of K, {} {} elements", k, operand_name(c)));
}

void check_scale_type(ScaledRules& rules) {
  const BlockScaledConfig& c = rules.config;
  if (c.format != BlockFormat::nvfp4)
    rules.require(c.scale_type == ScaleType::ue8m0, "problem.scale_type", name(c.scale_type), "\"ue8m0\"",
                  fmt::format("the scales of {} are powers of two", operand_name(c)));
}

/// A lane quantises 32 columns of a row, a warp 32 rows: whole blocks.
void check_scaled_output(ScaledRules& rules, int m, int n) {
  const BlockScaledConfig& c = rules.config;
  if (!quantises(c)) return;
  const int block = c.scaled_output.block;
  const bool rows = c.scaled_output.direction == ScaleDirection::rows;
  rules.require(
      !c.ab_swapped, "config.ab_swapped", "true", "false",
      fmt::format("tiles of {} are quantised as they lie in tensor memory, not transposed", name(c.output)));
  if (!rules.require(block == 16 || block == 32, "config.output_block", block, "16, 32",
                     "elements of C that share a scale"))
    return;
  if (rules.sound.mma_n)
    rules.require(c.mma_n % kScaledStripColumns == 0, "config.mma", mma_text(c),
                  fmt::format("N in steps of {}", kScaledStripColumns),
                  "a lane quantises so many columns at a time");
  const int extent = rows ? n : m;
  if (extent >= 1)
    rules.require(extent % block == 0, rows ? "problem.n" : "problem.m", extent,
                  fmt::format("multiples of {}", block),
                  fmt::format("{} neighbours in a {} of C share a scale", block, rows ? "row" : "column"));
}

/// Accumulators and the scales of every stage share the 512 columns.
void check_tensor_memory(ScaledRules& rules) {
  const ScaledRules::Sound& sound = rules.sound;
  const BlockScaledConfig& c = rules.config;
  if (!sound.mma_m || !sound.mma_n || !sound.accum_stages || c.stages < 1) return;
  const int scales = sfa_tile(c).columns() + sfb_slot(c).columns(), most = stages_in_tensor_memory(c);
  const std::string sum = fmt::format(
      "{} accumulator{} of {} columns and {} stage{} of {} + {} columns of scales are {}, tensor memory has {}",
      c.accum_stages, c.accum_stages == 1 ? "" : "s", c.mma_n, c.stages, c.stages == 1 ? "" : "s",
      sfa_tile(c).columns(), sfb_slot(c).columns(), c.accum_stages * c.mma_n + int64_t(c.stages) * scales,
      kTmemColumns);
  if (most == 0)
    rules.require(false, "config.accum_stages", c.accum_stages,
                  fmt::format("1 to {}", (int(kTmemColumns) - scales) / c.mma_n), sum);
  else
    rules.require(c.stages <= most, "config.stages", c.stages, fmt::format("1 to {}", most), sum);
}

}  // namespace

int stages_in_shared_memory(const BlockScaledConfig& config) {
  BlockScaledConfig c = config;
  c.stages = kSmemBudgetBytes / int(slot_bytes(c));
  while (c.stages > 0 && storage_bytes<BlockScaledStorage>(c) > uint32_t(kSmemBudgetBytes)) --c.stages;
  return c.stages;
}

int stages_in_tensor_memory(const BlockScaledConfig& c) {
  const int left = int(kTmemColumns) - c.accum_stages * c.mma_n;
  return std::max(0, left / (sfa_tile(c).columns() + sfb_slot(c).columns()));
}

int default_stages(const BlockScaledConfig& c) {
  return std::min({max_stages(c), stages_in_shared_memory(c), stages_in_tensor_memory(c)});
}

int default_accum_stages(const BlockScaledConfig& c) { return c.mma_n <= 128 ? 2 : 1; }

std::vector<RuleViolation> check_block_scaled(const BlockScaledConfig& config, int m, int n, int k) {
  ScaledRules rules{config, {}, {}};
  check_mma_shape(rules);
  check_scale_type(rules);
  check_block_swizzle(rules);
  rules.sound.swizzle = true;  // not a choice
  check_cluster(rules);
  check_ring_counts(rules);
  check_shared_memory(rules, stages_in_shared_memory);
  check_tensor_memory(rules);
  check_problem(rules, m, n, k, [](int) {});
  check_scaled_output(rules, m, n);
  return std::move(rules.broken);
}

}  // namespace sm100::host
