// SPDX-License-Identifier: Apache-2.0
/// The rules of groups of tokens and of what a configuration does with their tiles, for the kernels that take them.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "kernels/block_scaled/config.h"
#include "kernels/grouped_1d1d/host/token_rows.h"
#include "kernels/matmul/host/config_rule_checks.h"

namespace sm100::host {

inline constexpr int kLargestWorkStages = 64;

inline std::string list_text(const std::vector<int>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

/// Groups of the contiguous layout begin at multiples of so many rows whatever the tiles are: scales in atoms do.
template <class C>
constexpr int group_granule() {
  return BlockScaled<C> ? kScaleAtomRows : 1;
}

template <class C>
void check_experts(Rules<C>& rules, const TokenProblem& p) {
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

template <class C>
void check_layout(Rules<C>& rules, const TokenProblem& p) {
  if (rules.config.layout == TokenLayout::masked) {
    const int most = *std::max_element(p.tokens.begin(), p.tokens.end());
    rules.require(p.slot_rows >= std::max(1, most) && p.slot_rows <= kLargestExtent, "problem.slot_rows",
                  p.slot_rows, fmt::format("{} to {}", std::max(1, most), kLargestExtent),
                  fmt::format("an expert has {} tokens", most));
  }
  if (rules.config.layout == TokenLayout::contiguous) {
    const int granule = group_granule<C>();
    rules.require(p.alignment >= granule && p.alignment <= kLargestExtent && p.alignment % granule == 0,
                  "problem.alignment", p.alignment,
                  granule == 1 ? fmt::format("1 to {}", kLargestExtent) : fmt::format("multiples of {}", granule),
                  granule == 1 ? "groups begin at multiples of it" : "each group's scales begin with an atom");
  }
}

/// All that is read and written has coordinates of 32 bits.
template <class C>
void check_extents(Rules<C>& rules, const TokenProblem& p) {
  for (int tokens : p.tokens)
    if (!rules.require(tokens >= 0 && tokens <= kLargestExtent, "problem.tokens", tokens,
                       fmt::format("0 to {}", kLargestExtent), "rows of a group"))
      return;
  const int64_t rows = token_rows(p, rules.config.layout, 1).rows;
  rules.require(rows >= 1 && rows <= kLargestExtent, "problem.tokens", list_text(p.tokens),
                fmt::format("1 to {} rows in all", kLargestExtent), "rows of A and C");
  rules.require(p.n < 1 || int64_t{p.num_experts} * p.n <= kLargestExtent, "problem.n", p.n,
                fmt::format("at most {}", kLargestExtent / std::max(1, p.num_experts)),
                fmt::format("B stacks {} experts in at most {} rows", p.num_experts, kLargestExtent));
}

/// What is wrong with the problem whatever the configuration is: nothing else can be said then.
template <class C>
void check_tokens(Rules<C>& rules, const TokenProblem& p) {
  check_experts(rules, p);
  check_layout(rules, p);
  if (rules.broken.empty()) check_extents(rules, p);
}

/// Where groups begin is not known when tiles are laid out, so that each is a cluster of its own.
template <class C>
void check_grouped_cluster(Rules<C>& rules) {
  const C& c = rules.config;
  if (c.cta_group != 1 && c.cta_group != 2) return;
  rules.require(c.cluster_m == c.cta_group && c.cluster_n == 1, "config.cluster", cluster_text(c),
                fmt::format("[{}, 1, 1]", c.cta_group),
                c.cta_group == 2 ? "the pair: a larger cluster could cross the end of a group"
                                 : "one CTA: a larger cluster could cross the end of a group");
}

/// A tile has one expert.
template <class C>
void check_alignment(Rules<C>& rules, const TokenProblem& p) {
  const C& c = rules.config;
  if (c.layout != TokenLayout::contiguous || token_rows(c) < 1) return;
  rules.require(p.alignment % token_rows(c) == 0, "problem.alignment", p.alignment,
                fmt::format("multiples of {}", std::lcm(group_granule<C>(), token_rows(c))),
                fmt::format("a tile has {} rows of tokens, all of one expert", token_rows(c)));
}

/// What the tiles of a configuration ask of its cluster, of the groups and of the scheduler warp's ring.
template <class C>
void check_token_tiles(Rules<C>& rules, const TokenProblem& p) {
  const C& c = rules.config;
  check_grouped_cluster(rules);
  check_alignment(rules, p);
  rules.require(c.work_stages >= 0 && c.work_stages <= kLargestWorkStages, "config.work_stages", c.work_stages,
                fmt::format("1 to {}", kLargestWorkStages), "slots of the scheduler warp's ring");
}

/// Tails that are stored as whole tiles over what somebody reads.
template <class C>
std::vector<ConfigWarning> token_warnings(const TokenProblem& p, const C& c) {
  if (!c.whole_tiles || c.layout == TokenLayout::contiguous) return {};
  for (const TokenGroup& group : token_rows(p, c.layout, 1).groups)
    if (group.has_work() && group.rows % token_rows(c) != 0)
      return {{"config.store", "whole",
               fmt::format("a group of {} rows ends inside a tile of {}: what is behind it is overwritten",
                           group.rows, token_rows(c))}};
  return {};
}

}  // namespace sm100::host
