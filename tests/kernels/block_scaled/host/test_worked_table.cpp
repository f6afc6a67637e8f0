// SPDX-License-Identifier: Apache-2.0
// What follows from a block-scaled configuration: bytes of a stage, what its barrier expects, stages that fit,
// columns of tensor memory, arrivals.  Worked by hand from tile shapes and the memory of a CTA
// (docs/block-scaled.md).
#include <map>
#include <string>

#include "catch.h"
#include "kernels/block_scaled/block_scaled_kernel.h"
#include "kernels/block_scaled/host/block_scaled_rules.h"

using namespace sm100;
using namespace sm100::host;

namespace {

struct Row {
  BlockFormat format;
  int mma_m, mma_n, cta_group;
  uint32_t a, b, sfa, sfb, expect;
  int stages, columns;
};

constexpr BlockFormat kMxfp8 = BlockFormat::mxfp8, kMxfp4 = BlockFormat::mxfp4, kNvfp4 = BlockFormat::nvfp4;

constexpr Row kRows[] = {
    {kMxfp8, 128, 128, 1, 16384, 16384, 512, 512, 33792, 6, 2 * 128 + 24 + 24},
    {kMxfp8, 256, 256, 2, 16384, 16384, 512, 1024, 68608, 6, 256 + 24 + 48},
    {kNvfp4, 128, 64, 1, 16384, 8192, 2048, 2048, 28672, 7, 2 * 64 + 112 + 112},
    {kNvfp4, 128, 128, 1, 16384, 16384, 2048, 2048, 36864, 5, 2 * 128 + 80 + 80},
    {kNvfp4, 128, 192, 1, 16384, 24576, 2048, 4096, 47104, 4, 192 + 64 + 128},
    {kNvfp4, 128, 256, 1, 16384, 32768, 2048, 4096, 55296, 3, 256 + 48 + 96},
    {kNvfp4, 256, 128, 2, 16384, 8192, 2048, 2048, 57344, 7, 2 * 128 + 112 + 112},
    {kNvfp4, 256, 256, 2, 16384, 16384, 2048, 4096, 77824, 5, 256 + 80 + 160},
    {kMxfp4, 128, 128, 1, 16384, 16384, 1024, 1024, 34816, 6, 2 * 128 + 48 + 48},
};

BlockScaledConfig config_of(const Row& row) {
  BlockScaledConfig c;
  c.format = row.format;
  c.dtype = row.format == kMxfp8 ? DataType::e4m3 : DataType::e2m1;
  c.scale_type = row.format == kNvfp4 ? ScaleType::ue4m3 : ScaleType::ue8m0;
  c.mma_m = row.mma_m, c.mma_n = row.mma_n, c.mma_k = row.format == kMxfp8 ? 32 : 64;
  c.cta_group = c.cluster_m = row.cta_group;
  c.accum_stages = default_accum_stages(c);
  c.stages = default_stages(c);
  return c;
}

}  // namespace

TEST_CASE("stage bytes, expected bytes, stages and columns of block-scaled configurations") {
  for (const Row& row : kRows) {
    const BlockScaledConfig c = config_of(row);
    CAPTURE(name(row.format), row.mma_m, row.mma_n, row.cta_group);
    CHECK(a_tile(c).bytes() == row.a);
    CHECK(b_tile(c).bytes() == row.b);
    CHECK(sfa_tile(c).bytes() == row.sfa);
    CHECK(sfb_tile(c).bytes() == row.sfb);
    CHECK(stage_transaction_bytes(c) == row.expect);
    CHECK(c.stages == row.stages);
    CHECK(used_columns(c) == row.columns);
    CHECK(check_block_scaled(c, 512, 512, 512).empty());
    // What the kernel arms its barriers with is what the tiles of a stage have.
    const auto storage = storage_at<BlockScaledStorage>(c);
    CHECK(storage.tiles.stage_bytes() * uint32_t(c.cta_group) == row.expect);
  }
}

TEST_CASE("arrivals that the barriers of a block-scaled configuration expect") {
  struct {
    int cta_group, cluster_m, cluster_n;
    uint32_t input_empty, accum_empty, clc_empty;
  } const expected[] = {{1, 1, 1, 1, 128, 224},  {2, 2, 1, 1, 256, 416},  {1, 4, 4, 7, 128, 3104},
                        {2, 4, 4, 5, 256, 3104}, {1, 4, 2, 5, 128, 1568}, {1, 8, 2, 9, 128, 3104},
                        {2, 4, 1, 2, 256, 800}};
  for (const auto& e : expected) {
    CAPTURE(e.cta_group, e.cluster_m, e.cluster_n);
    BlockScaledConfig c = config_of({kMxfp8, 128 * e.cta_group, 128, e.cta_group});
    c.cluster_m = e.cluster_m, c.cluster_n = e.cluster_n;
    std::map<std::string, uint32_t> counts;
    for_each_barrier_array(c, storage_at<BlockScaledStorage>(c),
                           [&](const BarrierArray& array) { counts[array.name] = array.count; });
    CHECK(counts["input_full"] == 1);
    CHECK(counts["input_empty"] == e.input_empty);
    CHECK(counts["accum_full"] == 1);
    CHECK(counts["accum_empty"] == e.accum_empty);
    CHECK(counts["clc_full"] == 1);
    CHECK(counts["clc_empty"] == e.clc_empty);
    CHECK(counts["throttle_full"] == 32);
    CHECK(counts["throttle_empty"] == 32);
    CHECK(counts["tmem_dealloc"] == e.accum_empty);
  }
}

TEST_CASE("the scale columns of a stage overlap neither those of another nor the accumulators") {
  for (const Row& row : kRows) {
    const BlockScaledConfig c = config_of(row);
    CAPTURE(name(row.format), row.mma_n);
    std::vector<int> users(kTmemColumns);
    const auto use = [&](uint32_t first, int count) {
      for (int i = 0; i < count; ++i) ++users.at(first + size_t(i));
    };
    for (int t = 0; t < c.accum_stages; ++t) use(uint32_t(t * accum_stride_columns(c)), c.mma_n);
    for (int s = 0; s < c.stages; ++s) {
      for (int k = 0; k < sfa_tile(c).k_atoms; ++k) {
        for (int g = 0; g < sfa_tile(c).groups; ++g) use(sfa_column(c, s) + sfa_tile(c).column(g, k), 4);
        for (int g = 0; g < sfb_slot(c).groups; ++g) use(sfb_column(c, s) + sfb_slot(c).column(g, k), 4);
      }
    }
    CHECK(std::count(users.begin(), users.end(), 1) == row.columns);
    CHECK(std::count(users.begin(), users.end(), 0) == int(kTmemColumns) - row.columns);
  }
}

TEST_CASE("tiles of less than 64 columns have two more rings, and readers of tiles") {
  struct {
    BlockFormat format;
    int mma_n, cta_group;
    uint32_t sfb, expect;  ///< bytes of the SFB ring's stage in a CTA, and what input_full expects without it
    uint32_t scales_full, clc_empty, threads;
    int warps;
  } const expected[] = {
      // A 128 x 128 bytes, SFA 512 for each four scales of a row
      {kNvfp4, 32, 1, 2048, 16384 + 4096 + 2048, 128, 32 + 224 + 128, 288, 12},
      {kNvfp4, 48, 1, 4096, 16384 + 6144 + 2048, 128, 32 + 224 + 128, 288, 12},
      {kMxfp8, 8, 1, 512, 16384 + 1024 + 512, 128, 32 + 224 + 128, 288, 12},
      {kNvfp4, 32, 2, 2048, 2 * (16384 + 2048 + 2048), 256, 32 + 2 * (224 + 128), 288, 12},
      {kNvfp4, 64, 1, 2048, 28672, 0, 32 + 192, 160, 7},
  };
  for (const auto& e : expected) {
    CAPTURE(name(e.format), e.mma_n, e.cta_group);
    BlockScaledConfig c = config_of({e.format, 128 * e.cta_group, e.mma_n, e.cta_group});
    CHECK(check_block_scaled(c, 512, 512, 512).empty());
    CHECK(sfb_tile(c).bytes() == e.sfb);
    CHECK(stage_transaction_bytes(c) == e.expect);
    CHECK(storage_at<BlockScaledStorage>(c).tiles.stage_bytes() * uint32_t(c.cta_group) == e.expect);
    std::map<std::string, uint32_t> counts;
    for_each_barrier_array(c, storage_at<BlockScaledStorage>(c),
                           [&](const BarrierArray& array) { counts[array.name] = array.count; });
    CHECK(counts["clc_empty"] == e.clc_empty);
    CHECK(counts["scales_full"] == e.scales_full);
    CHECK(counts.count("sfb_full") == (e.scales_full > 0 ? 1 : 0));
    if (e.scales_full > 0) {
      CHECK(counts["sfb_full"] == 1);
      CHECK(counts["sfb_empty"] == 4);
      CHECK(counts["scales_empty"] == 1);
    }
    CHECK(tmem_address_threads(c) == int(e.threads));
    CHECK(warps(c) == e.warps);
  }
}
