// SPDX-License-Identifier: Apache-2.0
/// The rules that the matmuls of this family share, and what collects the broken ones.  Templates over the kernels'
/// configurations, whose derived values (tiles, bytes) have one name in all.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/matmul/cluster_share.h"
#include "kernels/matmul/host/config_rules.h"

namespace sm100::host {

inline constexpr int kLargestExtent = 1 << 30;  // keeps grid arithmetic within int
inline constexpr int kLargestClcStages = 64;
inline constexpr int kLargestKGroup = 16;
inline constexpr int kSwizzleAtomRows = 8;  // of every swizzle mode: the pattern repeats after 8 spans
inline constexpr uint32_t kLargestTransaction = (1u << 20) - 1;  // PTX: tx-count range of an mbarrier
inline constexpr int kLargestGridY = 65535;                      // CUDA launch limit; CLC responses hold 16 bits

inline std::string mma_text(const MatmulConfig& c) {
  return fmt::format("[{}, {}, {}]", c.mma_m, c.mma_n, c.mma_k);
}
inline std::string cluster_text(const MatmulConfig& c) {
  return fmt::format("[{}, {}, 1]", c.cluster_m, c.cluster_n);
}

/// Collects violations; each check_* function states its rules in terms of it.
template <class C>
struct Rules {
  const C& config;
  std::vector<RuleViolation> broken;

  /// What has been found in order.  A rule that builds on anything else is skipped: its message would only echo the
  /// one that is there already.
  struct Sound {
    bool cta_group = false, mma_m = false, mma_n = false, swizzle = false, cluster = false, cluster_n = false;
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
template <class C>
void check_mma_shape(Rules<C>& rules) {
  const C& c = rules.config;
  typename Rules<C>::Sound& sound = rules.sound;
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
template <class C>
void check_cluster(Rules<C>& rules) {
  const C& c = rules.config;
  const auto require = [&](bool holds, std::string allowed, std::string why) {
    return rules.require(holds, "config.cluster", cluster_text(c), std::move(allowed), std::move(why));
  };
  rules.sound.cluster_n = c.cluster_n >= 1 && c.cluster_n <= 16;
  if (!require(c.cluster_m >= 1 && c.cluster_n >= 1, "numbers from 1", "CTAs along M and N")) return;
  const bool whole_pairs = !rules.sound.cta_group || require(c.cluster_m % c.cta_group == 0, "an even first number",
                                                             "cta_group 2 pairs neighbours along M");
  rules.sound.cluster =
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

template <class C>
void check_block_swizzle(Rules<C>& rules) {
  const int w = rules.config.block_swizzle;
  rules.require(w == 0 || w == 1 || w == 2 || w == 4 || w == 8, "config.block_swizzle", w, "0, 1, 2, 4, 8",
                "tiles in a block of the rasterisation");
}

template <class C>
void check_ring_counts(Rules<C>& rules) {
  const C& c = rules.config;
  typename Rules<C>::Sound& sound = rules.sound;
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
/// @param fitting_stages  of a configuration: the most that fit
template <class C, class F>
void check_shared_memory(Rules<C>& rules, F fitting_stages) {
  const typename Rules<C>::Sound& sound = rules.sound;
  if (!sound.mma_m || !sound.mma_n || !sound.swizzle || !sound.k_group_size) return;
  C c = rules.config;
  if (!sound.accum_stages) c.accum_stages = 1;  // fewest: what exceeds memory then does so with any legal count
  if (!sound.clc_stages) c.clc_stages = 0;
  if (!sound.cluster) c.cluster_m = c.cta_group, c.cluster_n = 1;  // a cluster changes counts, not bytes

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

/// Tensor maps need row pitches that are multiples of 16 bytes (cuTensorMapEncodeTiled).
/// @param check_k_tiles  what the kernel asks of the number of k tiles
template <class C, class F>
void check_problem(Rules<C>& rules, int m, int n, int k, F check_k_tiles) {
  const C& c = rules.config;
  const typename Rules<C>::Sound& sound = rules.sound;
  const std::string extent = fmt::format("1 to {}", kLargestExtent);
  const bool m_sound = rules.require(m >= 1 && m <= kLargestExtent, "problem.m", m, extent, "C has M rows");
  const bool n_sound = rules.require(n >= 1 && n <= kLargestExtent, "problem.n", n, extent, "C has N columns");
  const bool k_sound = rules.require(
      k >= 1 && k <= kLargestExtent, "problem.k", k, extent,
      k == 0 ? "without an MMA the epilogue would store stale tensor memory" : "A and B have K columns");

  const int n_step = 128 / output_bits(c), k_step = 128 / operand_bits(c);
  if (n_sound)
    rules.require(n % n_step == 0, "problem.n", n, fmt::format("multiples of {}", n_step),
                  fmt::format("a row of C in {} must be a multiple of 16 bytes", name(c.output)));
  if (k_sound)
    rules.require(k % k_step == 0, "problem.k", k, fmt::format("multiples of {}", k_step),
                  fmt::format("a row of A and B in {} must be a multiple of 16 bytes", operand_name(c)));
  if (k_sound && sound.swizzle && sound.k_group_size) {
    const int k_tiles = ceil_div(k, block_k(c));
    rules.require(k_tiles % c.k_group_size == 0, "config.k_group_size", c.k_group_size,
                  fmt::format("divisors of {}", k_tiles), fmt::format("K = {} is {} k tiles", k, k_tiles));
    check_k_tiles(k_tiles);
  }
  const int columns = c.ab_swapped ? m : n;
  if ((c.ab_swapped ? m_sound : n_sound) && sound.mma_n && sound.cluster_n) {
    const int whole_clusters = kLargestGridY / c.cluster_n * c.cluster_n;  // the grid is rounded up to them
    const int64_t most = int64_t(whole_clusters) * c.mma_n;
    rules.require(columns <= most, c.ab_swapped ? "problem.m" : "problem.n", columns, fmt::format("1 to {}", most),
                  fmt::format("the grid has at most {} columns of {}", whole_clusters, c.mma_n));
  }
}

}  // namespace sm100::host
