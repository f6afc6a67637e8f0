// SPDX-License-Identifier: Apache-2.0
// [problem] and [config] of the direct kernel: what they mean, and one line for what is wrong.
#include <nlohmann/json.hpp>

#include "catch.h"
#include "kernels/direct/host/direct_run.h"
#include "kernels/direct/operand_slabs.h"
#include "scratch_directory.h"

using namespace sm100;
using namespace sm100::host;

namespace {

Scenario load(std::vector<std::string> sets = {}) {
  ScratchDirectory scratch;
  const auto path = scratch.write("s.toml",
                                  "kernel = 'direct'\nprofile = 'b200'\n[problem]\nm = 512\nn = 768\nk = 1024\n"
                                  "[config]\nblock_n = 256\n");
  return load_scenario(path, sets);
}

std::string complaint(std::vector<std::string> sets) {
  try {
    load(sets);
  } catch (const InputError& error) { return error.what(); }
  return "";
}

}  // namespace

TEST_CASE("a direct scenario: a CTA per 128 rows, in pairs, and the matmul's tensors") {
  const Scenario s = load();
  CHECK(s.problem_as<DirectProblem>().config == DirectConfig{});  // the defaults are matmul_v5's
  const auto problem = make_run(s);
  const LaunchShape shape = problem->launch();
  CHECK(shape.grid == Dim3{12, 1, 1});  // 512 / 128 x 768 / 256
  CHECK(shape.cluster == Dim3{2, 1, 1});
  CHECK(shape.warps == 4);
  CHECK(shape.smem_bytes == 229376 + 15 * 8 + 4);
  CHECK(problem->tensors().size() == 3);
  CHECK(problem->tensors()[2].bytes == 512 * 768 * 2);
  CHECK(problem->roles() == std::vector<std::string_view>{"load", "mma", "epilogue"});
  const auto barriers = problem->barriers();
  REQUIRE(barriers.size() == 3);
  CHECK(barriers[0].count == 2);  // each CTA of a pair announces its bytes
  CHECK(barriers[1].count == 1);
  CHECK(barriers[0].stages == 7);
  const auto json = nlohmann::json::parse(s.configuration_json());
  CHECK(json["roles"] == "specialised");
  CHECK(json["swizzle"] == 128);
  CHECK(json["block_m"] == 128);
}

TEST_CASE(
    "a persistent direct scenario: as many CTAs as SMs, warps of its own for the epilogue, a ring of "
    "accumulators") {
  const auto problem = make_run(load({"config.roles=persistent", "run.sms=6"}));
  CHECK(problem->launch().grid == Dim3{6, 1, 1});
  CHECK(problem->launch().warps == 6);
  CHECK(problem->launch().smem_bytes == 229376 + 18 * 8 + 4);
  const auto barriers = problem->barriers();
  REQUIRE(barriers.size() == 4);
  CHECK(barriers[2].stages == 2);
  CHECK(barriers[2].count == 1);
  CHECK(barriers[3].stages == 2);
  CHECK(barriers[3].count == 8);  // a lane of each epilogue warp of both CTAs
  CHECK(problem->role(0) == "load");
  CHECK(problem->role(1) == "mma");
  CHECK(problem->role(5) == "epilogue");
  // A grid of its own, and never more CTAs than tiles.
  CHECK(make_run(load({"config.roles=persistent", "config.ctas=4", "run.sms=6"}))->launch().grid == Dim3{4, 1, 1});
  CHECK(make_run(load({"config.roles=persistent", "config.ctas=148"}))->launch().grid == Dim3{12, 1, 1});
}

TEST_CASE("a direct scenario of one thread has two roles and single CTAs") {
  const auto problem =
      make_run(load({"config.roles=one_thread", "config.cta_group=1", "config.stages=2", "config.swizzle=0"}));
  CHECK(problem->roles() == std::vector<std::string_view>{"main", "epilogue"});
  CHECK(problem->role(0) == "main");
  CHECK(problem->role(1) == "epilogue");
  CHECK(problem->launch().cluster == Dim3{1, 1, 1});
  CHECK(problem->barriers()[0].count == 1);
}

TEST_CASE("a direct scenario's wrong values") {
  const auto contains = [](const char* text) { return Catch::Contains(text); };
  CHECK_THAT(
      complaint({"config.block_n=48"}),
      contains(
          "'config.block_n' = 48: allowed are multiples of 32 from 32 to 256 (N of tcgen05.mma with M = 256)"));
  CHECK(complaint({"config.block_n=48", "config.cta_group=1"}) == "");
  CHECK_THAT(complaint({"config.block_k=96"}),
             contains("'config.block_k' = 96: allowed are multiples of 64 from 64"));
  CHECK(complaint({"config.block_k=32", "config.swizzle=0"}) == "");
  CHECK_THAT(complaint({"config.block_k=24", "config.swizzle=0"}),
             contains("allowed are multiples of 16 from 16 to 2048"));
  CHECK_THAT(complaint({"config.stages=8"}), contains("'config.stages' = 8: allowed are 1 to 7 (32768 bytes each"));
  CHECK_THAT(complaint({"config.stages=0"}), contains("allowed are 1 to 7"));
  CHECK_THAT(complaint({"config.block_k=1024"}), contains("a stage of 524288 bytes does not fit"));
  CHECK_THAT(complaint({"config.swizzle=64"}), contains("'config.swizzle' = 64: allowed are 128 and 0"));
  CHECK_THAT(complaint({"config.tma_rank=4"}), contains("config.tma_rank"));
  CHECK_THAT(complaint({"config.cta_group=3"}), contains("config.cta_group"));
  CHECK_THAT(complaint({"config.roles=two"}), contains("\"one_thread\", \"specialised\""));
  CHECK_THAT(complaint({"config.roles=one_thread"}),
             contains("with cta_group 2 allowed are \"specialised\" and \"persistent\""));
  CHECK_THAT(complaint({"config.accum_stages=2"}), contains("config.accum_stages"));
  CHECK_THAT(complaint({"config.ctas=148"}), contains("only with roles = \"persistent\""));
  CHECK_THAT(complaint({"config.roles=persistent", "config.ctas=3"}), contains("allowed are multiples of 2"));
  CHECK_THAT(complaint({"config.roles=persistent", "config.accum_stages=3"}), contains("config.accum_stages"));
  CHECK_THAT(complaint({"config.store_bytes=8"}), contains("allowed are 16 and 32"));
  CHECK_THAT(complaint({"problem.m=1073741824", "problem.n=1073741824"}), contains("tiles of 128 x 256"));
  CHECK_THAT(complaint({"problem.m=384"}), contains("'problem.m' = 384: allowed are multiples of 256 from 256"));
  CHECK_THAT(complaint({"problem.n=128"}), contains("allowed are multiples of 256"));
  CHECK_THAT(complaint({"problem.k=1000"}), contains("allowed are multiples of 64"));
  CHECK_THAT(complaint({"profile=h200"}), contains("without tcgen05"));
}

TEST_CASE("raster: CTAs, or pairs, walk along N first inside a stripe") {
  const auto tile = [](int cta_group, int cta) {
    const DirectTile t = direct_tile(DirectConfig{.cta_group = cta_group}, cta, 16);
    return std::pair(t.m, t.n);
  };
  CHECK(tile(1, 0) == std::pair(0, 0));
  CHECK(tile(1, 15) == std::pair(0, 15));
  CHECK(tile(1, 16) == std::pair(1, 0));
  CHECK(tile(2, 1) == std::pair(1, 0));
  CHECK(tile(2, 31) == std::pair(1, 15));
  CHECK(tile(2, 35) == std::pair(3, 1));  // docs/measurements.md, law 5
}

TEST_CASE("operand slabs: a descriptor leads to the bytes that the copies wrote") {
  // Element (row, k) of a K-major tile of 64 rows: slab of k, row in it, byte in the row.
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b128})
    for (const int row : {0, 7, 8, 63})
      for (const int k : {0, 5, 8, 15, 16, 63, 64, 100, 127}) {
        CAPTURE(int(swizzle), row, k);
        const SmemTile tile{{0x2000}, {DataType::bf16, 64, 128, swizzle}};
        const uint32_t width = tile.shape.slab_row_bytes(), at = uint32_t(k) * 2;
        const uint32_t written =
            swizzle_address(swizzle, 0x2000 + at / width * 64 * width + uint32_t(row) * width + at % width);
        const SmemDescriptorFields f = decode(operand_descriptor(tile, k / 16));
        CHECK(validate(f) == SmemDescriptorError::none);
        CHECK(operand_address(f, Major::k, 2, uint32_t(row), uint32_t(k % 16)) == written);
      }
}
