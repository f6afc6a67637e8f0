#include "kernels/host/config_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "kernels/matmul/cluster_share.h"
#include "kernels/matmul/shared_storage.h"

namespace sm100::host {
namespace {

constexpr int kLargestExtent = 1 << 30;  // keeps grid arithmetic within int
constexpr int kLargestClcStages = 64;
constexpr uint32_t kLargestTransaction = (1u << 20) - 1;  // PTX: tx-count range of an mbarrier
constexpr int kLargestGridY = 65535;                      // CUDA launch limit; CLC responses hold 16 bits

std::string mma_text(const MatmulConfig& c) { return fmt::format("[{}, {}, {}]", c.mma_m, c.mma_n, c.mma_k); }

/// Collects violations; each check_* function below states its rules in terms of it.
struct Rules {
  const MatmulConfig& config;
  std::vector<RuleViolation> broken;

  void require(bool holds, std::string key, std::string value, std::string allowed, std::string why) {
    if (!holds) broken.push_back({std::move(key), std::move(value), std::move(allowed), std::move(why)});
  }
  void require(bool holds, std::string key, int value, std::string allowed, std::string why) {
    require(holds, std::move(key), std::to_string(value), std::move(allowed), std::move(why));
  }
};

/// Shapes of tcgen05.mma (isa.md 3.7).
void check_mma_shape(Rules& rules) {
  const MatmulConfig& c = rules.config;
  rules.require(c.cta_group == 1 || c.cta_group == 2, "config.cta_group", c.cta_group, "1, 2", "CTAs of one MMA");
  if (!rules.broken.empty()) return;
  const int small = 64 * c.cta_group, large = 2 * small;
  const bool m_ok = c.mma_m == small || c.mma_m == large;
  rules.require(m_ok, "config.mma", mma_text(c), fmt::format("M = {} or {}", small, large),
                fmt::format("shapes of tcgen05.mma with cta_group {}", c.cta_group));
  if (m_ok) {
    const int step = c.mma_m == 64 ? 8 : 16;
    rules.require(c.mma_n >= step && c.mma_n <= 256 && c.mma_n % step == 0, "config.mma", mma_text(c),
                  fmt::format("N = multiples of {} from {} to 256", step, step),
                  fmt::format("shapes of this kernel family with M = {}", c.mma_m));
  }
  const int k = 32 / operand_bytes(c);
  rules.require(c.mma_k == k, "config.mma", mma_text(c), fmt::format("K = {}", k),
                fmt::format("one MMA takes 32 bytes of K, {} {} elements", k, name(c.dtype)));
}

/// Every CTA of a cluster loads a slice of each tile that it shares.
void check_cluster(Rules& rules) {
  const MatmulConfig& c = rules.config;
  const std::string cluster = fmt::format("[{}, {}, 1]", c.cluster_m, c.cluster_n);
  const auto require = [&](bool holds, std::string allowed, std::string why) {
    rules.require(holds, "config.cluster", cluster, std::move(allowed), std::move(why));
  };
  require(c.cluster_m % c.cta_group == 0, "an even first number", "cta_group 2 pairs neighbours along M");
  require(c.cluster_m * c.cluster_n <= 16, "at most 16 CTAs", "the largest cluster of an SM100");
  if (!rules.broken.empty()) return;
  const auto slices = [&](int rows, int sharers, const char* what) {
    require(rows % sharers == 0, fmt::format("a number of CTAs that divides {}", rows),
            fmt::format("{} CTAs load the {} rows of a tile of {} in slices", sharers, rows, what));
    const uint32_t bytes = uint32_t(rows / sharers) * swizzle_span_bytes(c.swizzle);
    require(bytes % 128 == 0, "fewer CTAs, or a wider swizzle",
            fmt::format("a slice of {} is {} bytes, and TMA writes to multiples of 128", what, bytes));
  };
  slices(block_m(c), a_sharers(c), "A");
  slices(block_n(c), b_sharers(c), "B");
}

void check_swizzle(Rules& rules) {
  const MatmulConfig& c = rules.config;
  rules.require(c.swizzle == Swizzle::b32 || c.swizzle == Swizzle::b64 || c.swizzle == Swizzle::b128,
                "config.swizzle", int(swizzle_span_bytes(c.swizzle)), "128, 64, 32",
                "a row of the k tile is one swizzle span");
  const int w = c.block_swizzle;
  rules.require(w == 0 || w == 1 || w == 2 || w == 4 || w == 8, "config.block_swizzle", w, "0, 1, 2, 4, 8",
                "tiles in a block of the rasterisation");
}

/// What the writers of each output type can do (reference kernels.md 6.3).
void check_output(Rules& rules) {
  const MatmulConfig& c = rules.config;
  if (output_bytes(c) > 1) return;
  const int step = halves_side_by_side(c) ? 32 : 16;
  rules.require(c.mma_n % step == 0, "config.mma", mma_text(c), fmt::format("N = multiples of {}", step),
                fmt::format("output {} is written in strips of 16 columns", name(c.output)));
  rules.require(!c.residual, "config.residual", "true", "false",
                fmt::format("a residual of {} elements is not implemented", name(c.output)));
  rules.require(!c.ab_swapped, "config.ab_swapped", "true", "false",
                fmt::format("output {} has no transposed writer", name(c.output)));
}

void check_ring_counts(Rules& rules) {
  const MatmulConfig& c = rules.config;
  const int most_accum = 512 / c.mma_n;
  rules.require(c.accum_stages >= 1 && c.accum_stages <= most_accum, "config.accum_stages", c.accum_stages,
                fmt::format("1 to {}", most_accum),
                fmt::format("tensor memory has 512 columns, an accumulator takes N = {}", c.mma_n));
  rules.require(c.clc_stages >= 0 && c.clc_stages <= kLargestClcStages, "config.clc_stages", c.clc_stages,
                fmt::format("0 to {}", kLargestClcStages), "0 switches CLC off");
  rules.require(!c.static_scheduler || c.clc_stages == 0, "config.clc_stages", c.clc_stages, "0",
                "the static scheduler asks nobody for tiles");
}

/// Needs sound shapes and counts: the bytes follow from them.
void check_shared_memory(Rules& rules) {
  const MatmulConfig& c = rules.config;
  const int most = fitting_stages(c);
  const int group = c.k_group_size;
  const std::string steps = group > 1 ? fmt::format(" in steps of {} (k_group_size)", group) : "";
  const std::string allowed =
      most == 0 ? "none; a smaller tile is needed" : fmt::format("{} to {}{}", group, most, steps);
  if (c.stages < 1 || c.stages % group != 0) {
    rules.require(false, "config.stages", c.stages, allowed, "leave the key out to get as many as fit");
    return;
  }
  if (c.stages > most) {
    const uint64_t needed =
        uint64_t(c.stages) * (a_tile_bytes(c) + b_tile_bytes(c) + 16) + kOutputBuffers * strip_bytes(c);
    rules.require(false, "config.stages", c.stages, allowed,
                  fmt::format("{} stages of {} bytes need about {} bytes of shared memory, a CTA has {}", c.stages,
                              a_tile_bytes(c) + b_tile_bytes(c), needed, kSmemBudgetBytes));
  }
  rules.require(stage_transaction_bytes(c) <= kLargestTransaction, "config.k_group_size", c.k_group_size,
                fmt::format("at most {} bytes per stage, not {}", kLargestTransaction, stage_transaction_bytes(c)),
                "range of an mbarrier's transaction count");
}

/// Splits of K (reference kernels.md 4.1): every one has k tiles, in whole groups.
void check_splits(Rules& rules, int k_tiles) {
  const MatmulConfig& c = rules.config;
  const int splits = c.num_split_k, per = k_tiles_per_split(c, k_tiles);
  const auto require = [&](bool holds, std::string allowed, std::string why) {
    rules.require(holds, "config.num_split_k", splits, std::move(allowed), std::move(why));
  };
  if (splits == 1) return;
  require((splits - 1) * int64_t(per) < k_tiles, fmt::format("at most {}", ceil_div(k_tiles, per)),
          fmt::format("{} k tiles in splits of {}: a split without k tiles would wait for its lock for ever",
                      k_tiles, per));
  require(
      per % c.k_group_size == 0, "splits of whole k groups",
      fmt::format("{} k tiles of a split are no multiple of k_group_size {}: the next split's would be added twice",
                  per, c.k_group_size));
  require(c.cta_group == 2 || c.mma_m == 128, "1 with M = 64 of one CTA",
          "the workspace has no mapping for its accumulators");
  require(!c.ab_swapped || c.cta_group == 1 || c.mma_m == 256, "1 with swapped operands and M = 128 of a pair",
          "as in the original");
  require(!c.pdl, "1 with pdl", "the locks must be zero before the kernel starts");
}

/// Tensor maps need row pitches that are multiples of 16 bytes (isa.md 2.1).
void check_problem(Rules& rules, int m, int n, int k) {
  const MatmulConfig& c = rules.config;
  const std::string extent = fmt::format("1 to {}", kLargestExtent);
  rules.require(m >= 1 && m <= kLargestExtent, "problem.m", m, extent, "C has M rows");
  rules.require(n >= 1 && n <= kLargestExtent, "problem.n", n, extent, "C has N columns");
  rules.require(k >= 1 && k <= kLargestExtent, "problem.k", k, extent,
                k == 0 ? "without an MMA the epilogue would store stale tensor memory" : "A and B have K columns");
  if (!rules.broken.empty()) return;

  const int n_step = 16 / (element_bits(c.output) / 8), k_step = 16 / operand_bytes(c);
  rules.require(n % n_step == 0, "problem.n", n, fmt::format("multiples of {}", n_step),
                fmt::format("a row of C in {} must be a multiple of 16 bytes", name(c.output)));
  rules.require(k % k_step == 0, "problem.k", k, fmt::format("multiples of {}", k_step),
                fmt::format("a row of A and B in {} must be a multiple of 16 bytes", name(c.dtype)));
  const int k_tiles = ceil_div(k, block_k(c));
  rules.require(k_tiles % c.k_group_size == 0, "config.k_group_size", c.k_group_size,
                fmt::format("divisors of {}", k_tiles), fmt::format("K = {} is {} k tiles", k, k_tiles));
  rules.require(c.num_split_k >= 1 && c.num_split_k <= k_tiles, "config.num_split_k", c.num_split_k,
                fmt::format("1 to {}", k_tiles), fmt::format("K = {} is {} k tiles", k, k_tiles));
  if (c.num_split_k >= 1 && c.num_split_k <= k_tiles) check_splits(rules, k_tiles);
  const int64_t most_n = int64_t(kLargestGridY) * c.mma_n;
  rules.require((c.ab_swapped ? m : n) <= most_n, c.ab_swapped ? "problem.m" : "problem.n", c.ab_swapped ? m : n,
                fmt::format("1 to {}", most_n),
                fmt::format("the grid has at most {} columns of {}", kLargestGridY, c.mma_n));
}

}  // namespace

int fitting_stages(const MatmulConfig& config) {
  MatmulConfig c = config;
  c.stages = kSmemBudgetBytes / int(a_tile_bytes(c) + b_tile_bytes(c));
  c.stages = c.stages / c.k_group_size * c.k_group_size;
  while (c.stages > 0 && shared_storage_bytes(c) > uint32_t(kSmemBudgetBytes)) c.stages -= c.k_group_size;
  return c.stages;
}

std::vector<RuleViolation> check_config(const MatmulConfig& config, int m, int n, int k) {
  Rules rules{config, {}};
  check_mma_shape(rules);
  check_swizzle(rules);
  if (rules.broken.empty()) check_cluster(rules);
  if (rules.broken.empty()) check_output(rules);
  if (rules.broken.empty()) check_ring_counts(rules);
  if (rules.broken.empty()) check_shared_memory(rules);
  check_problem(rules, m, n, k);
  return std::move(rules.broken);
}

}  // namespace sm100::host
