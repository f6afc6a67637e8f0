// SPDX-License-Identifier: Apache-2.0
// What the grouped 1D-2D matmul has of its two parents: barriers of both rings, the bytes of a stage, and where
// each group's scales begin.
#include <map>
#include <string>

#include "catch.h"
#include "kernels/grouped_1d1d/host/token_rows.h"
#include "kernels/grouped_1d2d/grouped_1d2d_kernel.h"
#include "kernels/grouped_1d2d/host/choose_grouped_1d2d.h"
#include "kernels/grouped_1d2d/host/grouped_1d2d_rules.h"

using namespace sm100;
using namespace sm100::host;

namespace {

struct Row {
  int stages;
  uint32_t count;
  bool operator==(const Row&) const = default;
};

std::map<std::string, Row> barriers(const Grouped1d2dConfig& c) {
  std::map<std::string, Row> rows;
  for_each_barrier_array(c, storage_at<Grouped1d2dStorage>(c), [&](const BarrierArray& a) {
    if (a.stages > 0) rows[a.name] = {a.stages, a.count};
  });
  return rows;
}

Grouped1d2dConfig config(int cta_group, int work_stages = 0) {
  Grouped1d2dConfig c;
  c.cta_group = c.cluster_m = cta_group;
  c.mma_m = 128 * cta_group, c.stages = 4, c.work_stages = work_stages;
  return c;
}

Grouped1d2dProblem problem(TokenLayout layout) {
  Grouped1d2dProblem p;
  p.tokens = {130, 0, 101, 1}, p.experts = {1, 0, -1, 2};
  p.num_experts = 3, p.n = 256, p.k = 512;
  p.config.layout = layout, p.config.stages = 1;
  p.slot_rows = 142;
  return p;
}

std::vector<int> scale_rows(TokenLayout layout, DataType scale_dtype = DataType::f32) {
  std::vector<int> all;
  Grouped1d2dProblem p = problem(layout);
  p.config.scale_dtype = scale_dtype;
  for (const TokenGroup& g : token_rows(p, layout, scale_granule_rows(p.config)).groups)
    all.push_back(g.first_scale_row);
  return all;
}

}  // namespace

TEST_CASE("a stage of grouped_1d2d is handed back by the MMA warp and by four epilogue warps") {
  CHECK(barriers(config(1)) == std::map<std::string, Row>{{"input_full", {4, 1}},
                                                          {"input_empty", {4, 1 + 4}},
                                                          {"accum_full", {2, 1}},
                                                          {"accum_empty", {2, 128}},
                                                          {"tmem_dealloc", {1, 128}}});
  const auto pair = barriers(config(2, 3));
  CHECK(pair.at("input_empty") == Row{4, 1 + 4 * 2});
  CHECK(pair.at("accum_empty") == Row{2, 256});
  CHECK(pair.at("tmem_dealloc") == Row{1, 256});
  CHECK(pair.at("work_full") == Row{3, 1});
  CHECK(pair.at("work_empty") == Row{3, 6});
  CHECK(pair.count("clc_full") == 0);
}

TEST_CASE("a stage of grouped_1d2d expects the bytes of A, B and the scales of A's rows") {
  CHECK(stage_transaction_bytes(config(1)) == 16384 + 16384 + 512);
  CHECK(stage_transaction_bytes(config(2)) == 2 * (16384 + 8192 + 512));
}

TEST_CASE("the scales of each group of FP8 tokens begin at 16 bytes, its tokens where they are") {
  CHECK(scale_rows(TokenLayout::prefix_sum) == std::vector<int>{0, 132, 132, 236});
  CHECK(scale_rows(TokenLayout::masked) == std::vector<int>{0, 144, 288, 432});
  CHECK(scale_groups(Grouped1d2dConfig{}, 142) == 144);
  CHECK(scale_rows(TokenLayout::prefix_sum, DataType::bf16) == std::vector<int>{0, 136, 136, 240});
}

TEST_CASE("a configuration is chosen for groups of FP8 tokens in every layout") {
  for (const TokenLayout layout : {TokenLayout::prefix_sum, TokenLayout::contiguous, TokenLayout::masked})
    for (const int sms : {1, 2, 148}) {
      Grouped1d2dProblem p = problem(layout);
      if (layout == TokenLayout::masked) p.experts = {0, 1, 2, 3}, p.num_experts = 4;
      const Grouped1d2dChoice choice = choose_grouped_1d2d(p, sms);
      REQUIRE(choice.broken.empty());
      p.config = choice.grouped;
      CHECK(check_grouped_1d2d(p).empty());
    }
}

TEST_CASE("groups of FP8 tokens that are aligned to less than any tile have no configuration") {
  Grouped1d2dProblem p = problem(TokenLayout::contiguous);
  p.alignment = 32;
  const Grouped1d2dChoice choice = choose_grouped_1d2d(p, 8);
  REQUIRE(choice.broken.size() == 1);
  CHECK(choice.broken[0].key == "problem.alignment");
  CHECK(choice.broken[0].allowed == "multiples of 64");
}
