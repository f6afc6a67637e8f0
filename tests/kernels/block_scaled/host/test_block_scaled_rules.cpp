// SPDX-License-Identifier: Apache-2.0
// What the block-scaled matmul refuses, and in which words.
#include <fmt/format.h>

#include "catch.h"
#include "kernels/block_scaled/host/block_scaled_rules.h"

using namespace sm100;
using namespace sm100::host;

namespace {

BlockScaledConfig nvfp4(int mma_m, int mma_n, int cta_group = 1) {
  BlockScaledConfig c;
  c.format = BlockFormat::nvfp4, c.dtype = DataType::e2m1, c.scale_type = ScaleType::ue4m3;
  c.mma_m = mma_m, c.mma_n = mma_n, c.mma_k = 64;
  c.cta_group = c.cluster_m = cta_group;
  c.accum_stages = default_accum_stages(c);
  c.stages = 1;
  return c;
}

std::string broken(const BlockScaledConfig& c, int m = 512, int n = 512, int k = 512) {
  std::string text;
  for (const RuleViolation& b : check_block_scaled(c, m, n, k))
    text += fmt::format("{} = {}: {} ({})\n", b.key, b.value, b.allowed, b.why);
  return text;
}

}  // namespace

TEST_CASE("the shapes of the block-scaled matmul") {
  CHECK(broken(nvfp4(128, 192)).empty());
  CHECK(broken(nvfp4(256, 256, 2)).empty());
  CHECK(broken(nvfp4(64, 128)) ==
        "config.mma = [64, 128, 64]: M = 128 (cta_group 1: each CTA has the 128 rows of a scale atom)\n");
  CHECK(broken(nvfp4(128, 128, 2)) ==
        "config.mma = [128, 128, 64]: M = 256 (cta_group 2: each CTA has the 128 rows of a scale atom)\n");
  CHECK(broken(nvfp4(128, 96)) ==
        "config.mma = [128, 96, 64]: N = 64, 128, 192, 256, or 8 to 56 in steps of 8 (from 64 on scales are copied "
        "in "
        "whole atoms, below warps store them row by row)\n");
  CHECK(broken(nvfp4(128, 56)).empty());
  CHECK(broken(nvfp4(256, 48, 2)).empty());
  CHECK(broken(nvfp4(256, 40, 2)) ==
        "config.mma = [256, 40, 64]: N = 64, 128, 192, 256, or 16 to 48 in steps of 16 (from 64 on scales are "
        "copied in "
        "whole atoms, below warps store them row by row)\n");
  BlockScaledConfig wrong_k = nvfp4(128, 128);
  wrong_k.mma_k = 32;
  CHECK(broken(wrong_k) ==
        "config.mma = [128, 128, 32]: K = 64 (one MMA takes 32 bytes of K, 64 nvfp4 elements)\n");
}

TEST_CASE("accumulators and scales share tensor memory") {
  BlockScaledConfig two_wide = nvfp4(128, 256);
  two_wide.accum_stages = 2;
  CHECK(
      broken(two_wide) ==
      "config.accum_stages = 2: 1 to 1 (2 accumulators of 256 columns and 1 stage of 16 + 32 columns of scales are "
      "560, tensor memory has 512)\n");
  BlockScaledConfig deep = nvfp4(256, 192, 2);
  deep.accum_stages = 2, deep.stages = 3;
  CHECK(
      broken(deep) ==
      "config.stages = 3: 1 to 2 (2 accumulators of 192 columns and 3 stages of 16 + 32 columns of scales are 528, "
      "tensor memory has 512)\n");
  CHECK(default_stages(deep) == 2);
}

TEST_CASE("scales of MXFP4 and MXFP8 are powers of two, those of NVFP4 may be") {
  BlockScaledConfig c = nvfp4(128, 128);
  c.scale_type = ScaleType::ue8m0;
  CHECK(broken(c).empty());
  c.format = BlockFormat::mxfp4, c.scale_type = ScaleType::ue4m3;
  CHECK(broken(c) == "problem.scale_type = ue4m3: \"ue8m0\" (the scales of mxfp4 are powers of two)\n");
}

TEST_CASE("a quantised output has whole blocks") {
  BlockScaledConfig c = nvfp4(128, 128);
  c.output = DataType::e2m1, c.scaled_output.block = 16;
  CHECK(broken(c, 100, 64).empty());
  CHECK(broken(c, 100, 80) ==
        "problem.n = 80: multiples of 32 (a row of C in e2m1 must be a multiple of 16 bytes)\n");
  c.output = DataType::e4m3, c.scaled_output.block = 32;
  CHECK(broken(c, 100, 48) == "problem.n = 48: multiples of 32 (32 neighbours in a row of C share a scale)\n");
  c.scaled_output.direction = ScaleDirection::columns;
  CHECK(broken(c, 100, 48) == "problem.m = 100: multiples of 32 (32 neighbours in a column of C share a scale)\n");
  CHECK(broken(c, 96, 48).empty());
  c.mma_n = 48;
  CHECK(broken(c, 96, 48) ==
        "config.mma = [128, 48, 64]: N in steps of 32 (a lane quantises so many columns at a time)\n");
  c.mma_n = 32;
  CHECK(broken(c, 96, 48).empty());
  c.scaled_output.block = 64;
  CHECK(broken(c, 128, 128) == "config.output_block = 64: 16, 32 (elements of C that share a scale)\n");
  c.scaled_output.block = 16, c.ab_swapped = true;
  CHECK(broken(c, 128, 128) ==
        "config.ab_swapped = true: false (tiles of e4m3 are quantised as they lie in tensor memory, not "
        "transposed)\n");
}

TEST_CASE("rows of packed operands are multiples of 16 bytes") {
  CHECK(broken(nvfp4(128, 128), 100, 200, 2112).empty());
  CHECK(broken(nvfp4(128, 128), 100, 200, 16) ==
        "problem.k = 16: multiples of 32 (a row of A and B in nvfp4 must be a multiple of 16 bytes)\n");
  CHECK(broken(nvfp4(128, 128), 100, 201, 64) ==
        "problem.n = 201: multiples of 8 (a row of C in bf16 must be a multiple of 16 bytes)\n");
}

TEST_CASE("clusters share tiles in slices, as those of the dense matmul") {
  BlockScaledConfig c = nvfp4(128, 192);
  c.cluster_m = 5;
  CHECK(broken(c) ==
        "config.cluster = [5, 1, 1]: a number of CTAs that divides 192 (5 CTAs load the 192 rows of a tile of B in "
        "slices)\n");
}
