// SPDX-License-Identifier: Apache-2.0
// The tile mapping: a bijection of the cluster grid, and its values worked by
// hand.
#include "kernels/scheduler/rasterization.h"

#include <set>
#include <utility>

#include "catch.h"

using namespace sm100;

TEST_CASE("every grid up to 19 x 19, both orders and all swizzle widths map one to one", "[rasterization]") {
  for (uint32_t dm = 1; dm <= 19; ++dm)
    for (uint32_t dn = 1; dn <= 19; ++dn)
      for (RasterOrder order : {RasterOrder::along_m, RasterOrder::along_n})
        for (int width : {0, 1, 2, 4, 8}) {
          std::set<std::pair<int, int>> tiles;
          for (uint32_t x = 0; x < dm; ++x)
            for (uint32_t y = 0; y < dn; ++y) {
              const TileCoord t = rasterize({x, y, 0}, {dm, dn, 1}, order, width, 1, 1);
              REQUIRE(t.m >= 0);
              REQUIRE(t.m < int(dm));
              REQUIRE(t.n >= 0);
              REQUIRE(t.n < int(dn));
              tiles.insert({t.m, t.n});
            }
          REQUIRE(tiles.size() == dm * dn);
        }
}

TEST_CASE("AlongM is the identity, AlongN walks down N first", "[rasterization]") {
  const Dim3 grid{4, 3, 1};
  CHECK(rasterize({2, 1, 0}, grid, RasterOrder::along_m, 0, 1, 1).m == 2);
  CHECK(rasterize({2, 1, 0}, grid, RasterOrder::along_m, 0, 1, 1).n == 1);
  // l = 2*3 + 1 = 7: m = 7 mod 4, n = 7 div 4
  CHECK(rasterize({2, 1, 0}, grid, RasterOrder::along_n, 0, 1, 1).m == 3);
  CHECK(rasterize({2, 1, 0}, grid, RasterOrder::along_n, 0, 1, 1).n == 1);
}

TEST_CASE("block swizzle of width 2 walks strips of two columns, the second strip backwards", "[rasterization]") {
  const Dim3 grid{4, 4, 1};
  auto tile = [&](uint32_t x, uint32_t y) {
    const TileCoord t = rasterize({x, y, 0}, grid, RasterOrder::along_m, 2, 1, 1);
    return std::pair{t.m, t.n};
  };
  CHECK(tile(0, 0) == std::pair{0, 0});
  CHECK(tile(1, 0) == std::pair{0, 1});
  CHECK(tile(2, 0) == std::pair{1, 0});
  CHECK(tile(0, 1) == std::pair{2, 0});
  CHECK(tile(0, 2) == std::pair{3, 2});  // strip 1 runs from the far end
  CHECK(tile(3, 3) == std::pair{0, 3});
}

TEST_CASE("a CTA keeps its place inside its cluster", "[rasterization]") {
  const TileCoord t = rasterize({5, 3, 0}, {4, 2, 1}, RasterOrder::along_n, 0, 2, 2);
  // cluster (2, 1): l = 2*2 + 1 = 5 -> (1, 1); position inside (1, 1)
  CHECK(t.m == 3);
  CHECK(t.n == 3);
}
