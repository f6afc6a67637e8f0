// SPDX-License-Identifier: Apache-2.0
// Swizzle address functions against vectors worked by hand from PTX 5.5.6.
#include "kernels/isa/swizzle.h"

#include <vector>

#include "catch.h"

using namespace sm100;

namespace {
const Swizzle kAll[] = {Swizzle::none, Swizzle::b32,           Swizzle::b64,
                        Swizzle::b128, Swizzle::b128_atom_32b, Swizzle::b128_atom_64b};
}

TEST_CASE("Where does each swizzle put an address? (PTX 5.5.6)", "[swizzle]") {
  const uint32_t rows[][6] = {
      {0x010, 0x010, 0x010, 0x010, 0x010, 0x010}, {0x080, 0x090, 0x090, 0x090, 0x0a0, 0x0c0},
      {0x090, 0x080, 0x080, 0x080, 0x0b0, 0x0d0}, {0x100, 0x100, 0x120, 0x120, 0x140, 0x100},
      {0x1a4, 0x1b4, 0x194, 0x194, 0x1c4, 0x1e4}, {0x3f0, 0x3e0, 0x3c0, 0x380, 0x390, 0x3b0},
      {0x7fc, 0x7ec, 0x7cc, 0x78c, 0x79c, 0x7bc},
  };
  for (const auto& row : rows) {
    CAPTURE(row[0]);
    CHECK(swizzle_address(Swizzle::none, row[0]) == row[0]);
    CHECK(swizzle_address(Swizzle::b32, row[0]) == row[1]);
    CHECK(swizzle_address(Swizzle::b64, row[0]) == row[2]);
    CHECK(swizzle_address(Swizzle::b128, row[0]) == row[3]);
    CHECK(swizzle_address(Swizzle::b128_atom_32b, row[0]) == row[4]);
    CHECK(swizzle_address(Swizzle::b128_atom_64b, row[0]) == row[5]);
  }
}

TEST_CASE("Where does each row start when the pitch is the span? (PTX 5.5.6)", "[swizzle]") {
  const uint32_t b128[] = {0x000, 0x090, 0x120, 0x1b0, 0x240, 0x2d0, 0x360, 0x3f0};
  const uint32_t b64[] = {0x000, 0x040, 0x090, 0x0d0, 0x120, 0x160, 0x1b0, 0x1f0};
  const uint32_t b32[] = {0x00, 0x20, 0x40, 0x60, 0x90, 0xb0, 0xd0, 0xf0};
  for (uint32_t row = 0; row < 8; ++row) {
    CHECK(swizzle_address(Swizzle::b128, row * 128) == b128[row]);
    CHECK(swizzle_address(Swizzle::b64, row * 64) == b64[row]);
    CHECK(swizzle_address(Swizzle::b32, row * 32) == b32[row]);
  }
}

TEST_CASE("Do span and repeat match the modes? (PTX 5.5.6)", "[swizzle]") {
  const uint32_t spans[] = {0, 32, 64, 128, 128, 128}, repeats[] = {16, 256, 512, 1024, 512, 256};
  for (int i = 0; i < 6; ++i) {
    CHECK(swizzle_span_bytes(kAll[i]) == spans[i]);
    CHECK(swizzle_repeat_bytes(kAll[i]) == repeats[i]);
  }
}

TEST_CASE("Is every swizzle a bijection of its repeat and the same in each? (PTX 5.5.6)", "[swizzle]") {
  for (Swizzle swizzle : kAll) {
    const uint32_t repeat = swizzle_repeat_bytes(swizzle);
    CAPTURE(repeat);
    std::vector<int> hits(repeat, 0);
    for (uint32_t a = 0; a < repeat; ++a) {
      const uint32_t b = swizzle_address(swizzle, a);
      REQUIRE(b < repeat);
      ++hits[b];
      REQUIRE(swizzle_address(swizzle, b) == a);
      REQUIRE(swizzle_address(swizzle, a + 7 * repeat) == b + 7 * repeat);
      REQUIRE(swizzle_address(swizzle, a | 0x01000000) == (b | 0x01000000));  // the CTA rank does not matter
    }
    for (int hit : hits) REQUIRE(hit == 1);
  }
}

TEST_CASE("Does 128B swizzle put chunk x of row y at x xor y? (PTX 5.5.6)", "[swizzle]") {
  // Row 5: 0-7 become 5 4 7 6 1 0 3 2.
  const uint32_t row5[] = {5, 4, 7, 6, 1, 0, 3, 2};
  for (uint32_t chunk = 0; chunk < 8; ++chunk)
    CHECK(swizzle_address(Swizzle::b128, 5 * 128 + chunk * 16) == 5 * 128 + row5[chunk] * 16);
}
