// SPDX-License-Identifier: Apache-2.0
// What follows from a blockwise configuration: bytes of a stage, what its barrier expects, stages that fit, columns
// of tensor memory, registers, arrivals.  Worked by hand from tile shapes and the memory of a CTA
// (docs/blockwise.md).
#include <map>
#include <string>

#include "catch.h"
#include "kernels/blockwise/blockwise_kernel.h"
#include "kernels/blockwise/host/blockwise_rules.h"

using namespace sm100;
using namespace sm100::host;

namespace {

struct Row {
  int mma_m, mma_n, cta_group;
  Swizzle swizzle;
  DataType output, scale_dtype;
  uint32_t a, b, scales, expect;
  int stages, strip, registers;
};

constexpr Swizzle k128 = Swizzle::b128, k64 = Swizzle::b64;
constexpr DataType kBf16 = DataType::bf16, kF32 = DataType::f32;

constexpr Row kRows[] = {
    {64, 64, 1, k128, kBf16, kF32, 8192, 8192, 256, 16640, 13, 32, 32},
    {64, 96, 1, k128, kBf16, kF32, 8192, 12288, 256, 20736, 10, 32, 48},
    {64, 136, 1, k128, kBf16, kF32, 8192, 17408, 256, 25856, 8, 8, 68},
    {64, 256, 1, k128, kBf16, kF32, 8192, 32768, 256, 41216, 5, 32, 128},
    {128, 64, 1, k64, kBf16, kF32, 8192, 4096, 512, 12800, 16, 32, 64},
    {128, 128, 1, k128, kBf16, kF32, 16384, 16384, 512, 33280, 6, 32, 128},
    {128, 160, 1, k128, kBf16, kF32, 16384, 20480, 512, 37376, 5, 32, 160},
    {128, 256, 2, k128, kBf16, kF32, 8192, 16384, 256, 2 * 24832, 8, 32, 128},
    {256, 128, 2, k128, kBf16, kF32, 16384, 8192, 512, 2 * 25088, 8, 32, 128},
    {256, 128, 2, k128, kF32, kF32, 16384, 8192, 512, 2 * 25088, 7, 32, 128},
    {64, 64, 1, k128, kBf16, kBf16, 8192, 8192, 128, 16512, 13, 32, 32},
    {128, 128, 1, k128, kBf16, kBf16, 16384, 16384, 256, 33024, 6, 32, 128},
    {128, 256, 2, k128, kBf16, kBf16, 8192, 16384, 128, 2 * 24704, 8, 32, 128},
};

BlockwiseConfig config_of(const Row& row) {
  BlockwiseConfig c;
  c.mma_m = row.mma_m, c.mma_n = row.mma_n;
  c.cta_group = c.cluster_m = row.cta_group;
  c.swizzle = row.swizzle, c.output = row.output, c.scale_dtype = row.scale_dtype;
  c.stages = default_stages(c);
  return c;
}

}  // namespace

TEST_CASE("stage bytes, expected bytes, stages, columns and registers of blockwise configurations") {
  for (const Row& row : kRows) {
    const BlockwiseConfig c = config_of(row);
    CAPTURE(row.mma_m, row.mma_n, row.cta_group);
    CHECK(a_tile(c).bytes() == row.a);
    CHECK(b_tile(c).bytes() == row.b);
    CHECK(a_scales_bytes(c) == row.scales);
    CHECK(stage_transaction_bytes(c) == row.expect);
    CHECK(c.stages == row.stages);
    CHECK(strip_columns(c) == row.strip);
    CHECK(sum_registers(c) == row.registers);
    CHECK(accum_stride_columns(c) == 256);  // of two accumulators
    CHECK(check_blockwise(c, 512, 512, 512).empty());
    // A strip has one scale of B: its columns are of one block.
    CHECK(BlockwiseConfig::scale_block % strip_columns(c) == 0);
    // What the kernel arms its barriers with is what the tiles of a stage have.
    const auto storage = storage_at<BlockwiseStorage>(c);
    CHECK(storage.tiles.stage_bytes() * uint32_t(c.cta_group) == row.expect);
  }
}

TEST_CASE("arrivals that the barriers of a blockwise configuration expect") {
  struct {
    int cta_group, cluster_m, cluster_n;
    uint32_t input_empty, accum_empty, clc_empty;
  } const expected[] = {{1, 1, 1, 1 + 4, 128, 224},   {2, 2, 1, 1 + 8, 256, 416},   {1, 2, 1, 2 + 8, 128, 416},
                        {1, 4, 4, 7 + 64, 128, 3104}, {2, 4, 4, 5 + 64, 256, 3104}, {1, 4, 2, 5 + 32, 128, 1568},
                        {1, 8, 2, 9 + 64, 128, 3104}, {2, 4, 1, 2 + 16, 256, 800}};
  for (const auto& e : expected) {
    CAPTURE(e.cta_group, e.cluster_m, e.cluster_n);
    BlockwiseConfig c;
    c.mma_m = 128 * e.cta_group, c.stages = 4;
    c.cta_group = e.cta_group, c.cluster_m = e.cluster_m, c.cluster_n = e.cluster_n;
    std::map<std::string, BarrierArray> rows;
    for_each_barrier_array(c, storage_at<BlockwiseStorage>(c),
                           [&](const BarrierArray& array) { rows[array.name] = array; });
    CHECK(rows["input_full"].count == 1);
    CHECK(rows["input_empty"].count == e.input_empty);
    CHECK(std::string(rows["input_empty"].arrives) == "mma, epilogue");
    CHECK(std::string(rows["input_empty"].arrives_with) == "tcgen05.commit, fenced mbarrier.arrive");
    CHECK(rows["accum_full"].count == 1);
    CHECK(rows["accum_empty"].count == e.accum_empty);
    CHECK(rows["clc_full"].count == 1);
    CHECK(rows["clc_empty"].count == e.clc_empty);
    CHECK(rows["throttle_full"].count == 32);
    CHECK(rows["throttle_empty"].count == 32);
    CHECK(rows["tmem_dealloc"].count == e.accum_empty);
  }
}

TEST_CASE("tiles that lie in more than two blocks of columns are counted as such") {
  for (int mma_n = 8; mma_n <= 256; mma_n += 8) {
    BlockwiseConfig c;
    c.mma_n = mma_n;
    int most = 0;
    for (int tile = 0; tile < 64; ++tile)
      most = std::max(most, 1 + n_block_in_tile(c, tile, (tile + 1) * mma_n - 1));
    CAPTURE(mma_n);
    CHECK(n_blocks_per_tile(c) == most);
  }
}
