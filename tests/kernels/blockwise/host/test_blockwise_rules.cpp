// SPDX-License-Identifier: Apache-2.0
// What the blockwise matmul refuses, and in which words.
#include <fmt/format.h>

#include "catch.h"
#include "kernels/blockwise/host/blockwise_rules.h"
#include "kernels/blockwise/host/choose_blockwise.h"

using namespace sm100;
using namespace sm100::host;

namespace {

BlockwiseConfig shaped(int mma_m, int mma_n, int cta_group = 1) {
  BlockwiseConfig c;
  c.mma_m = mma_m, c.mma_n = mma_n;
  c.cta_group = c.cluster_m = cta_group;
  c.stages = 1;
  return c;
}

std::string broken(const BlockwiseConfig& c, int m = 512, int n = 512, int k = 512) {
  std::string text;
  for (const RuleViolation& b : check_blockwise(c, m, n, k))
    text += fmt::format("{} = {}: {} ({})\n", b.key, b.value, b.allowed, b.why);
  return text;
}

}  // namespace

TEST_CASE("the shapes of the blockwise matmul are those of FP8 MMAs") {
  CHECK(broken(shaped(64, 8)).empty());
  CHECK(broken(shaped(64, 136)).empty());
  CHECK(broken(shaped(256, 128, 2)).empty());
  CHECK(broken(shaped(256, 64)) ==
        "config.mma = [256, 64, 32]: M = 64 or 128 (shapes of tcgen05.mma with cta_group 1)\n");
  BlockwiseConfig bf16_k = shaped(128, 128);
  bf16_k.mma_k = 16;
  CHECK(broken(bf16_k) == "config.mma = [128, 128, 16]: K = 32 (one MMA takes 32 bytes of K, 32 e4m3 elements)\n");
}

TEST_CASE("a tile's columns are of two blocks of B's scales at most") {
  CHECK(broken(shaped(64, 192)).empty());
  CHECK(broken(shaped(64, 256)).empty());
  CHECK(broken(shaped(64, 224)) ==
        "config.mma = [64, 224, 32]: N = 8 to 144 in steps of 8, 160, 192, 256 (some tiles of 224 columns lie "
        "in 3 blocks of "
        "128, the epilogue has scales of two)\n");
}

TEST_CASE("a width that no MMA has is answered with those that the epilogue takes, too") {
  CHECK(broken(shaped(128, 152)) ==
        "config.mma = [128, 152, 32]: N = 16 to 160 in steps of 16 (shapes of this kernel family with M = "
        "128)\n");
}

TEST_CASE("a tile's sums fit a thread's registers") {
  CHECK(broken(shaped(128, 160)).empty());
  CHECK(broken(shaped(128, 256, 2)).empty());
  CHECK(broken(shaped(128, 256)) ==
        "config.mma = [128, 256, 32]: N = 16 to 160 in steps of 16 (a thread sums 256 elements in "
        "registers, at most 160 leave room "
        "for the rest)\n");
  CHECK(broken(shaped(256, 256, 2)) ==
        "config.mma = [256, 256, 32]: N = 16 to 160 in steps of 16 (a thread sums 256 elements in "
        "registers, at most 160 leave room "
        "for the rest)\n");
}

TEST_CASE("a k tile is a block or half of one") {
  BlockwiseConfig c = shaped(128, 128);
  c.swizzle = Swizzle::b64;
  CHECK(broken(c).empty());
  c.swizzle = Swizzle::b32;
  CHECK(broken(c) ==
        "config.swizzle = 32: 128, 64 (a k tile, one swizzle span of bytes, is a block of 128 or half of it)\n");
}

TEST_CASE("the blockwise matmul has neither programmatic launches nor swapped operands") {
  BlockwiseConfig c = shaped(128, 128);
  c.pdl = true;
  CHECK(broken(c) ==
        "config.pdl = true: false (no PDL: epilogue warps load the scales of B without griddepcontrol.wait)\n");
  c.pdl = false, c.ab_swapped = true;
  CHECK(broken(c) ==
        "config.ab_swapped = true: false (A has a scale for each row, B for each block of rows: they cannot change "
        "places)\n");
}

TEST_CASE("FP8 rows of the blockwise matmul are multiples of 16 bytes, its scales are not asked") {
  CHECK(broken(shaped(128, 128), 333, 72, 80).empty());
  CHECK(broken(shaped(128, 128), 333, 72, 72) ==
        "problem.k = 72: multiples of 16 (a row of A and B in e4m3 must be a multiple of 16 bytes)\n");
}

TEST_CASE("a configuration is chosen for every shape of the blockwise matmul that has one") {
  for (const int m : {1, 16, 32, 100, 1000, 8192})
    for (const int n : {8, 576, 4096})
      for (const int sms : {1, 8, 148}) {
        CAPTURE(m, n, sms);
        const BlockwiseChoice choice = choose_blockwise({.m = m, .n = n, .k = 512, .sms = sms}, {});
        CHECK(choice.broken.empty());
        CHECK(check_blockwise(choice.blockwise, m, n, 512).empty());
        CHECK(choice.blockwise.stages == default_stages(choice.blockwise));
      }
  CHECK(choose_blockwise({.m = 64, .n = 64, .k = 20, .sms = 1}, {}).broken.size() == 1);
}
