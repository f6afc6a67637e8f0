// SPDX-License-Identifier: Apache-2.0
// Tiles know where their parts lie; what an instruction takes of them follows.
#include "kernels/pipeline/smem_tile.h"

#include "catch.h"
#include "kernels/pipeline/input_ring.h"

namespace sm100 {

constexpr TileShape kShape{DataType::bf16, 128, 64, Swizzle::b128};

TEST_CASE("a tile of one swizzle span is one slab, its slices are rows of a span each", "[pipeline]") {
  CHECK(kShape.bytes() == 128 * 128);
  CHECK(kShape.slabs() == 1);
  const SmemTile tile{{0x2000}, kShape};
  const SmemTile part = tile.slice(3, 4);
  CHECK(part.base.value == 0x2000 + 96 * 128);
  CHECK(part.shape.rows == 32);
  CHECK(part.shape.bytes() == 32 * 128);
  CHECK(tile.slice(0, 1).shape.bytes() == kShape.bytes());
}

TEST_CASE("inside a slab an advanced descriptor is that of the tile further along K", "[pipeline]") {
  for (Swizzle swizzle : {Swizzle::b128, Swizzle::b64, Swizzle::b32}) {
    const int columns = int(swizzle_span_bytes(swizzle)) / 2;
    const SmemTile tile{{0x4000}, {DataType::bf16, 64, columns, swizzle}};
    for (int step = 0; step < columns / 16; ++step)
      CHECK(operand_descriptor(tile, step) == advance(operand_descriptor(tile), kMmaKBytes * uint32_t(step)));
  }
}

TEST_CASE("steps along K go from slab to slab, without swizzle two core-matrix columns at a time", "[pipeline]") {
  const SmemTile swizzled{{0}, {DataType::bf16, 128, 256, Swizzle::b128}};
  CHECK(swizzled.shape.slabs() == 4);
  CHECK(swizzled.slab(1).base.value == 128 * 128);
  CHECK(swizzled.k_step(3).value == 96);
  CHECK(swizzled.k_step(4).value == swizzled.slab(1).base.value);
  const SmemTile plain{{0}, {DataType::bf16, 128, 64, Swizzle::none}};
  CHECK(plain.shape.slabs() == 8);
  CHECK(plain.k_step(1).value == plain.slab(2).base.value);
  const SmemDescriptorFields f = decode(operand_descriptor(plain));
  CHECK(f.leading_byte_offset == 128 * 16);
  CHECK(f.stride_byte_offset == 128);
}

TEST_CASE("a stage has its own k tiles of the ring's, and as many bytes as its copies bring", "[pipeline]") {
  const TileShape b_shape{DataType::bf16, 32, 64, Swizzle::b128};
  const OperandTiles tiles{{{0x400}, kShape}, {{0x20000}, b_shape}, 2};
  CHECK(tiles.stage_bytes() == 2 * (kShape.bytes() + b_shape.bytes()));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j) {
      CHECK(tiles.stage(i).a(j).base.value == 0x400 + uint32_t(2 * i + j) * kShape.bytes());
      CHECK(tiles.stage(i).b(j).base.value == 0x20000 + uint32_t(2 * i + j) * b_shape.bytes());
    }
}

}  // namespace sm100
