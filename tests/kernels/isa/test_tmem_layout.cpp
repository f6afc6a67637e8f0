// SPDX-License-Identifier: Apache-2.0
// Register maps and data-path layouts of tensor memory (PTX 9.7.16; figures rebuilt from CuTe).
#include "kernels/isa/tmem_layout.h"

#include <map>
#include <utility>
#include <vector>

#include "catch.h"

using namespace sm100;

namespace {

/// The registers of one thread, as cell value = lane * 1000 + column.
std::vector<uint32_t> registers(TmemShape shape, int repeat, int thread, int imm = 0) {
  std::vector<uint32_t> values;
  for (int r = 0; r < registers_per_thread(shape, repeat); ++r) {
    const TmemCell cell = tmem_cell(shape, thread, r, imm);
    values.push_back(cell.lane * 1000 + cell.column);
  }
  return values;
}

using Values = std::vector<uint32_t>;

const TmemShape kShapes[] = {TmemShape::s32x32b, TmemShape::s16x64b, TmemShape::s16x128b, TmemShape::s16x256b,
                             TmemShape::s16x32bx2};

}  // namespace

TEST_CASE("Which cells does each thread of a tcgen05.ld read? (PTX 9.7.16)", "[tmem_layout]") {
  CHECK(registers(TmemShape::s32x32b, 2, 0) == Values{0, 1});
  CHECK(registers(TmemShape::s32x32b, 2, 1) == Values{1000, 1001});
  CHECK(registers(TmemShape::s32x32b, 2, 5) == Values{5000, 5001});
  CHECK(registers(TmemShape::s32x32b, 2, 31) == Values{31000, 31001});
  CHECK(registers(TmemShape::s16x64b, 2, 0) == Values{0, 2});
  CHECK(registers(TmemShape::s16x64b, 2, 1) == Values{8000, 8002});
  CHECK(registers(TmemShape::s16x64b, 2, 5) == Values{9000, 9002});
  CHECK(registers(TmemShape::s16x64b, 2, 31) == Values{15001, 15003});
  CHECK(registers(TmemShape::s16x128b, 1, 0) == Values{0, 8000});
  CHECK(registers(TmemShape::s16x128b, 1, 1) == Values{1, 8001});
  CHECK(registers(TmemShape::s16x128b, 1, 5) == Values{1001, 9001});
  CHECK(registers(TmemShape::s16x128b, 1, 31) == Values{7003, 15003});
  CHECK(registers(TmemShape::s16x256b, 1, 0) == Values{0, 1, 8000, 8001});
  CHECK(registers(TmemShape::s16x256b, 1, 1) == Values{2, 3, 8002, 8003});
  CHECK(registers(TmemShape::s16x256b, 1, 5) == Values{1002, 1003, 9002, 9003});
  CHECK(registers(TmemShape::s16x256b, 1, 31) == Values{7006, 7007, 15006, 15007});
  CHECK(registers(TmemShape::s16x32bx2, 1, 0, 16) == Values{0});
  CHECK(registers(TmemShape::s16x32bx2, 1, 1, 16) == Values{1000});
  CHECK(registers(TmemShape::s16x32bx2, 1, 5, 16) == Values{5000});
  CHECK(registers(TmemShape::s16x32bx2, 1, 31, 16) == Values{15016});
}

TEST_CASE("How many registers and columns does a shape take? (PTX 9.7.16)", "[tmem_layout]") {
  const int registers_x4[] = {4, 4, 8, 16, 4}, columns_x4[] = {4, 8, 16, 32, 4};
  const int largest[] = {128, 128, 64, 32, 128};
  for (int s = 0; s < 5; ++s) {
    CAPTURE(name(kShapes[s]));
    CHECK(registers_per_thread(kShapes[s], 4) == registers_x4[s]);
    CHECK(columns_spanned(kShapes[s], 4) == columns_x4[s]);
    CHECK(repeat_allowed(kShapes[s], 1));
    CHECK(repeat_allowed(kShapes[s], largest[s]));
    CHECK_FALSE(repeat_allowed(kShapes[s], 2 * largest[s]));
    CHECK_FALSE(repeat_allowed(kShapes[s], 3));
    CHECK_FALSE(repeat_allowed(kShapes[s], 0));
  }
}

TEST_CASE("Does each shape touch every cell of its block once? (PTX 9.7.16)", "[tmem_layout]") {
  for (TmemShape shape : kShapes)
    for (int repeat = 1; repeat_allowed(shape, repeat); repeat *= 2) {
      CAPTURE(name(shape), repeat);
      const uint32_t lanes = shape == TmemShape::s32x32b ? 32 : 16;
      const bool split = shape == TmemShape::s16x32bx2;  // two runs: put the second right behind the first
      const uint32_t columns = static_cast<uint32_t>(columns_spanned(shape, repeat)) * (split ? 2 : 1);
      std::map<std::pair<uint32_t, uint32_t>, int> hits;
      for (int t = 0; t < 32; ++t)
        for (int r = 0; r < registers_per_thread(shape, repeat); ++r) {
          const TmemCell cell = tmem_cell(shape, t, r, split ? repeat : 0);
          REQUIRE(cell.lane < lanes);
          REQUIRE(cell.column < columns);
          REQUIRE(++hits[{cell.lane, cell.column}] == 1);
        }
      REQUIRE(hits.size() == lanes * columns);
    }
}

TEST_CASE("Where does D(m n) live in each data-path layout? (PTX 9.7.16)", "[tmem_layout]") {
  using L = DataPathLayout;
  using Cell = AccumulatorCell;
  const auto at = [](L layout, int m, int n) { return accumulator_cell(layout, m, n, 64); };
  for (L layout : {L::a, L::b, L::d, L::e, L::f, L::g}) CHECK(at(layout, 0, 0) == Cell{0, 0, 0});
  CHECK(at(L::a, 17, 31) == Cell{0, 17, 31});
  CHECK(at(L::b, 17, 31) == Cell{0, 17, 31});
  CHECK(at(L::d, 17, 31) == Cell{0, 17, 31});
  CHECK(at(L::e, 17, 31) == Cell{0, 17, 31});
  CHECK(at(L::f, 17, 31) == Cell{0, 33, 31});
  CHECK(at(L::g, 17, 31) == Cell{0, 49, 15});
  CHECK(at(L::a, 31, 63) == Cell{0, 31, 63});
  CHECK(at(L::b, 31, 63) == Cell{0, 95, 31});
  CHECK(at(L::d, 31, 63) == Cell{0, 31, 63});
  CHECK(at(L::e, 31, 63) == Cell{0, 95, 31});
  CHECK(at(L::f, 31, 63) == Cell{0, 47, 63});
  CHECK(at(L::g, 31, 63) == Cell{0, 127, 15});
  CHECK(at(L::a, 63, 32) == Cell{0, 63, 32});
  CHECK(at(L::b, 63, 32) == Cell{0, 127, 0});
  CHECK(at(L::d, 63, 32) == Cell{0, 63, 32});
  CHECK(at(L::e, 63, 32) == Cell{0, 127, 0});
  CHECK(at(L::f, 63, 32) == Cell{0, 111, 32});
  CHECK(at(L::a, 65, 1) == Cell{0, 65, 1});
  CHECK(at(L::b, 65, 1) == Cell{1, 1, 1});
  CHECK(at(L::d, 65, 1) == Cell{0, 65, 1});
  CHECK(at(L::a, 200, 5) == Cell{1, 72, 5});
}

TEST_CASE("Does every element of D have a cell of its own? (PTX 9.7.16)", "[tmem_layout]") {
  struct Shape {
    DataPathLayout layout;
    int m;
    uint32_t ctas, columns_of_64;
  };
  const Shape shapes[] = {{DataPathLayout::a, 256, 2, 64}, {DataPathLayout::b, 128, 2, 32},
                          {DataPathLayout::d, 128, 1, 64}, {DataPathLayout::e, 64, 1, 32},
                          {DataPathLayout::f, 64, 1, 64},  {DataPathLayout::g, 32, 1, 16}};
  for (const Shape& s : shapes) {
    std::vector<int> hits(2 * 128 * 64, 0);
    CHECK(accumulator_columns(s.layout, 64) == s.columns_of_64);
    for (int m = 0; m < s.m; ++m)
      for (int n = 0; n < 64; ++n) {
        const AccumulatorCell cell = accumulator_cell(s.layout, m, n, 64);
        REQUIRE(cell.cta < s.ctas);
        REQUIRE(cell.lane < 128);
        REQUIRE(cell.column < s.columns_of_64);
        REQUIRE(++hits[(cell.cta * 128 + cell.lane) * 64 + cell.column] == 1);
      }
  }
}

TEST_CASE("Which layout does an instruction have? (PTX 9.7.16)", "[tmem_layout]") {
  CHECK(data_path_layout(256, 2) == DataPathLayout::a);
  CHECK(data_path_layout(128, 2) == DataPathLayout::b);
  CHECK(data_path_layout(128, 1) == DataPathLayout::d);
  CHECK(data_path_layout(64, 1) == DataPathLayout::f);
}

TEST_CASE("How many columns can be allocated? (PTX 9.7.16)", "[tmem_layout]") {
  for (uint32_t n : {32u, 64u, 128u, 256u, 512u}) CHECK(tmem_columns_allocatable(n));
  for (uint32_t n : {0u, 1u, 16u, 33u, 96u, 384u, 1024u}) CHECK_FALSE(tmem_columns_allocatable(n));
}
