// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul/host/config_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "kernels/matmul/cluster_share.h"
#include "kernels/matmul/shared_storage.h"

namespace sm100::host {
namespace {

constexpr int kLargestExtent = 1 << 30;  // keeps grid arithmetic within int
constexpr int kLargestClcStages = 64;
constexpr int kLargestKGroup = 16;
constexpr int kSwizzleAtomRows = 8;  // of every swizzle mode: the pattern repeats after 8 spans
constexpr uint32_t kLargestTransaction = (1u << 20) - 1;  // PTX: tx-count range of an mbarrier
constexpr int kLargestGridY = 65535;                      // CUDA launch limit; CLC responses hold 16 bits

std::string mma_text(const MatmulConfig& c) { return fmt::format("[{}, {}, {}]", c.mma_m, c.mma_n, c.mma_k); }
std::string cluster_text(const MatmulConfig& c) { return fmt::format("[{}, {}, 1]", c.cluster_m, c.cluster_n); }

/// Collects violations; each check_* function below states its rules in terms of it.
struct Rules {
  const MatmulConfig& config;
  std::vector<RuleViolation> broken;

  /// What has been found in order.  A rule that builds on anything else is skipped: its message would only echo the
  /// one that is there already.
  struct Sound {
    bool cta_group = false, mma_m = false, mma_n = false, swizzle = false, cluster_n = false;
    bool k_group_size = false, accum_stages = false, clc_stages = false;
  } sound;

  /// Says whether the rule holds.
  bool require(bool holds, std::string key, std::string value, std::string allowed, std::string why) {
    if (!holds) broken.push_back({std::move(key), std::move(value), std::move(allowed), std::move(why)});
    return holds;
  }
  bool require(bool holds, std::string key, int value, std::string allowed, std::string why) {
    return require(holds, std::move(key), std::to_string(value), std::move(allowed), std::move(why));
  }
};

/// Shapes of tcgen05.mma (PTX 9.7.16).
void check_mma_shape(Rules& rules) {
  const MatmulConfig& c = rules.config;
  Rules::Sound& sound = rules.sound;
  sound.cta_group = rules.require(c.cta_group == 1 || c.cta_group == 2, "config.cta_group", c.cta_group, "1, 2",
                                  "CTAs of one MMA");
  if (sound.cta_group) {
    const int small = 64 * c.cta_group, large = 2 * small;
    sound.mma_m = rules.require(c.mma_m == small || c.mma_m == large, "config.mma", mma_text(c),
                                fmt::format("M = {} or {}", small, large),
                                fmt::format("shapes of tcgen05.mma with cta_group {}", c.cta_group));
  }
  const int step = !sound.mma_m || c.mma_m == 64 ? 8 : 16;
  const std::string with_m = sound.mma_m ? fmt::format(" with M = {}", c.mma_m) : "";
  sound.mma_n = rules.require(c.mma_n >= step && c.mma_n <= 256 && c.mma_n % step == 0, "config.mma", mma_text(c),
                              fmt::format("N = multiples of {} from {} to 256", step, step),
                              "shapes of this kernel family" + with_m);
  const int k = 32 / operand_bytes(c);
  rules.require(c.mma_k == k, "config.mma", mma_text(c), fmt::format("K = {}", k),
                fmt::format("one MMA takes 32 bytes of K, {} {} elements", k, name(c.dtype)));
}

/// Every CTA of a cluster loads a slice of each tile that it shares.
void check_cluster(Rules& rules) {
  const MatmulConfig& c = rules.config;
  const auto require = [&](bool holds, std::string allowed, std::string why) {
    return rules.require(holds, "config.cluster", cluster_text(c), std::move(allowed), std::move(why));
  };
  rules.sound.cluster_n = c.cluster_n >= 1 && c.cluster_n <= 16;
  if (!require(c.cluster_m >= 1 && c.cluster_n >= 1, "numbers from 1", "CTAs along M and N")) return;
  const bool whole_pairs = !rules.sound.cta_group || require(c.cluster_m % c.cta_group == 0, "an even first number",
                                                             "cta_group 2 pairs neighbours along M");
  require(int64_t(c.cluster_m) * c.cluster_n <= 16, "at most 16 CTAs", "the largest cluster of an SM100");

  const auto slices = [&](int rows, int sharers, const char* what) {
    const bool divides =
        require(rows % sharers == 0, fmt::format("a number of CTAs that divides {}", rows),
                fmt::format("{} CTAs load the {} rows of a tile of {} in slices", sharers, rows, what));
    if (!divides || !rules.sound.swizzle) return;
    const uint32_t bytes = uint32_t(rows / sharers) * swizzle_span_bytes(c.swizzle);
    require(bytes % 128 == 0, "fewer CTAs, or a wider swizzle",
            fmt::format("a slice of {} is {} bytes, and TMA writes to multiples of 128", what, bytes));
  };
  if (rules.sound.mma_m) slices(block_m(c), a_sharers(c), "A");
  if (rules.sound.cta_group && rules.sound.mma_n && whole_pairs) slices(block_n(c), b_sharers(c), "B");
}

void check_swizzle(Rules& rules) {
  const MatmulConfig& c = rules.config;
  rules.sound.swizzle = rules.require(
      c.swizzle == Swizzle::b32 || c.swizzle == Swizzle::b64 || c.swizzle == Swizzle::b128, "config.swizzle",
      int(swizzle_span_bytes(c.swizzle)), "128, 64, 32", "a row of the k tile is one swizzle span");
  const int w = c.block_swizzle;
  rules.require(w == 0 || w == 1 || w == 2 || w == 4 || w == 8, "config.block_swizzle", w, "0, 1, 2, 4, 8",
                "tiles in a block of the rasterisation");
}

/// What the writers of each output type can do.  The functor on the strip needs N in steps of
/// 16 for a pair's M = 128, which the shapes of the family have.
void check_output(Rules& rules) {
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

void check_ring_counts(Rules& rules) {
  const MatmulConfig& c = rules.config;
  Rules::Sound& sound = rules.sound;
  if (sound.mma_n) {
    const int most_accum = 512 / c.mma_n;
    sound.accum_stages =
        rules.require(c.accum_stages >= 1 && c.accum_stages <= most_accum, "config.accum_stages", c.accum_stages,
                      fmt::format("1 to {}", most_accum),
                      fmt::format("tensor memory has 512 columns, an accumulator takes N = {}", c.mma_n));
  }
  sound.clc_stages = rules.require(c.clc_stages >= 0 && c.clc_stages <= kLargestClcStages, "config.clc_stages",
                                   c.clc_stages, fmt::format("0 to {}", kLargestClcStages), "0 switches CLC off");
  if (sound.clc_stages)
    rules.require(!c.static_scheduler || c.clc_stages == 0, "config.clc_stages", c.clc_stages, "0",
                  "the static scheduler asks nobody for tiles");
  sound.k_group_size =
      rules.require(c.k_group_size >= 1 && c.k_group_size <= kLargestKGroup, "config.k_group_size", c.k_group_size,
                    fmt::format("1 to {}", kLargestKGroup), "k tiles of one ring stage");
}

/// The bytes follow from shapes and counts.
void check_shared_memory(Rules& rules) {
  const Rules::Sound& sound = rules.sound;
  if (!sound.mma_m || !sound.mma_n || !sound.swizzle || !sound.k_group_size) return;
  MatmulConfig c = rules.config;
  if (!sound.accum_stages) c.accum_stages = 1;  // fewest: what exceeds memory then does so with any legal count
  if (!sound.clc_stages) c.clc_stages = 0;

  const int most = fitting_stages(c);
  const int group = c.k_group_size;
  const std::string steps = group > 1 ? fmt::format(" in steps of {} (k_group_size)", group) : "";
  const std::string allowed = most > 0    ? fmt::format("{} to {}{}", group, most, steps)
                              : group > 1 ? "none; a smaller tile or k_group_size is needed"
                                          : "none; a smaller tile is needed";
  const bool whole_groups = rules.require(c.stages >= 1 && c.stages % group == 0, "config.stages", c.stages,
                                          allowed, "leave the key out to get as many as fit");
  if (whole_groups && c.stages > most) {
    const uint64_t needed = uint64_t(c.stages) * (slot_bytes(c) + 16) + kOutputBuffers * strip_bytes(c);
    rules.require(false, "config.stages", c.stages, allowed,
                  fmt::format("{} stages of {} bytes need about {} bytes of shared memory, a CTA has {}", c.stages,
                              slot_bytes(c), needed, kSmemBudgetBytes));
  }
  rules.require(stage_transaction_bytes(c) <= kLargestTransaction, "config.k_group_size", c.k_group_size,
                fmt::format("at most {} bytes per stage, not {}", kLargestTransaction, stage_transaction_bytes(c)),
                "range of an mbarrier's transaction count");
}

/// Splits of K: every one has k tiles, in whole groups.
void check_splits(Rules& rules, int k_tiles) {
  const MatmulConfig& c = rules.config;
  const int splits = c.num_split_k, per = k_tiles_per_split(c, k_tiles);
  const auto require = [&](bool holds, std::string allowed, std::string why) {
    rules.require(holds, "config.num_split_k", splits, std::move(allowed), std::move(why));
  };
  if (splits == 1) return;
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

/// Tensor maps need row pitches that are multiples of 16 bytes (cuTensorMapEncodeTiled).
void check_problem(Rules& rules, int m, int n, int k) {
  const MatmulConfig& c = rules.config;
  const Rules::Sound& sound = rules.sound;
  const std::string extent = fmt::format("1 to {}", kLargestExtent);
  const bool m_sound = rules.require(m >= 1 && m <= kLargestExtent, "problem.m", m, extent, "C has M rows");
  const bool n_sound = rules.require(n >= 1 && n <= kLargestExtent, "problem.n", n, extent, "C has N columns");
  const bool k_sound = rules.require(
      k >= 1 && k <= kLargestExtent, "problem.k", k, extent,
      k == 0 ? "without an MMA the epilogue would store stale tensor memory" : "A and B have K columns");

  const int n_step = 16 / (element_bits(c.output) / 8), k_step = 16 / operand_bytes(c);
  if (n_sound)
    rules.require(n % n_step == 0, "problem.n", n, fmt::format("multiples of {}", n_step),
                  fmt::format("a row of C in {} must be a multiple of 16 bytes", name(c.output)));
  if (k_sound)
    rules.require(k % k_step == 0, "problem.k", k, fmt::format("multiples of {}", k_step),
                  fmt::format("a row of A and B in {} must be a multiple of 16 bytes", name(c.dtype)));
  if (k_sound && sound.swizzle && sound.k_group_size) {
    const int k_tiles = ceil_div(k, block_k(c));
    rules.require(k_tiles % c.k_group_size == 0, "config.k_group_size", c.k_group_size,
                  fmt::format("divisors of {}", k_tiles), fmt::format("K = {} is {} k tiles", k, k_tiles));
    if (rules.require(c.num_split_k >= 1 && c.num_split_k <= k_tiles, "config.num_split_k", c.num_split_k,
                      fmt::format("1 to {}", k_tiles), fmt::format("K = {} is {} k tiles", k, k_tiles)))
      check_splits(rules, k_tiles);
  }
  const int columns = c.ab_swapped ? m : n;
  if ((c.ab_swapped ? m_sound : n_sound) && sound.mma_n && sound.cluster_n) {
    const int whole_clusters = kLargestGridY / c.cluster_n * c.cluster_n;  // the grid is rounded up to them
    const int64_t most = int64_t(whole_clusters) * c.mma_n;
    rules.require(columns <= most, c.ab_swapped ? "problem.m" : "problem.n", columns, fmt::format("1 to {}", most),
                  fmt::format("the grid has at most {} columns of {}", whole_clusters, c.mma_n));
  }
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
  Rules rules{config, {}, {}};
  check_mma_shape(rules);
  check_swizzle(rules);
  check_cluster(rules);
  check_output(rules);
  check_ring_counts(rules);
  check_shared_memory(rules);
  check_problem(rules, m, n, k);
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
