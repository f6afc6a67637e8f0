// SPDX-License-Identifier: Apache-2.0
// Where the scales of block-scaled MMAs lie.  Offsets were worked from the layout that CuTe prints for the atom of
// 128 rows x 4 scales.
#include "kernels/isa/scale_layout.h"

#include <set>

#include "catch.h"

using namespace sm100;

TEST_CASE("scales lie in atoms of 128 rows x 4, in which rows r and r + 32 are neighbours") {
  struct {
    int row, scale;
    uint64_t offset;
  } const expected[] = {{0, 0, 0},   {1, 0, 16},    {31, 3, 499}, {32, 0, 4},      {33, 1, 21},
                        {96, 0, 12}, {127, 3, 511}, {0, 4, 512},  {127, 15, 2047}, {128, 0, 2048}};
  for (const auto& e : expected) {
    CAPTURE(e.row, e.scale);
    CHECK(scale_offset(e.row, e.scale, 4) == e.offset);
  }
}

TEST_CASE("every scale of whole atoms has a byte of its own") {
  constexpr int kRows = 256, kAtoms = 3;
  std::set<uint64_t> offsets;
  for (int row = 0; row < kRows; ++row)
    for (int scale = 0; scale < kAtoms * kScaleAtomScales; ++scale)
      offsets.insert(scale_offset(row, scale, kAtoms));
  CHECK(offsets.size() == size_t(kRows * kAtoms * kScaleAtomScales));
  CHECK(*offsets.rbegin() == offsets.size() - 1);
}

TEST_CASE("an atom's descriptor has rows of 16 bytes, one after the other") {
  CHECK(scale_atom_descriptor({0x1000}).bits == 0x0000400800000100u);
  const SmemDescriptorFields f = decode(scale_atom_descriptor({0x1000}));
  CHECK(validate(f) == SmemDescriptorError::none);
  for (uint32_t row = 0; row < 32; ++row) CHECK(operand_address(f, Major::k, 1, row, 0) == 0x1000 + 16 * row);
}
