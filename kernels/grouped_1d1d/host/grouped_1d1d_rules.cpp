// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_1d1d/host/grouped_1d1d_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "kernels/block_scaled/host/block_scaled_rules.h"
#include "kernels/grouped_1d1d/grouped_1d1d_kernel.h"
#include "kernels/grouped_1d1d/host/token_rows.h"
#include "kernels/matmul/host/config_rule_checks.h"

namespace sm100::host {
namespace {

using GroupedRules = Rules<Grouped1d1dConfig>;

constexpr int kLargestWorkStages = 64;

std::string list_text(const std::vector<int>& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

void check_experts(GroupedRules& rules, const Grouped1d1dProblem& p) {
  rules.require(p.experts.size() == p.tokens.size(), "problem.experts", list_text(p.experts),
                fmt::format("lists of {} experts", p.tokens.size()), "an expert for each group of problem.tokens");
  rules.require(p.num_experts >= 1, "problem.num_experts", p.num_experts, "numbers from 1",
                "experts that B stacks");
  for (int expert : p.experts)
    if (!rules.require(expert >= -1 && expert < p.num_experts, "problem.experts", expert,
                       fmt::format("-1 (no expert) to {}", p.num_experts - 1),
                       fmt::format("B stacks {} experts", p.num_experts)))
      return;
}

void check_layout(GroupedRules& rules, const Grouped1d1dProblem& p) {
  const Grouped1d1dConfig& c = p.config;
  if (c.layout == TokenLayout::masked) {
    const int most = *std::max_element(p.tokens.begin(), p.tokens.end());
    rules.require(p.slot_rows >= std::max(1, most) && p.slot_rows <= kLargestExtent, "problem.slot_rows",
                  p.slot_rows, fmt::format("{} to {}", std::max(1, most), kLargestExtent),
                  fmt::format("an expert has {} tokens", most));
  }
  if (c.layout == TokenLayout::contiguous)
    rules.require(
        p.alignment >= kScaleAtomRows && p.alignment <= kLargestExtent && p.alignment % kScaleAtomRows == 0,
        "problem.alignment", p.alignment, fmt::format("multiples of {}", kScaleAtomRows),
        "each group's scales begin with an atom");
}

/// All that is read and written has coordinates of 32 bits.
void check_extents(GroupedRules& rules, const Grouped1d1dProblem& p) {
  for (int tokens : p.tokens)
    if (!rules.require(tokens >= 0 && tokens <= kLargestExtent, "problem.tokens", tokens,
                       fmt::format("0 to {}", kLargestExtent), "rows of a group"))
      return;
  const int64_t rows = token_rows(p).rows;
  rules.require(rows >= 1 && rows <= kLargestExtent, "problem.tokens", list_text(p.tokens),
                fmt::format("1 to {} rows in all", kLargestExtent), "rows of A and C");
  rules.require(p.n < 1 || int64_t{p.num_experts} * p.n <= kLargestExtent, "problem.n", p.n,
                fmt::format("at most {}", kLargestExtent / std::max(1, p.num_experts)),
                fmt::format("B stacks {} experts in at most {} rows", p.num_experts, kLargestExtent));
}

/// Where groups begin is not known when tiles are laid out, so that each is a cluster of its own.
void check_grouped_cluster(GroupedRules& rules) {
  const Grouped1d1dConfig& c = rules.config;
  if (c.cta_group != 1 && c.cta_group != 2) return;
  rules.require(c.cluster_m == c.cta_group && c.cluster_n == 1, "config.cluster", cluster_text(c),
                fmt::format("[{}, 1, 1]", c.cta_group),
                c.cta_group == 2 ? "the pair: a larger cluster could cross the end of a group"
                                 : "one CTA: a larger cluster could cross the end of a group");
}

/// A tile has one expert.
void check_alignment(GroupedRules& rules, const Grouped1d1dProblem& p) {
  const Grouped1d1dConfig& c = p.config;
  if (c.layout != TokenLayout::contiguous || token_rows(c) < 1) return;
  rules.require(p.alignment % token_rows(c) == 0, "problem.alignment", p.alignment,
                fmt::format("multiples of {}", std::lcm(kScaleAtomRows, token_rows(c))),
                fmt::format("a tile has {} rows of tokens, all of one expert", token_rows(c)));
}

void check_work_ring(GroupedRules& rules) {
  const Grouped1d1dConfig& c = rules.config;
  rules.require(c.work_stages >= 0 && c.work_stages <= kLargestWorkStages, "config.work_stages", c.work_stages,
                fmt::format("1 to {}", kLargestWorkStages), "slots of the scheduler warp's ring");
}

bool fits(const Grouped1d1dConfig& c) { return storage_bytes<Grouped1d1dStorage>(c) <= uint32_t(kSmemBudgetBytes); }

}  // namespace

int default_grouped_stages(const Grouped1d1dConfig& config) {
  Grouped1d1dConfig c = config;
  c.stages = default_stages(c);
  while (c.stages > 1 && !fits(c)) --c.stages;
  return c.stages;
}

std::vector<RuleViolation> check_grouped_1d1d(const Grouped1d1dProblem& p) {
  GroupedRules rules{p.config, {}, {}};
  check_experts(rules, p);
  check_layout(rules, p);
  if (rules.broken.empty()) check_extents(rules, p);
  if (!rules.broken.empty()) return std::move(rules.broken);

  // The number of rows of tokens is not a matter of the configuration: any is right.
  rules.broken = check_block_scaled(p.config, 1, p.n, p.k);
  check_grouped_cluster(rules);
  check_alignment(rules, p);
  check_work_ring(rules);
  if (rules.broken.empty())
    rules.require(
        fits(p.config), "config.stages", p.config.stages, fmt::format("1 to {}", default_grouped_stages(p.config)),
        fmt::format("stages, strips, barriers and the ring of tiles need {} bytes of shared memory, a CTA has {}",
                    storage_bytes<Grouped1d1dStorage>(p.config), kSmemBudgetBytes));
  return std::move(rules.broken);
}

std::vector<ConfigWarning> grouped_1d1d_warnings(const Grouped1d1dProblem& p) {
  if (!p.config.whole_tiles || p.config.layout == TokenLayout::contiguous) return {};
  for (const TokenGroup& group : token_rows(p).groups)
    if (group.has_work() && group.rows % token_rows(p.config) != 0)
      return {{"config.store", "whole",
               fmt::format("a group of {} rows ends inside a tile of {}: what is behind it is overwritten",
                           group.rows, token_rows(p.config))}};
  return {};
}

}  // namespace sm100::host
