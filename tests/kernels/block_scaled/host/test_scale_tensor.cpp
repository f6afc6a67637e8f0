// SPDX-License-Identifier: Apache-2.0
#include "kernels/block_scaled/host/scale_tensor.h"

#include "catch.h"

using namespace sm100;
using namespace sm100::host;

TEST_CASE("a scale tensor is padded to whole atoms, and only its scales differ from the padding") {
  const ScaleTensor scales{.rows = 130, .scales = 6, .type = ScaleType::ue4m3};
  CHECK(scales.row_groups() == 2);
  CHECK(scales.k_atoms() == 2);
  REQUIRE(scales.bytes() == 2 * 2 * 512);
  for (const uint8_t padding : {uint8_t{0}, nan_scale(scales.type)}) {
    std::vector<uint8_t> bytes(scales.bytes());
    scales.fill(1, padding, bytes.data());
    int filled = 0;
    for (uint8_t byte : bytes) filled += byte != padding;
    CHECK(filled == 130 * 6);
    CHECK(bytes[scale_offset(129, 5, 2)] != padding);
    CHECK(bytes[scale_offset(130, 0, 2)] == padding);
    CHECK(bytes[scale_offset(0, 6, 2)] == padding);
    for (int row = 0; row < 130; ++row)
      for (int j = 0; j < 6; ++j) {
        CHECK(scales.value(bytes.data(), row, j) >= 0.25);
        CHECK(scales.value(bytes.data(), row, j) < 2);
      }
  }
}

TEST_CASE("a box of scales is whole atoms, an atom to a line") {
  const ScaleTensor scales{.rows = 384, .scales = 32, .type = ScaleType::ue8m0};
  const TensorMapFields f = scales.map_fields({0x1000}, {.groups = 2, .k_atoms = 4});
  CHECK(transfer_bytes(f) == 2 * 4 * 512);
  const int32_t coords[] = {0, 4, 1};  // the second k tile of rows 128 to 383
  CHECK(box_line(f, coords, 0).global_address == 0x1000 + scale_offset(128, 16, 8));
  CHECK(box_line(f, coords, 3).global_address == 0x1000 + scale_offset(128, 28, 8));
  CHECK(box_line(f, coords, 4).global_address == 0x1000 + scale_offset(256, 16, 8));
  CHECK(box_line(f, coords, 4).smem_offset == 4 * 512);
}
