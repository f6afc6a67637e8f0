// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_block_scaled/host/grouped_block_scaled_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/block_scaled/host/block_scaled_rules.h"
#include "kernels/grouped_block_scaled/group_scheduler.h"
#include "kernels/grouped_block_scaled/grouped_block_scaled_kernel.h"
#include "kernels/matmul/host/config_rule_checks.h"

namespace sm100::host {
namespace {

constexpr int kLargestMapRing = 64;

int stages_in_shared_memory(const GroupedBlockScaledConfig& config) {
  GroupedBlockScaledConfig c = config;
  c.stages = kSmemBudgetBytes / int(slot_bytes(c));
  while (c.stages > 0 && storage_bytes<GroupedStorage>(c) > uint32_t(kSmemBudgetBytes)) --c.stages;
  return c.stages;
}

/// Tensor maps need row pitches that are multiples of 16 bytes (cuTensorMapEncodeTiled).
void check_groups(Rules<GroupedBlockScaledConfig>& rules, const std::vector<GroupProblem>& groups) {
  const GroupedBlockScaledConfig& c = rules.config;
  const int n_step = 128 / element_bits(c.output), k_step = 128 / operand_bits(c);
  for (size_t g = 0; g < groups.size(); ++g) {
    const GroupProblem& p = groups[g];
    const std::string value = fmt::format("group {}, [{}, {}, {}]", g, p.m, p.n, p.k);
    const std::string extents = fmt::format("0 to {}", kLargestExtent);
    for (const int extent : {p.m, p.n, p.k})
      if (extent < 0 || extent > kLargestExtent) {
        rules.require(false, "problem.groups", value, extents, "M, N and K of a group");
        return;
      }
    if (!rules.require(p.n % n_step == 0, "problem.groups", value,
                       fmt::format("N that are multiples of {}", n_step),
                       fmt::format("a row of C in {} must be a multiple of 16 bytes", name(c.output))) ||
        !rules.require(p.k % k_step == 0, "problem.groups", value,
                       fmt::format("K that are multiples of {}", k_step),
                       fmt::format("a row of A and B in {} must be a multiple of 16 bytes", operand_name(c))))
      return;  // one line for the first group that is wrong
  }
  const auto has_rows = [](const GroupProblem& p) { return p.m > 0 && p.n > 0; };
  rules.require(std::any_of(groups.begin(), groups.end(), has_rows), "problem.groups",
                fmt::format("{} groups", groups.size()), "a group with rows and columns",
                "without one there is nothing to launch");
  constexpr int64_t kMostTiles = int64_t{1} << 30;  // the walk counts in 32 bits
  if (rules.sound.mma_m && rules.sound.mma_n)
    rules.require(all_tiles(c, groups) <= kMostTiles, "problem.groups",
                  fmt::format("{} tiles", all_tiles(c, groups)), fmt::format("at most {} tiles", kMostTiles),
                  "the walk counts the tiles of all groups in 32 bits");
}

}  // namespace

int default_grouped_stages(const GroupedBlockScaledConfig& c) {
  return std::min(stages_in_shared_memory(c), stages_in_tensor_memory(c));
}

int64_t all_tiles(const GroupedBlockScaledConfig& c, const std::vector<GroupProblem>& groups) {
  int64_t tiles = 0;
  for (const GroupProblem& p : groups) {
    const GroupTiles t = group_tiles(c, p);
    tiles += int64_t{t.along_m} * t.along_n;
  }
  return tiles;
}

std::vector<RuleViolation> check_grouped(const GroupedBlockScaledConfig& config,
                                         const std::vector<GroupProblem>& groups) {
  // What is the block-scaled matmul's to judge, on a problem that breaks none of its rules.
  constexpr int kLegalExtent = 256;
  std::vector<RuleViolation> broken = check_block_scaled(config, kLegalExtent, kLegalExtent, kLegalExtent);
  Rules<GroupedBlockScaledConfig> rules{config, std::move(broken), {}};
  rules.require(!quantises(config), "config.output", name(config.output), "bf16, f32",
                "not implemented: groups with scales of their output");
  rules.sound.mma_m = rules.sound.mma_n = rules.broken.empty();
  rules.require(config.map_slots >= 1 && config.map_slots <= kLargestMapRing, "config.map_slots", config.map_slots,
                fmt::format("1 to {}", kLargestMapRing), "sets of tensor maps of a CTA, in global memory");
  if (rules.broken.empty()) {
    const int most = stages_in_shared_memory(config);
    rules.require(config.stages <= most, "config.stages", config.stages, fmt::format("1 to {}", most),
                  fmt::format("beside them shared memory has {} tensor maps", kInputMaps + 1));
  }
  check_groups(rules, groups);
  return std::move(rules.broken);
}

std::vector<ConfigWarning> grouped_warnings(const GroupedBlockScaledConfig& c) {
  std::vector<ConfigWarning> all;
  if (c.map_slots < enough_map_slots(c))
    all.push_back({"config.map_slots", std::to_string(c.map_slots),
                   fmt::format("fewer than stages + 1 = {}: a set of maps may be edited while loads still use it",
                               enough_map_slots(c))});
  if (c.empty_k == EmptyK::accumulator)
    all.push_back({"config.empty_k", "accumulator",
                   "tiles of groups with K = 0 are stored from tensor memory, which no MMA has written for them"});
  return all;
}

GroupedChoice choose_grouped(const std::vector<GroupProblem>& groups, const GroupedBlockScaledConfig& operands,
                             int sms) {
  if (sms < 1) throw std::invalid_argument("a configuration needs at least one SM");
  struct Shape {
    GroupedBlockScaledConfig config;
    ConfigCandidate candidate;
  };
  std::vector<Shape> shapes;
  for (const int cta_group : {2, 1}) {
    if (cta_group > sms) continue;
    for (const int mma_n : {256, 192, 128, 64}) {
      GroupedBlockScaledConfig c = operands;
      c.cta_group = c.cluster_m = cta_group;
      c.mma_m = kScaleAtomRows * cta_group, c.mma_n = mma_n;
      c.accum_stages = default_accum_stages(c);
      c.stages = 1;
      c.stages = default_grouped_stages(c);
      c.map_slots = enough_map_slots(c);
      const int64_t tiles = all_tiles(c, groups), at_a_time = sms / cta_group;
      shapes.push_back({c,
                        {.cta_group = cta_group,
                         .mma_m = c.mma_m,
                         .mma_n = mma_n,
                         .tiles = tiles,
                         .waves = (tiles + at_a_time - 1) / at_a_time,
                         .block_size = c.mma_m / cta_group * mma_n}});
    }
  }
  // A wave takes as long as its tiles are wide.
  const auto time = [](const Shape& s) { return s.candidate.waves * s.candidate.block_size; };
  std::stable_sort(shapes.begin(), shapes.end(), [&](const Shape& a, const Shape& b) { return time(a) < time(b); });
  GroupedChoice choice;
  for (const Shape& s : shapes) choice.candidates.push_back(s.candidate);
  const GroupedBlockScaledConfig& c = choice.grouped = shapes.front().config;
  choice.broken = check_grouped(c, groups);
  const ConfigCandidate& won = choice.candidates.front();
  choice.decisions = {
      {"mma", fmt::format("[{}, {}, {}]", c.mma_m, c.mma_n, c.mma_k),
       fmt::format("{} tiles of all groups in {} waves of {}: least waves times columns", won.tiles, won.waves,
                   sms / won.cta_group)},
      {"cta_group", std::to_string(c.cta_group),
       c.cta_group == 2 ? "pairs load each tile of B once" : "pairs would need more waves, or there are none"},
      {"accum_stages", std::to_string(c.accum_stages),
       c.accum_stages == 1 ? "scales leave no room for two accumulators"
                           : "the next tile starts during the epilogue"},
      {"stages", std::to_string(c.stages),
       fmt::format("as many of {} bytes as fit {} bytes of shared memory and the columns of tensor memory",
                   slot_bytes(c), kSmemBudgetBytes)},
      {"map_slots", std::to_string(c.map_slots), "stages + 1: no wait before an edit"}};
  return choice;
}

}  // namespace sm100::host
