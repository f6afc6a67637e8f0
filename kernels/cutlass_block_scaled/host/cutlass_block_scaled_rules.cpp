// SPDX-License-Identifier: Apache-2.0
#include "kernels/cutlass_block_scaled/host/cutlass_block_scaled_rules.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/cutlass_block_scaled/cutlass_block_scaled_kernel.h"
#include "kernels/matmul/host/config_rule_checks.h"
#include "kernels/matmul/host/config_search.h"

namespace sm100::host {
namespace {

using CutlassRules = Rules<CutlassBlockScaledConfig>;

constexpr int kCutlassOverlap = 64;  ///< columns: CUTLASS's epilogue tile of a tile of 256 columns
constexpr int kMostResidualStages = 16;

int stages_in_shared_memory(const CutlassBlockScaledConfig& config) {
  CutlassBlockScaledConfig c = config;
  c.stages = kSmemBudgetBytes / int(slot_bytes(c));
  while (c.stages > 0 && storage_bytes<CutlassStorage>(c) > uint32_t(kSmemBudgetBytes)) --c.stages;
  return c.stages;
}

/// Slots of scales that fit beside the accumulators.
int slots_in_tensor_memory(const CutlassBlockScaledConfig& c) {
  return std::max(0, int(kTmemColumns) - all_accumulator_columns(c)) / scale_slot_columns(c);
}

void check_mma_shape(CutlassRules& rules) {
  const CutlassBlockScaledConfig& c = rules.config;
  CutlassRules::Sound& sound = rules.sound;
  sound.cta_group = rules.require(c.cta_group == 1 || c.cta_group == 2, "config.cta_group", c.cta_group, "1, 2",
                                  "CTAs of one MMA");
  if (sound.cta_group)
    sound.mma_m =
        rules.require(c.mma_m == kScaleAtomRows * c.cta_group, "config.mma", mma_text(c),
                      fmt::format("M = {}", kScaleAtomRows * c.cta_group),
                      fmt::format("cta_group {}: each CTA has the 128 rows of a scale atom", c.cta_group));
  sound.mma_n = rules.require(c.mma_n == 64 || c.mma_n == 128 || c.mma_n == 192 || c.mma_n == 256, "config.mma",
                              mma_text(c), "N = 64, 128, 192, 256", "scales are copied in whole atoms");
  const int k = kMmaKBytes * 8 / operand_bits(c);
  rules.require(c.mma_k == k, "config.mma", mma_text(c), fmt::format("K = {}", k),
                fmt::format("one MMA takes 32 bytes of K, {} {} elements", k, operand_name(c)));
}

/// What the arrangement leaves out.
void check_kind(CutlassRules& rules) {
  const CutlassBlockScaledConfig& c = rules.config;
  if (c.format != BlockFormat::nvfp4)
    rules.require(c.scale_type == ScaleType::ue8m0, "problem.scale_type", name(c.scale_type), "\"ue8m0\"",
                  fmt::format("the scales of {} are powers of two", operand_name(c)));
  rules.require(!c.ab_swapped, "config.ab_swapped", "true", "false",
                "not implemented: swapped operands with a residual that comes by TMA");
}

/// A multicast of scales would be limited to four CTAs along each side; they are not multicast here, but a kernel
/// of this arrangement keeps to CUTLASS's limit.
void check_cutlass_cluster(CutlassRules& rules) {
  const CutlassBlockScaledConfig& c = rules.config;
  if (!rules.sound.cluster) return;
  rules.require(c.cluster_m <= 4 && c.cluster_n <= 4, "config.cluster", cluster_text(c),
                "at most 4 CTAs along M and N", "CUTLASS's limit for scaled operands");
}

void check_overlap(CutlassRules& rules) {
  const CutlassBlockScaledConfig& c = rules.config;
  if (!rules.sound.mma_n || !rules.sound.accum_stages) return;
  const int strip = strip_columns(c);
  rules.sound.accum_stages = rules.require(
      c.overlap_columns >= 0 && c.overlap_columns < c.mma_n && c.overlap_columns % strip == 0, "config.overlap",
      c.overlap_columns, fmt::format("0 to {} in steps of {}", c.mma_n - strip, strip),
      fmt::format("columns that two accumulators share: whole strips of the epilogue, fewer than N = {}", c.mma_n));
  if (!rules.sound.accum_stages) return;
  if (overlaps(c))
    rules.sound.accum_stages = rules.require(c.accum_stages == 1, "config.accum_stages", c.accum_stages, "1",
                                             "two accumulators that overlap are handed over as one stage");
  else
    rules.require(c.strip_order == StripOrder::shared_first, "config.strip_order", "forward", "\"shared_first\"",
                  "says which strips of accumulators that overlap come first, and none do");
}

void check_residual(CutlassRules& rules) {
  const CutlassBlockScaledConfig& c = rules.config;
  rules.require(c.residual_stages >= 1 && c.residual_stages <= kMostResidualStages, "config.residual_stages",
                c.residual_stages, fmt::format("1 to {}", kMostResidualStages),
                "strips of the residual in shared memory");
}

/// Accumulators and slots of scales share the 512 columns.
void check_tensor_memory(CutlassRules& rules) {
  const CutlassBlockScaledConfig& c = rules.config;
  if (!rules.sound.mma_m || !rules.sound.mma_n || !rules.sound.accum_stages || c.stages < 1) return;
  if (!rules.require(c.scale_slots == 1 || c.scale_slots == c.stages, "config.scale_slots", c.scale_slots,
                     c.stages == 1 ? "1" : fmt::format("1, {}", c.stages),
                     "one slot of scales for all ring stages, or one for each"))
    return;
  const int most = slots_in_tensor_memory(c);
  const std::string sum = fmt::format(
      "{} accumulator{} {} columns{}, {} slot{} of {} + {} columns of scales {}, together {}: tensor memory "
      "has {}",
      accumulators(c), accumulators(c) == 1 ? " takes" : "s take", all_accumulator_columns(c),
      overlaps(c) ? fmt::format(", {} of them shared", c.overlap_columns) : "", c.scale_slots,
      c.scale_slots == 1 ? "" : "s", sfa_tile(c).columns(), sfb_slot(c).columns(),
      c.scale_slots * scale_slot_columns(c), used_columns(c), kTmemColumns);
  if (most < 1)
    rules.require(false, overlaps(c) ? "config.overlap" : "config.accum_stages",
                  overlaps(c) ? c.overlap_columns : c.accum_stages,
                  overlaps(c) ? "more columns that accumulators share" : "fewer accumulators, or some that overlap",
                  sum);
  else
    rules.require(c.scale_slots <= most, "config.scale_slots", c.scale_slots,
                  most < c.stages ? "1" : fmt::format("1, {}", c.stages), sum);
}

std::string waves_of(const ConfigCandidate& c) {
  return fmt::format("{} wave{}", c.waves, c.waves == 1 ? "" : "s");
}

CutlassBlockScaledConfig configured(const CutlassBlockScaledConfig& operands, const ConfigCandidate& candidate) {
  CutlassBlockScaledConfig c = operands;
  c.mma_m = candidate.mma_m, c.mma_n = candidate.mma_n;
  c.cta_group = c.cluster_m = candidate.cta_group;
  c.clc_stages = candidate.waves == 1 ? 0 : 2;
  const AccumulatorChoice accumulators = default_accumulators(c);
  c.accum_stages = candidate.waves == 1 ? 1 : accumulators.stages;
  c.overlap_columns = candidate.waves == 1 ? 0 : accumulators.overlap_columns;
  c.stages = default_cutlass_stages(c);
  c.scale_slots = default_scale_slots(c);
  return c;
}

std::vector<ConfigDecision> reasons(const ConfigRequest& r, const CutlassBlockScaledConfig& c,
                                    const ConfigCandidate& won) {
  const std::string waves = waves_of(won);
  const std::string next = c.accum_stages == 1 && !overlaps(c)
                               ? fmt::format("{}, no next tile to start during the epilogue", waves)
                               : fmt::format("{}, the next tile starts during the epilogue", waves);
  std::vector<ConfigDecision> list = {
      {"cta_group", fmt::to_string(c.cta_group),
       c.cta_group == 2 ? "pairs of CTAs load each tile of B once"
                        : fmt::format("M = {} is one CTA's tile, or there is 1 SM", r.m)},
      {"mma", fmt::format("[{}, {}, {}]", c.mma_m, c.mma_n, c.mma_k),
       fmt::format("{} tile{} in {} of {}, fewest; of as few the smallest of N = 64, 128, 192, 256", won.tiles,
                   won.tiles == 1 ? "" : "s", waves, r.sms / c.cta_group)},
      {"cluster", fmt::format("[{}, {}, 1]", c.cluster_m, c.cluster_n), c.cta_group == 2 ? "the pair" : "one CTA"},
      {"clc_stages", fmt::to_string(c.clc_stages),
       fmt::format("{}, {}", waves, won.waves == 1 ? "no CTA takes over another's work" : "CTAs take over work")},
      {"accum_stages", fmt::to_string(c.accum_stages), overlaps(c) ? "two that overlap are one stage" : next},
      {"overlap", fmt::to_string(c.overlap_columns),
       overlaps(c)
           ? fmt::format("two accumulators of {} columns and scales exceed {}; {}", c.mma_n, kTmemColumns, next)
           : "each accumulator has its own columns"},
      {"stages", fmt::to_string(c.stages),
       fmt::format("as many of {} bytes as fit {} bytes of shared memory", slot_bytes(c), kSmemBudgetBytes)},
      {"scale_slots", fmt::to_string(c.scale_slots),
       c.scale_slots == c.stages
           ? "a slot of scales for each stage"
           : fmt::format("slots of {} columns for all stages do not fit beside {} of accumulators",
                         scale_slot_columns(c), all_accumulator_columns(c))}};
  return list;
}

}  // namespace

AccumulatorChoice default_accumulators(const CutlassBlockScaledConfig& c) {
  return c.mma_n == 256 ? AccumulatorChoice{1, kCutlassOverlap} : AccumulatorChoice{2, 0};
}

int default_cutlass_stages(const CutlassBlockScaledConfig& c) { return stages_in_shared_memory(c); }

int default_scale_slots(const CutlassBlockScaledConfig& c) {
  return c.stages <= slots_in_tensor_memory(c) ? c.stages : 1;
}

std::vector<RuleViolation> check_cutlass(const CutlassBlockScaledConfig& config, int m, int n, int k) {
  CutlassRules rules{config, {}, {}};
  check_mma_shape(rules);
  check_kind(rules);
  check_block_swizzle(rules);
  rules.sound.swizzle = true;  // not a choice
  check_cluster(rules);
  check_cutlass_cluster(rules);
  check_ring_counts(rules);
  check_residual(rules);
  check_shared_memory(rules, stages_in_shared_memory);
  check_overlap(rules);
  check_tensor_memory(rules);
  check_problem(rules, m, n, k, [](int) {});
  return std::move(rules.broken);
}

std::vector<ConfigWarning> cutlass_warnings(const CutlassBlockScaledConfig& c) {
  std::vector<ConfigWarning> all = config_warnings(c);
  if (c.strip_order == StripOrder::forward)
    all.push_back({"config.strip_order", "forward",
                   "the first accumulator is released before the columns that it shares have been read"});
  return all;
}

CutlassChoice choose_cutlass(const ConfigRequest& request, const CutlassBlockScaledConfig& operands) {
  if (request.sms < 1) throw std::invalid_argument("a configuration needs at least one SM");
  CutlassChoice choice;
  const int cta_group = request.m <= kScaleAtomRows || request.sms < 2 ? 1 : 2;
  for (const int mma_n : {256, 192, 128, 64})
    add_candidate(choice.candidates, request, view_of(request, false), cta_group, kScaleAtomRows, mma_n);
  sort_candidates(choice.candidates);
  for (ConfigCandidate& candidate : choice.candidates) {
    const CutlassBlockScaledConfig c = configured(operands, candidate);
    choice.broken = check_cutlass(c, request.m, request.n, request.k);
    if (choice.broken.empty()) {
      choice.cutlass = c;
      choice.decisions = reasons(request, c, candidate);
      return choice;
    }
    const RuleViolation& first = choice.broken.front();
    candidate.broken =
        fmt::format("{} = {}: allowed are {} ({})", first.key, first.value, first.allowed, first.why);
    ++choice.chosen;
  }
  return choice;  // what of the shape no configuration can mend
}

}  // namespace sm100::host
