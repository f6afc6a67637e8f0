// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul/host/config_rules.h"

#include <algorithm>

#include "kernels/matmul/host/config_rule_checks.h"
#include "kernels/matmul/shared_storage.h"

namespace sm100::host {
namespace {

using MatmulRules = Rules<MatmulConfig>;

void check_swizzle(MatmulRules& rules) {
  const MatmulConfig& c = rules.config;
  rules.sound.swizzle = rules.require(
      c.swizzle == Swizzle::b32 || c.swizzle == Swizzle::b64 || c.swizzle == Swizzle::b128, "config.swizzle",
      int(swizzle_span_bytes(c.swizzle)), "128, 64, 32", "a row of the k tile is one swizzle span");
  check_block_swizzle(rules);
}

/// What the writers of each output type can do.  The functor on the strip needs N in steps of
/// 16 for a pair's M = 128, which the shapes of the family have.
void check_output(MatmulRules& rules) {
  const MatmulConfig& c = rules.config;
  if (output_bytes(c) > 1) return;
  rules.require(c.register_epilogue, "config.register_epilogue", "false", "true",
                fmt::format("the functor on the strip in shared memory has no vectors of {}", name(c.output)));
  const int step = rules.sound.mma_m && halves_side_by_side(c) ? 32 : 16;
  if (rules.sound.mma_n)
    rules.require(c.mma_n % step == 0, "config.mma", mma_text(c), fmt::format("N = multiples of {}", step),
                  fmt::format("output {} is written in strips of 16 columns", name(c.output)));
  rules.require(!c.ab_swapped, "config.ab_swapped", "true", "false",
                fmt::format("output {} has no transposed writer", name(c.output)));
}

/// Splits of K: every one has k tiles, in whole groups.
void check_splits(MatmulRules& rules, int k, int k_tiles) {
  const MatmulConfig& c = rules.config;
  const int splits = c.num_split_k;
  const auto require = [&](bool holds, std::string allowed, std::string why) {
    return rules.require(holds, "config.num_split_k", splits, std::move(allowed), std::move(why));
  };
  if (!require(splits >= 1 && splits <= k_tiles, fmt::format("1 to {}", k_tiles),
               fmt::format("K = {} is {} k tiles", k, k_tiles)))
    return;
  if (splits == 1) return;
  const int per = k_tiles_per_split(c, k_tiles);
  require(splits <= kLargestGridY, fmt::format("at most {}", kLargestGridY),
          "the grid's z and a CLC response hold 16 bits");
  require((splits - 1) * int64_t(per) < k_tiles, fmt::format("at most {}", ceil_div(k_tiles, per)),
          fmt::format("{} k tiles in splits of {}: a split without k tiles would wait for its lock for ever",
                      k_tiles, per));
  require(
      per % c.k_group_size == 0, "splits of whole k groups",
      fmt::format("{} k tiles of a split are no multiple of k_group_size {}: the next split's would be added twice",
                  per, c.k_group_size));
  require(!rules.sound.mma_m || c.mma_m != 64, "1 with M = 64 of one CTA",
          "the workspace has no mapping for its accumulators");
  require(!rules.sound.mma_m || !c.ab_swapped || c.cta_group == 1 || c.mma_m == 256,
          "1 with swapped operands and M = 128 of a pair", "as in the original");
  require(!rules.sound.cta_group || c.register_epilogue || c.cta_group == 2,
          "1 with register_epilogue = false and cta_group 1", "as in the original");
  require(!c.pdl, "1 with pdl", "the locks must be zero before the kernel starts");
}

}  // namespace

int fitting_stages(const MatmulConfig& config) {
  MatmulConfig c = config;
  c.stages = kSmemBudgetBytes / int(slot_bytes(c));
  c.stages = c.stages / c.k_group_size * c.k_group_size;
  while (c.stages > 0 && storage_bytes<SharedStorage>(c) > uint32_t(kSmemBudgetBytes)) c.stages -= c.k_group_size;
  return c.stages;
}

std::vector<RuleViolation> check_config(const MatmulConfig& config, int m, int n, int k) {
  MatmulRules rules{config, {}, {}};
  check_mma_shape(rules);
  check_swizzle(rules);
  check_cluster(rules);
  check_output(rules);
  check_ring_counts(rules);
  check_shared_memory(rules, fitting_stages);
  check_problem(rules, m, n, k, [&](int k_tiles) { check_splits(rules, k, k_tiles); });
  return std::move(rules.broken);
}

std::vector<ConfigWarning> config_warnings(const MatmulConfig& config) {
  std::vector<ConfigWarning> warnings;
  if (!config.register_epilogue && !has_functor(config))
    warnings.push_back({"config.register_epilogue", "false",
                        "says where alpha, bias, residual and activation are applied, and there are none"});
  const auto slices = [&](int rows, int sharers, const char* what) {
    if (sharers == 1 || rows % kSwizzleAtomRows == 0) return;
    warnings.push_back(
        {"config.cluster", cluster_text(config),
         fmt::format(
             "slices of {} have {} rows; slices begin inside a swizzle atom ({} rows): legal, because the "
             "swizzle follows address bits, but code that counts rows from a slice's start finds other bytes",
             what, rows, kSwizzleAtomRows)});
  };
  slices(a_slice_rows(config), a_sharers(config), "A");
  slices(b_slice_rows(config), b_sharers(config), "B");
  return warnings;
}

}  // namespace sm100::host
