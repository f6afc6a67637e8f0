// SPDX-License-Identifier: Apache-2.0
// The block-scaled matmul in CUTLASS's arrangement: columns of tensor memory with accumulators that overlap, counts
// of its barriers, the order of strips, what it refuses and in which words.
#include <fmt/format.h>

#include <map>

#include "catch.h"
#include "kernels/cutlass_block_scaled/cutlass_block_scaled_kernel.h"
#include "kernels/cutlass_block_scaled/host/cutlass_block_scaled_rules.h"
#include "kernels/matmul/host/matmul_launch.h"

using namespace sm100;
using namespace sm100::host;

namespace {

CutlassBlockScaledConfig nvfp4(int mma_n, int cta_group = 1) {
  CutlassBlockScaledConfig c;
  c.format = BlockFormat::nvfp4, c.dtype = DataType::e2m1, c.scale_type = ScaleType::ue4m3;
  c.mma_m = 128 * cta_group, c.mma_n = mma_n, c.mma_k = 64;
  c.cta_group = c.cluster_m = cta_group;
  const AccumulatorChoice accumulators = default_accumulators(c);
  c.accum_stages = accumulators.stages, c.overlap_columns = accumulators.overlap_columns;
  c.stages = default_cutlass_stages(c);
  c.scale_slots = default_scale_slots(c);
  return c;
}

std::string broken(const CutlassBlockScaledConfig& c, int m = 512, int n = 512, int k = 512) {
  std::string text;
  for (const RuleViolation& b : check_cutlass(c, m, n, k))
    text += fmt::format("{} = {}: {} ({})\n", b.key, b.value, b.allowed, b.why);
  return text;
}

}  // namespace

TEST_CASE("two accumulators of 256 columns that share 64, and one slot of scales, fit tensor memory") {
  const CutlassBlockScaledConfig c = nvfp4(256);
  CHECK(c.accum_stages == 1);
  CHECK(c.scale_slots == 1);
  CHECK(all_accumulator_columns(c) == 2 * 256 - 64);
  CHECK(sfa_column(c, 2) == 448);
  CHECK(sfb_column(c, 2) == 448 + 16);
  CHECK(used_columns(c) == 448 + 16 + 32);
  CHECK(broken(c).empty());
  // Scales of MXFP8 are narrow: a slot for each stage fits.
  CutlassBlockScaledConfig narrow = c;
  narrow.format = BlockFormat::mxfp8, narrow.dtype = DataType::e4m3, narrow.scale_type = ScaleType::ue8m0;
  narrow.mma_k = 32;
  narrow.stages = default_cutlass_stages(narrow);
  narrow.scale_slots = default_scale_slots(narrow);
  CHECK(narrow.stages == 4);
  CHECK(narrow.scale_slots == 4);
  CHECK(used_columns(narrow) == 448 + 4 * (4 + 8));
  CHECK(broken(narrow).empty());
}

TEST_CASE("accumulators of up to 192 columns do not overlap by default") {
  const CutlassBlockScaledConfig narrow = nvfp4(128), wide = nvfp4(192);
  CHECK(used_columns(narrow) == 2 * 128 + narrow.stages * (16 + 16));
  CHECK(narrow.scale_slots == narrow.stages);
  CHECK(used_columns(wide) == 2 * 192 + 16 + 32);
  CHECK(wide.scale_slots == 1);
}

TEST_CASE("the shared columns come first: the last strips of the first accumulator, the first of the second") {
  CutlassBlockScaledConfig c = nvfp4(256);
  CHECK(shared_strips(c) == 2);
  CHECK(strip_of(c, false, 0) == 7);
  CHECK(strip_of(c, false, 7) == 0);
  CHECK(strip_of(c, true, 0) == 0);
  c.strip_order = StripOrder::forward;
  CHECK(strip_of(c, false, 0) == 0);
  CHECK(strip_of(nvfp4(128), false, 0) == 0);
}

TEST_CASE("barriers of CUTLASS's arrangement: who arrives, how often") {
  CutlassBlockScaledConfig c = nvfp4(256, 2);
  const auto counts = [&] {
    std::map<std::string, uint32_t> all;
    for (const BarrierArray& b : barriers_of<CutlassStorage>(c)) all[b.name] = b.count;
    return all;
  };
  auto without = counts();
  CHECK(without.count("residual_full") == 0);
  CHECK(without["input_empty"] == 1);
  CHECK(without["accum_empty"] == 2 * 128);
  CHECK(without["clc_empty"] == 32 + 2 * (32 + 32 + 128));
  c.residual = true;
  auto with = counts();
  CHECK(with["residual_full"] == 1);
  CHECK(with["residual_empty"] == 128);
  CHECK(with["load_order"] == 1);
  CHECK(with["clc_empty"] == 32 + 2 * (32 + 32 + 128 + 32));
}

TEST_CASE("what the arrangement refuses") {
  CutlassBlockScaledConfig c = nvfp4(256);
  c.overlap_columns = 0, c.accum_stages = 2;
  CHECK(broken(c) ==
        "config.accum_stages = 2: fewer accumulators, or some that overlap (2 accumulators take 512 columns, 1 "
        "slot of "
        "16 + 32 columns of scales 48, together 560: tensor memory has 512)\n");
  c.accum_stages = 1;
  CHECK(broken(c).empty());
  CHECK(broken(c, 512, 12, 512) ==
        "problem.n = 12: multiples of 8 (a row of C in bf16 must be a multiple of 16 bytes)\n");
}
