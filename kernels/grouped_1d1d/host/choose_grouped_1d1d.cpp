// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_1d1d/host/choose_grouped_1d1d.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/block_scaled/host/block_scaled_rules.h"
#include "kernels/grouped_1d1d/host/grouped_1d1d_rules.h"
#include "kernels/grouped_1d1d/host/token_rows.h"
#include "kernels/matmul/host/config_search.h"

namespace sm100::host {
namespace {

constexpr int kWidths[] = {256, 192, 128, 64};  ///< of an MMA
constexpr int kWorkSlots = 2;
/// From so many groups on a walk that every role replays reads more words than one warp's.
constexpr int kGroupsToPublish = 16;

Grouped1d1dConfig shaped(const Grouped1d1dConfig& operands, const ConfigCandidate& candidate) {
  Grouped1d1dConfig c = operands;
  c.mma_m = candidate.mma_m, c.mma_n = candidate.mma_n;
  c.cta_group = c.cluster_m = candidate.cta_group;
  c.ab_swapped = candidate.ab_swapped;
  return c;
}

/// CTAs with 128 rows, and pairs, in both orientations: tiles are counted group by group.
std::vector<ConfigCandidate> search(const Grouped1d1dProblem& p, int sms) {
  std::vector<ConfigCandidate> list;
  for (const bool swapped : {false, true})
    for (int cta_group = 1; cta_group <= std::min(sms, 2); ++cta_group)
      for (int mma_n : kWidths) {
        ConfigCandidate c{.ab_swapped = swapped,
                          .cta_group = cta_group,
                          .mma_m = kScaleAtomRows * cta_group,
                          .mma_n = mma_n,
                          .block_size = kScaleAtomRows * mma_n};
        c.tiles = std::max<int64_t>(1, group_tiles(p, shaped(p.config, c)));
        const int64_t at_a_time = sms / cta_group;
        c.waves = (c.tiles + at_a_time - 1) / at_a_time;
        list.push_back(c);
      }
  sort_candidates(list);
  return list;
}

Grouped1d1dConfig configure(const Grouped1d1dProblem& p, const ConfigCandidate& candidate) {
  Grouped1d1dConfig c = shaped(p.config, candidate);
  c.accum_stages = int(std::min<int64_t>(default_accum_stages(c), candidate.waves));
  c.work_stages =
      p.config.layout == TokenLayout::prefix_sum && int(p.tokens.size()) >= kGroupsToPublish ? kWorkSlots : 0;
  c.stages = default_grouped_stages(c);
  return c;
}

std::string plural(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::vector<ConfigDecision> reasons(const Grouped1d1dProblem& p, const Grouped1d1dConfig& c,
                                    const ConfigCandidate& chosen, int sms) {
  const std::string waves = plural(chosen.waves, "wave");
  std::vector<ConfigDecision> list;
  if (c.ab_swapped)
    list.push_back({"ab_swapped", "true", "tokens along the MMA's N: fewer rows of the tiles are no group's"});
  list.push_back({"cta_group", fmt::to_string(c.cta_group),
                  c.cta_group == 2 ? "fewer tiles in as many waves: pairs of CTAs load each tile of B once"
                                   : "pairs would not take fewer waves"});
  list.push_back(
      {"mma", fmt::format("[{}, {}, {}]", c.mma_m, c.mma_n, c.mma_k),
       fmt::format("{} of all groups in {} of {}, fewest; of as few the smallest of N = 64, 128, 192, 256",
                   plural(chosen.tiles, "tile"), waves, sms / c.cta_group)});
  list.push_back({"cluster", fmt::format("[{}, 1, 1]", c.cluster_m), c.cta_group == 2 ? "the pair" : "one CTA"});
  list.push_back({"accum_stages", fmt::to_string(c.accum_stages),
                  chosen.waves == 1 ? "1 wave, no next tile to start during the epilogue"
                  : c.accum_stages == 1
                      ? fmt::format("scales leave no room for two accumulators of {} columns", c.mma_n)
                      : fmt::format("{}, the next tile starts during the epilogue", waves)});
  list.push_back({"scheduling", c.work_stages > 0 ? "\"ring\"" : "\"replay\"",
                  c.work_stages > 0 ? fmt::format("{}: one warp reads where they are, not six",
                                                  plural(int64_t(p.tokens.size()), "group"))
                                    : "few words to read: every role walks for itself"});
  list.push_back(
      {"stages", fmt::to_string(c.stages),
       fmt::format("as many of {} bytes as fit {} bytes of shared memory, and of {} scale columns as fit "
                   "tensor memory",
                   slot_bytes(c), kSmemBudgetBytes, sfa_tile(c).columns() + sfb_tile(c).columns())});
  return list;
}

}  // namespace

Grouped1d1dChoice choose_grouped_1d1d(const Grouped1d1dProblem& problem, int sms) {
  if (sms < 1) throw std::invalid_argument("a configuration needs at least one SM");
  Grouped1d1dChoice choice;
  Grouped1d1dProblem p = problem;
  p.config.mma_n = 64, p.config.accum_stages = 1, p.config.stages = 1;  // what no configuration can mend
  p.config.ab_swapped = false, p.config.mma_m = kScaleAtomRows, p.config.cta_group = p.config.cluster_m = 1;
  choice.broken = check_grouped_1d1d(p);
  if (!choice.broken.empty()) return choice;

  choice.candidates = search(p, sms);
  for (ConfigCandidate& candidate : choice.candidates) {
    p.config = configure(p, candidate);
    const auto broken = check_grouped_1d1d(p);
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
