// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_1d2d/host/choose_grouped_1d2d.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/blockwise/host/blockwise_rules.h"
#include "kernels/grouped_1d1d/host/token_rows.h"
#include "kernels/grouped_1d2d/host/grouped_1d2d_rules.h"
#include "kernels/matmul/host/config_search.h"

namespace sm100::host {
namespace {

constexpr int kWidths[] = {256, 192, 160, 144, 128, 112, 96, 80, 64, 48, 32, 16};  ///< of an MMA
constexpr int kWorkSlots = 2;
/// From so many groups on a walk that every role replays reads more words than one warp's.
constexpr int kGroupsToPublish = 16;

Grouped1d2dConfig shaped(const Grouped1d2dConfig& types, int mma_m, int mma_n, int cta_group) {
  Grouped1d2dConfig c = types;
  c.mma_m = mma_m, c.mma_n = mma_n;
  c.cta_group = c.cluster_m = cta_group;
  return c;
}

/// CTAs with 64 or 128 rows, and pairs of them, whose sums fit a thread's registers: tiles are counted group by
/// group.
std::vector<ConfigCandidate> search(const Grouped1d2dProblem& p, int sms) {
  std::vector<ConfigCandidate> list;
  for (int cta_group = 1; cta_group <= std::min(sms, 2); ++cta_group)
    for (int block_m : {64, 128})
      for (int mma_n : kWidths) {
        const Grouped1d2dConfig c = shaped(p.config, block_m * cta_group, mma_n, cta_group);
        if (sum_registers(c) > kMostSumRegisters) continue;
        ConfigCandidate candidate{
            .cta_group = cta_group, .mma_m = c.mma_m, .mma_n = mma_n, .block_size = block_m * mma_n};
        candidate.tiles = std::max<int64_t>(1, group_tiles(p, c));
        const int64_t at_a_time = sms / cta_group;
        candidate.waves = (candidate.tiles + at_a_time - 1) / at_a_time;
        list.push_back(candidate);
      }
  sort_candidates(list);
  return list;
}

Grouped1d2dConfig configure(const Grouped1d2dProblem& p, const ConfigCandidate& candidate) {
  Grouped1d2dConfig c = shaped(p.config, candidate.mma_m, candidate.mma_n, candidate.cta_group);
  c.accum_stages = 2;
  c.work_stages =
      p.config.layout == TokenLayout::prefix_sum && int(p.tokens.size()) >= kGroupsToPublish ? kWorkSlots : 0;
  c.stages = default_token_stages(c);
  return c;
}

std::string plural(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::vector<ConfigDecision> reasons(const Grouped1d2dProblem& p, const Grouped1d2dConfig& c,
                                    const ConfigCandidate& chosen, int sms) {
  return {
      {"cta_group", fmt::to_string(c.cta_group),
       c.cta_group == 2 ? "fewer tiles in as many waves: pairs of CTAs load each tile of B once"
                        : "pairs would not take fewer waves"},
      {"mma", fmt::format("[{}, {}, {}]", c.mma_m, c.mma_n, c.mma_k),
       fmt::format("{} of all groups in {} of {}, fewest; of as few the smallest whose sums fit {} registers",
                   plural(chosen.tiles, "tile"), plural(chosen.waves, "wave"), sms / c.cta_group,
                   kMostSumRegisters)},
      {"cluster", fmt::format("[{}, 1, 1]", c.cluster_m), c.cta_group == 2 ? "the pair" : "one CTA"},
      {"accum_stages", fmt::to_string(c.accum_stages), "the next k tile is multiplied while the epilogue adds one"},
      {"scheduling", c.work_stages > 0 ? "\"ring\"" : "\"replay\"",
       c.work_stages > 0
           ? fmt::format("{}: one warp reads where they are, not six", plural(int64_t(p.tokens.size()), "group"))
           : "few words to read: every role walks for itself"},
      {"stages", fmt::to_string(c.stages),
       fmt::format("as many of {} bytes as fit {} bytes of shared memory", slot_bytes(c), kSmemBudgetBytes)}};
}

}  // namespace

Grouped1d2dChoice choose_grouped_1d2d(const Grouped1d2dProblem& problem, int sms) {
  if (sms < 1) throw std::invalid_argument("a configuration needs at least one SM");
  Grouped1d2dChoice choice;
  Grouped1d2dProblem p = problem;
  p.config = shaped(problem.config, 64, 128, 1);  // what no configuration can mend
  p.config.stages = 1;
  choice.broken = check_grouped_1d2d(p);
  if (!choice.broken.empty()) return choice;

  choice.candidates = search(p, sms);
  for (ConfigCandidate& candidate : choice.candidates) {
    p.config = configure(problem, candidate);
    const auto broken = check_grouped_1d2d(p);
    if (broken.empty()) {
      choice.grouped = p.config;
      choice.decisions = reasons(p, p.config, candidate, sms);
      return choice;
    }
    const RuleViolation& first = broken.front();
    candidate.broken =
        fmt::format("{} = {}: allowed are {} ({})", first.key, first.value, first.allowed, first.why);
    ++choice.chosen;
  }
  throw std::logic_error("no configuration for a legal grouped problem");
}

}  // namespace sm100::host
