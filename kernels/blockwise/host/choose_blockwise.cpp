// SPDX-License-Identifier: Apache-2.0
#include "kernels/blockwise/host/choose_blockwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/blockwise/host/blockwise_rules.h"
#include "kernels/matmul/host/config_reasons.h"
#include "kernels/matmul/host/config_search.h"

namespace sm100::host {
namespace {

constexpr int kWidths[] = {256, 192, 160, 144, 128, 112, 96, 80, 64, 48, 32, 16};  ///< of an MMA

BlockwiseConfig shaped(const BlockwiseConfig& types, int mma_m, int mma_n, int cta_group) {
  BlockwiseConfig c = types;
  c.mma_m = mma_m, c.mma_n = mma_n;
  c.cta_group = c.cluster_m = cta_group;
  return c;
}

/// Small M: one CTA; else pairs.  Shapes whose sums fit a thread's registers.
std::vector<ConfigCandidate> search(const ConfigRequest& r, const BlockwiseConfig& types) {
  std::vector<ConfigCandidate> list;
  const int cta_group = r.m < kSmallM || r.sms < 2 ? 1 : 2;
  for (int block_m : {64, 128})
    for (int mma_n : kWidths)
      if (sum_registers(shaped(types, block_m * cta_group, mma_n, cta_group)) <= kMostSumRegisters)
        add_candidate(list, r, view_of(r, false), cta_group, block_m, mma_n);
  sort_candidates(list);
  return list;
}

BlockwiseConfig configure(const ConfigRequest& r, const BlockwiseConfig& types, const ConfigCandidate& candidate,
                          std::string& swizzle_figures) {
  BlockwiseConfig c = shaped(types, candidate.mma_m, candidate.mma_n, candidate.cta_group);
  c.clc_stages = candidate.waves == 1 ? 0 : 2;
  c.accum_stages = 2;
  if (candidate.waves >= kWavesToSwizzle) {
    const SwizzleChoice swizzle = choose_swizzle(c, view_of(r, false), r.sms / c.cta_group);
    c.block_swizzle = swizzle.width;
    swizzle_figures = swizzle.figures;
  }
  c.stages = default_stages(c);
  return c;
}

std::string plural(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::vector<ConfigDecision> reasons(const ConfigRequest& r, const BlockwiseConfig& c, const ConfigCandidate& chosen,
                                    const std::string& swizzle_figures) {
  const std::string waves = plural(chosen.waves, "wave");
  std::vector<ConfigDecision> list;
  list.push_back({"cta_group", fmt::to_string(c.cta_group),
                  r.m < kSmallM      ? fmt::format("M = {} is below {}: one CTA's tile is enough", r.m, kSmallM)
                  : c.cta_group == 1 ? "1 SM has no pairs"
                                     : fmt::format("M = {} is at least {}: pairs of CTAs load each tile of B once",
                                                   r.m, kSmallM)});
  list.push_back({"mma", fmt::format("[{}, {}, {}]", c.mma_m, c.mma_n, c.mma_k),
                  fmt::format("{} in {} of {}, fewest; of as few the smallest whose sums fit {} registers",
                              plural(chosen.tiles, "tile"), waves, r.sms / c.cta_group, kMostSumRegisters)});
  list.push_back(
      {"cluster", fmt::format("[{}, {}, 1]", c.cluster_m, c.cluster_n), c.cta_group == 2 ? "the pair" : "one CTA"});
  list.push_back({"block_swizzle", fmt::to_string(c.block_swizzle),
                  c.block_swizzle == 0 ? fmt::format("{}, tiles are swizzled from {}", waves, kWavesToSwizzle)
                                       : fmt::format("rows of A and B that a wave reads: {}", swizzle_figures)});
  list.push_back({"clc_stages", fmt::to_string(c.clc_stages),
                  chosen.waves == 1 ? "1 wave, no CTA takes over another's work"
                                    : fmt::format("{}, CTAs take over work", waves)});
  list.push_back({"accum_stages", fmt::to_string(c.accum_stages),
                  "the next k tile is multiplied while the epilogue adds one"});
  list.push_back(
      {"stages", fmt::to_string(c.stages),
       fmt::format("as many of {} bytes as fit {} bytes of shared memory", slot_bytes(c), kSmemBudgetBytes)});
  return list;
}

}  // namespace

BlockwiseChoice choose_blockwise(const ConfigRequest& request, const BlockwiseConfig& types) {
  if (request.sms < 1) throw std::invalid_argument("a configuration needs at least one SM");
  BlockwiseChoice choice;
  BlockwiseConfig widest = types;  // what of the shape no configuration can mend
  widest.mma_m = 64, widest.mma_n = 256, widest.stages = 1;
  choice.broken = check_blockwise(widest, request.m, request.n, request.k);
  if (!choice.broken.empty()) return choice;

  choice.candidates = search(request, types);
  for (ConfigCandidate& candidate : choice.candidates) {
    std::string swizzle_figures;
    const BlockwiseConfig c = configure(request, types, candidate, swizzle_figures);
    const auto broken = check_blockwise(c, request.m, request.n, request.k);
    if (broken.empty()) {
      choice.blockwise = c;
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
