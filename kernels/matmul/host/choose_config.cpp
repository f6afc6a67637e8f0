// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul/host/choose_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/matmul/host/config_reasons.h"
#include "kernels/matmul/host/config_search.h"

namespace sm100::host {
namespace {

/// M < 32.  The MMA's N takes the small side in steps of 8 where operands can be swapped, else the user's N.
void search_small(std::vector<ConfigCandidate>& list, const ConfigRequest& r, const View& view) {
  const int most = std::min(align_up(view.columns, 8), 256);
  for (int block_m : {64, 128})
    for (int mma_n = 8; mma_n <= most; mma_n += 8) add_candidate(list, r, view, 1, block_m, mma_n);
}

void search_large(std::vector<ConfigCandidate>& list, const ConfigRequest& r, const View& view, int cta_group) {
  const int most = std::min(align_up(view.columns, 16), 256);
  for (int block_m : {64, 128})
    for (int mma_n = most; mma_n >= std::min(most, 32); mma_n -= 16)
      add_candidate(list, r, view, cta_group, block_m, mma_n);
}

/// Every candidate, best first; among equals the one that the search meets first.
std::vector<ConfigCandidate> search(const ConfigRequest& r, bool swap) {
  std::vector<ConfigCandidate> list;
  if (r.m < kSmallM) {
    search_small(list, r, view_of(r, swap));
  } else {
    const int cta_group = r.sms >= 2 ? 2 : 1;
    search_large(list, r, view_of(r, false), cta_group);
    if (swap) search_large(list, r, view_of(r, true), cta_group);
  }
  sort_candidates(list);
  return list;
}

// ---------------------------------------------------------------- what follows from the shape

int k_group_size(int block_size, int k_tiles) {
  if (block_size <= kTinyBlock && k_tiles % 4 == 0) return 4;
  return block_size <= kSmallBlock && k_tiles % 2 == 0 ? 2 : 1;
}

MatmulConfig configure(const ConfigRequest& r, const ConfigCandidate& candidate, std::string* swizzle_figures) {
  MatmulConfig c;
  c.dtype = r.dtype, c.output = r.output;
  c.mma_m = candidate.mma_m, c.mma_n = candidate.mma_n, c.mma_k = 32 / operand_bytes(c);
  c.cta_group = candidate.cta_group;
  c.ab_swapped = candidate.ab_swapped;
  c.cluster_m = candidate.cta_group, c.cluster_n = 1;
  c.k_group_size = k_group_size(candidate.block_size, ceil_div(r.k, block_k(c)));
  c.clc_stages = candidate.waves == 1 ? 0 : 2;
  c.accum_stages = int(std::min<int64_t>(2, candidate.waves));
  c.raster_order = RasterOrder::along_m;
  if (candidate.waves >= kWavesToSwizzle) {
    const SwizzleChoice swizzle = choose_swizzle(c, view_of(r, candidate.ab_swapped), r.sms / c.cta_group);
    c.block_swizzle = swizzle.width;
    if (swizzle_figures) *swizzle_figures = swizzle.figures;
  }
  c.stages = std::min(max_stages(c), fitting_stages(c));  // as an omitted config.stages
  return c;
}

// ---------------------------------------------------------------- rules

/// What of the shape no configuration can mend; the widest tile has the fewest columns of the grid.
std::vector<RuleViolation> broken_by_shape(const ConfigRequest& r) {
  MatmulConfig widest;
  widest.dtype = r.dtype, widest.output = r.output;
  widest.mma_n = 256, widest.accum_stages = 1, widest.stages = 1, widest.mma_k = 32 / operand_bytes(widest);
  return check_config(widest, r.m, r.n, r.k);
}

/// The first rule that the candidate breaks, empty if it is legal.
std::string broken_rule(const MatmulConfig& config, const ConfigRequest& r) {
  const auto broken = check_config(config, r.m, r.n, r.k);
  if (broken.empty()) return "";
  const RuleViolation& first = broken.front();
  return fmt::format("{} = {}: allowed are {} ({})", first.key, first.value, first.allowed, first.why);
}

}  // namespace

ConfigChoice choose_config(const ConfigRequest& request, bool swap) {
  if (request.sms < 1) throw std::invalid_argument("a configuration needs at least one SM");
  ConfigChoice choice;
  choice.broken = broken_by_shape(request);
  if (!choice.broken.empty()) return choice;

  choice.candidates = search(request, swap);
  for (ConfigCandidate& candidate : choice.candidates) {
    std::string swizzle_figures;
    const MatmulConfig config = configure(request, candidate, &swizzle_figures);
    candidate.broken = broken_rule(config, request);
    if (!candidate.broken.empty()) {
      ++choice.chosen;
      continue;
    }
    choice.config = config;
    choice.decisions = config_reasons(request, choice, swizzle_figures);
    return choice;
  }
  throw std::logic_error(fmt::format("no configuration for {} x {} x {}", request.m, request.n, request.k));
}

}  // namespace sm100::host
