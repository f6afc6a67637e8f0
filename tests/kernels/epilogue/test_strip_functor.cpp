// SPDX-License-Identifier: Apache-2.0
// Which thread takes which elements of a strip in shared memory, and where they lie in C.
#include "kernels/epilogue/strip_functor.h"

#include <set>
#include <vector>

#include "catch.h"
#include "kernels/epilogue/fragment_functor.h"
#include "kernels/matmul/config.h"

namespace sm100 {
namespace {

/// Every geometry that the functor on the strip accepts.
std::vector<MatmulConfig> geometries() {
  std::vector<MatmulConfig> all;
  for (int group : {1, 2})
    for (int m : {64 * group, 128 * group})
      for (int n : {8, 16, 24, 32, 48, 64, 80, 128, 256})
        for (DataType output : {DataType::bf16, DataType::f32})
          for (bool swapped : {false, true})
            if (n % 16 == 0 || m == 64)
              all.push_back({.output = output, .mma_m = m, .mma_n = n, .cta_group = group, .ab_swapped = swapped});
  return all;
}

/// Calls f(vector's address, its place in C) for every vector of a strip; its corner is at (1000, 2000).
template <class F>
void for_each_vector(const StripBuffer<MatmulConfig>& strip, F&& f) {
  for (int warp = 0; warp < strip_vector_warps(strip.cfg); ++warp)
    for (int lane = 0; lane < 32; ++lane)
      for (int j = 0; j < vectors_per_lane(strip.cfg); ++j) {
        const SmemAddr at = vector_address(strip, warp, lane, j);
        f(at, place_of_vector(strip, at, 1000, 2000));
      }
}

}  // namespace

TEST_CASE("strips: an address says which element lies there", "[epilogue]") {
  for (const MatmulConfig& c : geometries()) {
    INFO(c.mma_m << " x " << c.mma_n << ", group " << c.cta_group << ", swapped " << c.ab_swapped);
    const StripBuffer<MatmulConfig> strip{c, {4096}};
    for (int row = 0; row < strip_rows(c); ++row)
      for (int column = 0; column < strip_columns(c); ++column) {
        const StripElement e = strip.element_at(strip.at(row, column));
        REQUIRE(e.row == row);
        REQUIRE(e.column == column);
      }
  }
}

TEST_CASE("strips: each vector has one thread, and no thread more than it has registers for", "[epilogue]") {
  for (const MatmulConfig& c : geometries()) {
    INFO(c.mma_m << " x " << c.mma_n << ", group " << c.cta_group << ", swapped " << c.ab_swapped);
    const StripBuffer<MatmulConfig> strip{c, {4096}};
    CHECK(strip_vector_warps(c) >= 1);
    CHECK(strip_vector_warps(c) <= 4);
    CHECK(vectors_per_lane(c) <= kMostVectorsPerLane);
    std::set<uint32_t> seen;
    for_each_vector(strip, [&](SmemAddr at, ElementPlace) {
      CHECK(at.value % 16 == 0);
      CHECK(at.value - strip.base.value < strip_bytes(c));
      seen.insert(at.value);
    });
    CHECK(seen.size() == strip_bytes(c) / 16);
  }
}

TEST_CASE("strips: a vector's elements lie where the fragments' functor sees them", "[epilogue]") {
  for (const MatmulConfig& c : geometries()) {
    INFO(c.mma_m << " x " << c.mma_n << ", group " << c.cta_group << ", swapped " << c.ab_swapped);
    const StripBuffer<MatmulConfig> strip{c, {4096}};
    // The fragments: registers of all lanes, by the address that the writer gives them.
    std::set<std::pair<uint32_t, std::pair<int, int>>> written;
    for (int warp = 0; warp < 4; ++warp) {
      const WarpPart part = warp_part(c, warp);
      for (int lower = 0; lower <= int(has_lower_fragment(c)); ++lower)
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < strip_columns(c) / 2; ++i) {
            const int row = lane / 4 + 8 * (i / 2 % 2) + 16 * lower, column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
            const ElementPlace place = place_of_register(c, 1000 + part.row + 16 * lower,
                                                         2000 + part.half * accumulator_columns(c), i, lane);
            written.insert({strip.at(part.strip_row + row, column).value, {place.row, place.column}});
          }
    }
    CHECK(written.size() == size_t(strip_rows(c) * strip_columns(c)));
    const int bytes = output_bytes(c);
    for_each_vector(strip, [&](SmemAddr at, ElementPlace place) {
      for (int i = 0; i < 16 / bytes; ++i)
        REQUIRE(written.count({at.value + uint32_t(i * bytes), {place.row, place.column + i}}) == 1);
    });
  }
}

TEST_CASE("strips: vectors of a lane that share their bias have the same columns", "[epilogue]") {
  for (const MatmulConfig& c : geometries()) {
    if (!same_columns(c)) continue;
    const StripBuffer<MatmulConfig> strip{c, {4096}};
    for (int warp = 0; warp < strip_vector_warps(c); ++warp)
      for (int lane = 0; lane < 32; ++lane) {
        const int column = strip.element_at(vector_address(strip, warp, lane, 0)).column;
        for (int j = 1; j < vectors_per_lane(c); ++j)
          CHECK(strip.element_at(vector_address(strip, warp, lane, j)).column == column);
      }
  }
}

TEST_CASE("strips: every vector of C begins at a multiple of 16 bytes of its row", "[epilogue]") {
  for (const MatmulConfig& c : geometries()) {
    const StripBuffer<MatmulConfig> strip{c, {4096}};
    for (int tile = 0; tile < 3; ++tile)
      for (int warp = 0; warp < strip_vector_warps(c); ++warp)
        for (int lane = 0; lane < 32; ++lane)
          for (int j = 0; j < vectors_per_lane(c); ++j) {
            const ElementPlace place = place_of_vector(strip, vector_address(strip, warp, lane, j),
                                                       tile * block_m(c), tile * c.mma_n + strip_columns(c));
            CHECK(place.column * output_bytes(c) % 16 == 0);
          }
  }
}

}  // namespace sm100
