// SPDX-License-Identifier: Apache-2.0
// Where groups lie in each layout, how many tiles they have, and what a slot of the ring holds.
#include "catch.h"
#include "kernels/grouped_1d1d/host/token_rows.h"
#include "kernels/grouped_1d1d/work_ring.h"

using namespace sm100;
using namespace sm100::host;

namespace {

Grouped1d1dProblem problem(TokenLayout layout) {
  Grouped1d1dProblem p;
  p.tokens = {130, 0, 100, 1}, p.experts = {1, 0, -1, 2};
  p.num_experts = 3, p.n = 256, p.k = 512;
  p.config.layout = layout;
  p.slot_rows = 140;
  return p;
}

std::vector<int> first_rows(const TokenRows& rows, int TokenGroup::*member) {
  std::vector<int> all;
  for (const TokenGroup& g : rows.groups) all.push_back(g.*member);
  return all;
}

}  // namespace

TEST_CASE("groups of prefix sums follow one another, their scales begin with atoms") {
  const TokenRows rows = token_rows(problem(TokenLayout::prefix_sum));
  CHECK(first_rows(rows, &TokenGroup::first_row) == std::vector<int>{0, 130, 130, 230});
  CHECK(first_rows(rows, &TokenGroup::first_scale_row) == std::vector<int>{0, 256, 256, 384});
  CHECK(rows.rows == 231);
  CHECK(rows.scale_rows == 512);
}

TEST_CASE("groups of the contiguous layout are aligned, slots of the masked one have one size") {
  const TokenRows contiguous = token_rows(problem(TokenLayout::contiguous));
  CHECK(first_rows(contiguous, &TokenGroup::first_row) == std::vector<int>{0, 256, 256, 384});
  CHECK(first_rows(contiguous, &TokenGroup::first_scale_row) == first_rows(contiguous, &TokenGroup::first_row));
  CHECK(contiguous.rows == 512);
  const TokenRows masked = token_rows(problem(TokenLayout::masked));
  CHECK(first_rows(masked, &TokenGroup::first_row) == std::vector<int>{0, 140, 280, 420});
  CHECK(first_rows(masked, &TokenGroup::first_scale_row) == std::vector<int>{0, 256, 512, 768});
  CHECK(masked.scale_rows == 1024);
}

TEST_CASE("tiles are those of groups with an expert and tokens") {
  Grouped1d1dProblem p = problem(TokenLayout::prefix_sum);
  CHECK(group_tiles(p, p.config) == (2 + 0 + 0 + 1) * 2);
  p.config.mma_m = 256, p.config.cta_group = 2;
  CHECK(group_tiles(p, p.config) == (1 + 0 + 0 + 1) * 2);
  p.config.ab_swapped = true, p.config.mma_n = 64;
  CHECK(group_tiles(p, p.config) == (3 + 0 + 0 + 1) * 1);
}

TEST_CASE("a slot of the ring gives back the tile that was put into it") {
  const GroupTile tile{{.m = 3, .n = 1, .k_begin = 0, .k_count = 7, .valid = true}, {130, 257, 2, 5}};
  const GroupTile read = tile_of(slot_of(tile));
  CHECK(read.m == 3);
  CHECK(read.n == 1);
  CHECK(read.k_count == 7);
  CHECK(read.valid);
  CHECK(read.group.first_row == 130);
  CHECK(read.group.end_row == 257);
  CHECK(read.group.scale_group == 2);
  CHECK(read.group.expert == 5);
  CHECK(!tile_of(slot_of(GroupTile{})).valid);
  CHECK(tile_of(slot_of(GroupTile{})).group.expert == -1);
}
