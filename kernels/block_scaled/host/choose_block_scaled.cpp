// SPDX-License-Identifier: Apache-2.0
#include "kernels/block_scaled/host/choose_block_scaled.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/block_scaled/host/block_scaled_rules.h"
#include "kernels/matmul/host/config_reasons.h"
#include "kernels/matmul/host/config_search.h"

namespace sm100::host {
namespace {

constexpr int kWidths[] = {256, 192, 128, 64};  ///< of an MMA

/// CTAs have 128 rows.  Small M becomes the MMA's N, of one CTA; else pairs, in both orientations.
std::vector<ConfigCandidate> search(const ConfigRequest& r) {
  std::vector<ConfigCandidate> list;
  const bool small = r.m < kSmallM;
  const int cta_group = small || r.sms < 2 ? 1 : 2;
  for (const bool swapped : {false, true}) {
    if (small && !swapped) continue;
    for (int mma_n : kWidths) add_candidate(list, r, view_of(r, swapped), cta_group, kScaleAtomRows, mma_n);
  }
  sort_candidates(list);
  return list;
}

BlockScaledConfig configure(const ConfigRequest& r, const BlockScaledConfig& operands,
                            const ConfigCandidate& candidate, std::string& swizzle_figures) {
  BlockScaledConfig c = operands;
  c.mma_m = candidate.mma_m, c.mma_n = candidate.mma_n;
  c.cta_group = c.cluster_m = candidate.cta_group;
  c.ab_swapped = candidate.ab_swapped;
  c.clc_stages = candidate.waves == 1 ? 0 : 2;
  c.accum_stages = int(std::min<int64_t>(default_accum_stages(c), candidate.waves));
  if (candidate.waves >= kWavesToSwizzle) {
    const SwizzleChoice swizzle = choose_swizzle(c, view_of(r, c.ab_swapped), r.sms / c.cta_group);
    c.block_swizzle = swizzle.width;
    swizzle_figures = swizzle.figures;
  }
  c.stages = default_stages(c);
  return c;
}

std::string plural(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::vector<ConfigDecision> reasons(const ConfigRequest& r, const BlockScaledConfig& c,
                                    const ConfigCandidate& chosen, const std::string& swizzle_figures) {
  const std::string waves = plural(chosen.waves, "wave");
  const bool small = r.m < kSmallM;
  std::vector<ConfigDecision> list;
  if (c.ab_swapped)
    list.push_back({"ab_swapped", "true",
                    small ? fmt::format("M = {} is below {}: M becomes the MMA's N", r.m, kSmallM)
                          : "better than with operands as given"});
  list.push_back({"cta_group", fmt::to_string(c.cta_group),
                  small              ? fmt::format("M = {} is below {}: one CTA's tile is enough", r.m, kSmallM)
                  : c.cta_group == 1 ? "1 SM has no pairs"
                                     : fmt::format("M = {} is at least {}: pairs of CTAs load each tile of B once",
                                                   r.m, kSmallM)});
  list.push_back({"mma", fmt::format("[{}, {}, {}]", c.mma_m, c.mma_n, c.mma_k),
                  fmt::format("{} in {} of {}, fewest; of as few the smallest of N = 64, 128, 192, 256",
                              plural(chosen.tiles, "tile"), waves, r.sms / c.cta_group)});
  list.push_back(
      {"cluster", fmt::format("[{}, {}, 1]", c.cluster_m, c.cluster_n), c.cta_group == 2 ? "the pair" : "one CTA"});
  list.push_back({"block_swizzle", fmt::to_string(c.block_swizzle),
                  c.block_swizzle == 0 ? fmt::format("{}, tiles are swizzled from {}", waves, kWavesToSwizzle)
                                       : fmt::format("rows of A and B that a wave reads: {}", swizzle_figures)});
  list.push_back({"clc_stages", fmt::to_string(c.clc_stages),
                  chosen.waves == 1 ? "1 wave, no CTA takes over another's work"
                                    : fmt::format("{}, CTAs take over work", waves)});
  list.push_back({"accum_stages", fmt::to_string(c.accum_stages),
                  chosen.waves == 1 ? "1 wave, no next tile to start during the epilogue"
                  : c.accum_stages == 1
                      ? fmt::format("scales leave no room for two accumulators of {} columns", c.mma_n)
                      : fmt::format("{}, the next tile starts during the epilogue", waves)});
  list.push_back(
      {"stages", fmt::to_string(c.stages),
       fmt::format("as many of {} bytes as fit {} bytes of shared memory, and of {} scale columns as fit "
                   "tensor memory",
                   slot_bytes(c), kSmemBudgetBytes, sfa_tile(c).columns() + sfb_slot(c).columns())});
  return list;
}

}  // namespace

BlockScaledChoice choose_block_scaled(const ConfigRequest& request, const BlockScaledConfig& operands) {
  if (request.sms < 1) throw std::invalid_argument("a configuration needs at least one SM");
  BlockScaledChoice choice;
  BlockScaledConfig widest = operands;  // what of the shape no configuration can mend
  widest.mma_n = 256, widest.accum_stages = 1, widest.stages = 1;
  choice.broken = check_block_scaled(widest, request.m, request.n, request.k);
  if (!choice.broken.empty()) return choice;

  choice.candidates = search(request);
  for (ConfigCandidate& candidate : choice.candidates) {
    std::string swizzle_figures;
    const BlockScaledConfig c = configure(request, operands, candidate, swizzle_figures);
    const auto broken = check_block_scaled(c, request.m, request.n, request.k);
    if (broken.empty()) {
      choice.scaled = c;
      choice.decisions = reasons(request, c, candidate, swizzle_figures);
      return choice;
    }
    const RuleViolation& first = broken.front();
    candidate.broken =
        fmt::format("{} = {}: allowed are {} ({})", first.key, first.value, first.allowed, first.why);
    ++choice.chosen;
  }
  throw std::logic_error(fmt::format("no configuration for {} x {} x {}", request.m, request.n, request.k));
}

}  // namespace sm100::host
