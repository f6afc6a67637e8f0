// SPDX-License-Identifier: Apache-2.0
// tcgen05.cp: which lanes get a row, where a row lies, and what packed elements become; worked by hand
// (PTX 9.7.16.9).
#include "kernels/isa/tmem_copy.h"

#include <array>
#include <set>
#include <vector>

#include "catch.h"

using namespace sm100;

namespace {

using Shape = TmemCopyShape;

std::vector<uint32_t> lanes(Shape shape, uint32_t row) {
  std::vector<uint32_t> all;
  for (uint32_t replica = 0; replica < copy_replicas(shape); ++replica)
    all.push_back(copy_lane(shape, row, replica));
  return all;
}

using Lanes = std::vector<uint32_t>;
using Packed = std::array<uint8_t, 16>;

}  // namespace

TEST_CASE("Which lanes get a row of tcgen05.cp? (PTX 9.7.16.9, figures from CuTe)", "[tmem_copy]") {
  CHECK(lanes(Shape::s128x256b, 77) == Lanes{77});
  CHECK(lanes(Shape::s128x128b, 127) == Lanes{127});
  CHECK(lanes(Shape::s4x256b, 3) == Lanes{96});
  CHECK(lanes(Shape::s64x128b_warpx2_02_13, 0) == Lanes{0, 64});
  CHECK(lanes(Shape::s64x128b_warpx2_02_13, 33) == Lanes{33, 97});
  CHECK(lanes(Shape::s64x128b_warpx2_01_23, 5) == Lanes{5, 37});
  CHECK(lanes(Shape::s64x128b_warpx2_01_23, 37) == Lanes{69, 101});
  CHECK(lanes(Shape::s32x128b_warpx4, 31) == Lanes{31, 63, 95, 127});
}

TEST_CASE("Do the replicas of all rows fill all lanes once, but for 4x256b?", "[tmem_copy]") {
  for (const Shape shape : {Shape::s128x256b, Shape::s128x128b, Shape::s64x128b_warpx2_02_13,
                            Shape::s64x128b_warpx2_01_23, Shape::s32x128b_warpx4}) {
    CAPTURE(name(shape));
    std::set<uint32_t> touched;
    uint32_t writes = 0;
    for (uint32_t row = 0; row < copy_rows(shape); ++row)
      for (const uint32_t lane : lanes(shape, row)) touched.insert(lane), ++writes;
    CHECK(writes == 128);
    CHECK(touched.size() == 128);
  }
}

TEST_CASE("How many bytes and columns does each shape move?", "[tmem_copy]") {
  CHECK(copy_bytes(Shape::s128x256b) == 4096);
  CHECK(copy_columns(Shape::s128x256b) == 8);
  CHECK(copy_bytes(Shape::s128x128b) == 2048);
  CHECK(copy_bytes(Shape::s4x256b) == 128);
  CHECK(copy_columns(Shape::s4x256b) == 8);
  CHECK(copy_bytes(Shape::s64x128b_warpx2_01_23) == 1024);
  CHECK(copy_bytes(Shape::s32x128b_warpx4) == 512);
  CHECK(copy_columns(Shape::s32x128b_warpx4) == 4);
}

TEST_CASE("Where do rows of a scale block and of a wide tile lie? (PTX 9.7.16, no swizzle)", "[tmem_copy]") {
  // The block of 512 bytes at 0x1000 whose descriptor is worked in test_smem_descriptor.
  const SmemDescriptorFields block = decode(SmemDescriptor{0x0000400800000100});
  CHECK(copy_source_address(block, 0, 0) == 0x1000);
  CHECK(copy_source_address(block, 7, 0) == 0x1070);
  CHECK(copy_source_address(block, 8, 0) == 0x1080);
  CHECK(copy_source_address(block, 31, 0) == 0x11f0);
  // 128 x 32 bytes in core matrices: LBO to the second 16 bytes, SBO to the next 8 rows.
  const SmemDescriptorFields tile = decode(make_smem_descriptor({0x2000}, 2048, 128, Swizzle::none));
  CHECK(copy_source_address(tile, 9, 0) == 0x2000 + 128 + 16);
  CHECK(copy_source_address(tile, 9, 1) == 0x2000 + 128 + 16 + 2048);
  // In a tile of 128-byte rows with their swizzle the second 16 bytes follow in the row.
  const SmemDescriptorFields swizzled = decode(make_smem_descriptor({0x4000}, 0, 1024, Swizzle::b128));
  CHECK(copy_source_address(swizzled, 9, 0) == (0x4000 + 1024 + 128) + 16);  // chunk 0 ^ 1
  CHECK(copy_source_address(swizzled, 9, 1) == (0x4000 + 1024 + 128) + 0);
}

TEST_CASE("What do packed elements become? (PTX 9.7.16.9.1)", "[tmem_copy]") {
  // Elements 0 to 15 in nibbles, then padding that must not show.
  Packed nibbles{0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe};
  for (size_t i = 8; i < 16; ++i) nibbles[i] = 0xff;
  for (uint32_t i = 0; i < 16; ++i)
    CHECK(copied_byte(nibbles.data(), i, TmemDecompression::b4x16_p64) == i << 2);  // 00xxxx00

  // 6-bit elements 1, 2, 3, 63 in three bytes: 000001, 000010, 000011, 111111 from the lowest bit on.
  Packed sixes{0x81, 0x30, 0xfc};
  sixes[11] = 0xa8;  // element 15: its upper six bits, 101010
  for (size_t i = 12; i < 16; ++i) sixes[i] = 0xff;
  const uint32_t expected[] = {1, 2, 3, 63};
  for (uint32_t i = 0; i < 4; ++i)
    CHECK(copied_byte(sixes.data(), i, TmemDecompression::b6x16_p32) == expected[i]);  // 00xxxxxx
  CHECK(copied_byte(sixes.data(), 15, TmemDecompression::b6x16_p32) == 0b101010);
  CHECK(copied_byte(sixes.data(), 2, TmemDecompression::none) == 0xfc);
}

TEST_CASE("Which addresses may a copy write to?", "[tmem_copy]") {
  CHECK(copy_column_allowed(508));
  CHECK_FALSE(copy_column_allowed(2));
  CHECK(copy_lane_allowed(Shape::s4x256b, 31));
  CHECK_FALSE(copy_lane_allowed(Shape::s4x256b, 32));
  CHECK_FALSE(copy_lane_allowed(Shape::s32x128b_warpx4, 32));
}
