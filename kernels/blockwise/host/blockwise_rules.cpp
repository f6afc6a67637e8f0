// SPDX-License-Identifier: Apache-2.0
#include "kernels/blockwise/host/blockwise_rules.h"

#include <algorithm>
#include <vector>

#include "kernels/blockwise/blockwise_kernel.h"
#include "kernels/matmul/host/config_rule_checks.h"

namespace sm100::host {
namespace {

using BlockwiseRules = Rules<BlockwiseConfig>;

/// A tile of K is a block or half of one.
void check_k_tile(BlockwiseRules& rules) {
  const BlockwiseConfig& c = rules.config;
  rules.sound.swizzle =
      rules.require(c.swizzle == Swizzle::b64 || c.swizzle == Swizzle::b128, "config.swizzle",
                    int(swizzle_span_bytes(c.swizzle)), "128, 64",
                    fmt::format("a k tile, one swizzle span of bytes, is a block of {} or half of it",
                                BlockwiseConfig::scale_block));
}

bool epilogue_holds(const BlockwiseConfig& c) {
  return n_blocks_per_tile(c) <= 2 && sum_registers(c) <= kMostSumRegisters;
}

/// "N = 8 to 144 in steps of 8, 160": all that every rule allows beside the configuration's M.
std::string widths_text(const BlockwiseConfig& config) {
  BlockwiseConfig c = config;
  const int step = c.mma_m == 64 ? 8 : 16;
  std::vector<int> widths;
  for (c.mma_n = step; c.mma_n <= 256; c.mma_n += step)
    if (epilogue_holds(c)) widths.push_back(c.mma_n);
  size_t run = 1;  // of the first ones, a step apart
  while (run < widths.size() && widths[run] - widths[run - 1] == step) ++run;
  std::string text = fmt::format("N = {} to {} in steps of {}", widths[0], widths[run - 1], step);
  for (size_t i = run; i < widths.size(); ++i) text += fmt::format(", {}", widths[i]);
  return text;
}

/// What the epilogue holds in registers: scales of two blocks of columns, and the sums.
void check_epilogue(BlockwiseRules& rules) {
  const BlockwiseConfig& c = rules.config;
  if (!rules.sound.mma_m || !rules.sound.mma_n) return;
  rules.require(n_blocks_per_tile(c) <= 2, "config.mma", mma_text(c), widths_text(c),
                fmt::format("some tiles of {} columns lie in {} blocks of {}, the epilogue has scales of two",
                            c.mma_n, n_blocks_per_tile(c), BlockwiseConfig::scale_block));
  rules.require(sum_registers(c) <= kMostSumRegisters, "config.mma", mma_text(c), widths_text(c),
                fmt::format("a thread sums {} elements in registers, at most {} leave room for the rest",
                            sum_registers(c), kMostSumRegisters));
}

void check_what_is_missing(BlockwiseRules& rules) {
  const BlockwiseConfig& c = rules.config;
  rules.require(!c.pdl, "config.pdl", "true", "false",
                "no PDL: epilogue warps load the scales of B without griddepcontrol.wait");
  rules.require(!c.ab_swapped, "config.ab_swapped", "true", "false",
                "A has a scale for each row, B for each block of rows: they cannot change places");
}

}  // namespace

int stages_in_shared_memory(const BlockwiseConfig& config) {
  BlockwiseConfig c = config;
  c.stages = kSmemBudgetBytes / int(slot_bytes(c));
  while (c.stages > 0 && storage_bytes<BlockwiseStorage>(c) > uint32_t(kSmemBudgetBytes)) --c.stages;
  return c.stages;
}

int default_stages(const BlockwiseConfig& c) { return std::min(max_stages(c), stages_in_shared_memory(c)); }

std::vector<RuleViolation> check_blockwise(const BlockwiseConfig& config, int m, int n, int k) {
  BlockwiseRules rules{config, {}, {}};
  check_mma_shape(rules);
  // What the matmul allows, the epilogue may not.
  for (RuleViolation& broken : rules.broken)
    if (rules.sound.mma_m && broken.allowed.starts_with("N = ")) broken.allowed = widths_text(config);
  check_k_tile(rules);
  check_epilogue(rules);
  check_what_is_missing(rules);
  check_block_swizzle(rules);
  check_cluster(rules);
  check_ring_counts(rules);
  check_shared_memory(rules, stages_in_shared_memory);
  check_problem(rules, m, n, k, [](int) {});
  return std::move(rules.broken);
}

}  // namespace sm100::host
