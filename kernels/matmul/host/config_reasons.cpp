// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul/host/config_reasons.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/matmul/shared_storage.h"

namespace sm100::host {
namespace {

std::string plural(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string cta_group_reason(const ConfigRequest& r, const ConfigCandidate& chosen) {
  if (r.m < kSmallM) return fmt::format("M = {} is below {}: one CTA's tile is enough", r.m, kSmallM);
  if (chosen.cta_group == 1) return "1 SM has no pairs";
  return fmt::format("M = {} is at least {}: pairs of CTAs load each tile of B once", r.m, kSmallM);
}

std::string mma_reason(const ConfigRequest& r, const ConfigChoice& choice) {
  const ConfigCandidate& c = choice.candidates[choice.chosen];
  const int64_t same_waves = std::count_if(choice.candidates.begin(), choice.candidates.end(),
                                           [&](const ConfigCandidate& other) { return other.waves == c.waves; });
  const std::string passed = choice.chosen > 0 ? " that the kernel can run" : "";
  std::string text = fmt::format("{} in {} of {}, fewest{}", plural(c.tiles, "tile"), plural(c.waves, "wave"),
                                 r.sms / c.cta_group, passed);
  if (same_waves > 1)
    text +=
        fmt::format("; {} x {} per CTA, smallest of {} with as few", c.mma_m / c.cta_group, c.mma_n, same_waves);
  return text;
}

std::string k_group_reason(const ConfigCandidate& c, const MatmulConfig& config, int k) {
  const int k_tiles = ceil_div(k, block_k(config));
  const std::string block = fmt::format("{} x {} per CTA", c.mma_m / c.cta_group, c.mma_n);
  if (config.k_group_size == 4) return fmt::format("{} is at most 64 x 16, {} k tiles divide by 4", block, k_tiles);
  if (config.k_group_size == 2) return fmt::format("{} is at most 64 x 96, {} k tiles divide by 2", block, k_tiles);
  if (c.block_size > kSmallBlock) return fmt::format("{} is above 64 x 96", block);
  return fmt::format("{} do not divide by 2", plural(k_tiles, "k tile"));
}

}  // namespace

std::vector<ConfigDecision> config_reasons(const ConfigRequest& r, const ConfigChoice& choice,
                                           const std::string& swizzle_figures) {
  const MatmulConfig& c = choice.config;
  const ConfigCandidate& chosen = choice.candidates[choice.chosen];
  const bool one_wave = chosen.waves == 1;
  const std::string waves = plural(chosen.waves, "wave");
  std::vector<ConfigDecision> list;
  if (choice.config.ab_swapped)
    list.push_back({"ab_swapped", "true",
                    r.m < kSmallM ? fmt::format("M = {} is below {}: M becomes the MMA's N", r.m, kSmallM)
                                  : "better than with operands as given"});
  list.push_back({"cta_group", fmt::to_string(c.cta_group), cta_group_reason(r, chosen)});
  list.push_back({"mma", fmt::format("[{}, {}, {}]", c.mma_m, c.mma_n, c.mma_k), mma_reason(r, choice)});
  list.push_back(
      {"cluster", fmt::format("[{}, {}, 1]", c.cluster_m, c.cluster_n), c.cta_group == 2 ? "the pair" : "one CTA"});
  list.push_back({"k_group_size", fmt::to_string(c.k_group_size), k_group_reason(chosen, c, r.k)});
  list.push_back({"block_swizzle", fmt::to_string(c.block_swizzle),
                  c.block_swizzle == 0 ? fmt::format("{}, tiles are swizzled from {}", waves, kWavesToSwizzle)
                                       : fmt::format("rows of A and B that a wave reads: {}", swizzle_figures)});
  list.push_back({"raster_order", "\"along_m\"", "the rule for every shape"});
  list.push_back(
      {"clc_stages", fmt::to_string(c.clc_stages),
       one_wave ? "1 wave, no CTA takes over another's work" : fmt::format("{}, CTAs take over work", waves)});
  list.push_back({"accum_stages", fmt::to_string(c.accum_stages),
                  one_wave ? "1 wave, no next tile to start during the epilogue"
                           : fmt::format("{}, the next tile starts during the epilogue", waves)});
  list.push_back({"stages", fmt::to_string(c.stages),
                  fmt::format("as many of {} bytes as fit {} bytes of shared memory{}", slot_bytes(c),
                              kSmemBudgetBytes, c.k_group_size > 1 ? ", in whole k groups" : "")});
  return list;
}

std::string config_toml(const ConfigChoice& choice) {
  std::string keys;
  const auto put = [&](std::string_view key, std::string_view value) {
    keys += fmt::format("{}{} = {}", keys.empty() ? "" : ", ", key, value);
  };
  const MatmulConfig defaults;
  if (choice.config.dtype != defaults.dtype) put("dtype", fmt::format("\"{}\"", name(choice.config.dtype)));
  if (choice.config.output != defaults.output) put("output", fmt::format("\"{}\"", name(choice.config.output)));
  for (const ConfigDecision& decision : choice.decisions) put(decision.key, decision.value);
  return fmt::format("config = {{ {} }}", keys);
}

}  // namespace sm100::host
