// SPDX-License-Identifier: Apache-2.0
// Matrix descriptors and operand addresses of PTX 9.7.16.
#include "kernels/isa/smem_descriptor.h"

#include <vector>

#include "catch.h"
#include "kernels/isa/tensor_map.h"

using namespace sm100;

namespace {

SmemDescriptorFields fields(uint32_t start, uint32_t lbo, uint32_t sbo, Swizzle swizzle) {
  return decode(make_smem_descriptor({start}, lbo, sbo, swizzle));
}

struct Tile {
  const char* what;
  Major major;
  uint32_t element_bytes, mn, k, lbo, sbo;
  Swizzle swizzle;
  uint64_t descriptor;
};

// "Descriptors made by CuTe for dense tiles at address 0", PTX 9.7.16.
const Tile kTiles[] = {
    {"K-major bf16 128x64 128B", Major::k, 2, 128, 64, 16, 1024, Swizzle::b128, 0x4000404000010000},
    {"K-major bf16 128x32 64B", Major::k, 2, 128, 32, 16, 512, Swizzle::b64, 0x8000402000010000},
    {"K-major bf16 128x16 32B", Major::k, 2, 128, 16, 16, 256, Swizzle::b32, 0xc000401000010000},
    {"K-major bf16 128x16", Major::k, 2, 128, 16, 2048, 128, Swizzle::none, 0x0000400800800000},
    {"MN-major bf16 128x16 128B", Major::mn, 2, 128, 16, 1024, 2048, Swizzle::b128, 0x4000408000400000},
    {"MN-major bf16 128x16 64B", Major::mn, 2, 128, 16, 512, 2048, Swizzle::b64, 0x8000408000200000},
    {"MN-major bf16 128x16 32B", Major::mn, 2, 128, 16, 256, 2048, Swizzle::b32, 0xc000408000100000},
    {"MN-major bf16 128x16", Major::mn, 2, 128, 16, 2048, 128, Swizzle::none, 0x0000400800800000},
    {"MN-major tf32 128x8", Major::mn, 4, 128, 8, 512, 2048, Swizzle::b128_atom_32b, 0x2000408000200000},
    {"K-major e4m3 128x128 128B", Major::k, 1, 128, 128, 16, 1024, Swizzle::b128, 0x4000404000010000},
};

}  // namespace

TEST_CASE("Are the descriptors those that CuTe makes? (PTX 9.7.16)", "[smem_descriptor]") {
  for (const Tile& t : kTiles) {
    CAPTURE(t.what);
    CHECK(make_smem_descriptor({0}, t.lbo, t.sbo, t.swizzle).bits == t.descriptor);
    const SmemDescriptorFields f = decode(SmemDescriptor{t.descriptor});
    CHECK(validate(f) == SmemDescriptorError::none);
    CHECK(f.start_address == 0);
    CHECK(f.leading_byte_offset == t.lbo);
    CHECK(f.stride_byte_offset == t.sbo);
    CHECK(swizzle_of_code(f.swizzle_code) == t.swizzle);
  }
  // The scale block of tcgen05.cp, PTX 9.7.16.
  CHECK(make_smem_descriptor({0x1000}, 0, 128, Swizzle::none).bits == 0x0000400800000100);
}

TEST_CASE("Does the descriptor drop the CTA rank of the start address? (docs/instructions.md)",
          "[smem_descriptor]") {
  CHECK(make_smem_descriptor({0x01000400}, 16, 1024, Swizzle::b128).bits == 0x4000404000010040);
}

TEST_CASE("Do the four K steps of a 128B tile add 2 each? (PTX 9.7.16)", "[smem_descriptor]") {
  const SmemDescriptor first = make_smem_descriptor({0x400}, 16, 1024, Swizzle::b128);
  CHECK(first.bits == 0x4000404000010040);
  CHECK(advance(first, 32).bits == 0x4000404000010042);
  CHECK(advance(first, 64).bits == 0x4000404000010044);
  CHECK(advance(first, 96).bits == 0x4000404000010046);
  // Element (row 3, k = 16*2 + 5): the whole tile's view and the third step's view agree.
  CHECK(operand_address(decode(first), Major::k, 2, 3, 37) == 0x5fa);
  CHECK(operand_address(decode(advance(first, 64)), Major::k, 2, 3, 5) == 0x5fa);
}

TEST_CASE("Where does each canonical layout put an element? (PTX 9.7.16 worked by hand)", "[smem_descriptor]") {
  // K-major: 8-row group, row in it, then K.  none: 128 + 16 + 2048 + 4.
  CHECK(operand_address(fields(0, 2048, 128, Swizzle::none), Major::k, 2, 9, 10) == 2196);
  // 0x800 + 512 + 2*64 + 40 = 0xaa8, bits 8:7 = 1.
  CHECK(operand_address(fields(0x800, 16, 512, Swizzle::b64), Major::k, 2, 10, 20) == 0xab8);
  // 5*32 + 24 = 0xb8, bit 7 = 1.
  CHECK(operand_address(fields(0, 16, 256, Swizzle::b32), Major::k, 2, 5, 12) == 0xa8);
  // MN-major none: 2*128 + 2 + 2048 + 16.
  CHECK(operand_address(fields(0, 2048, 128, Swizzle::none), Major::mn, 2, 17, 9) == 2322);
  // 1024 + 12 + 2048 + 3*128 = 0xd8c, bits 9:7 = 3.
  CHECK(operand_address(fields(0, 1024, 2048, Swizzle::b128), Major::mn, 2, 70, 11) == 0xdbc);
  // 512 + 16 + 2048 + 3*64 = 0xad0, bits 8:7 = 1.
  CHECK(operand_address(fields(0, 512, 2048, Swizzle::b64), Major::mn, 2, 40, 11) == 0xac0);
  // 256 + 8 + 5*32 = 0x1a8, bit 7 = 1.
  CHECK(operand_address(fields(0, 256, 2048, Swizzle::b32), Major::mn, 2, 20, 5) == 0x1b8);
  // 512 + 12 + 2048 + 2*128 = 0xb0c, bits 8:7 = 2, 32-byte atoms.
  CHECK(operand_address(fields(0, 512, 2048, Swizzle::b128_atom_32b), Major::mn, 4, 35, 6) == 0xb4c);
}

TEST_CASE("Does every dense tile fill its bytes exactly once? (PTX 9.7.16)", "[smem_descriptor]") {
  for (const Tile& t : kTiles) {
    CAPTURE(t.what);
    const uint32_t start = 0x2000, bytes = t.mn * t.k * t.element_bytes;
    const SmemDescriptorFields f = fields(start, t.lbo, t.sbo, t.swizzle);
    std::vector<int> hits(bytes, 0);
    for (uint32_t i = 0; i < t.mn; ++i)
      for (uint32_t k = 0; k < t.k; ++k) {
        const uint32_t address = operand_address(f, t.major, t.element_bytes, i, k);
        REQUIRE(address >= start);
        REQUIRE(address + t.element_bytes <= start + bytes);
        for (uint32_t b = 0; b < t.element_bytes; ++b) ++hits[address - start + b];
      }
    for (int hit : hits) REQUIRE(hit == 1);
  }
}

TEST_CASE("Do addresses wrap in the 256 KiB window? (PTX 9.7.16)", "[smem_descriptor]") {
  CHECK(operand_address(fields(0x3fff0, 16, 128, Swizzle::none), Major::k, 2, 0, 0) == 0x3fff0);
  CHECK(operand_address(fields(0x3fff0, 16, 128, Swizzle::none), Major::k, 2, 1, 0) == 0);
}

TEST_CASE("Is a swizzled TMA box the K-major layout of UMMA? (PTX 9.7.16)", "[smem_descriptor]") {
  TensorMapFields map;
  map.data_type = TensorMapDataType::bfloat16;
  map.rank = 2;
  map.global_dim[0] = 4096, map.global_dim[1] = 4096;
  map.global_stride[0] = 8192;
  map.box_dim[0] = 64, map.box_dim[1] = 128;
  map.element_stride[0] = map.element_stride[1] = 1;
  map.swizzle = TensorMapSwizzle::b128;
  REQUIRE(validate(map) == TensorMapError::none);
  const SmemDescriptorFields f = fields(0x4000, 16, 1024, Swizzle::b128);
  const int32_t coords[] = {128, 256};
  for (uint32_t row : {0u, 3u, 8u, 127u})
    for (uint32_t k : {0u, 7u, 8u, 63u}) {
      const uint32_t linear = 0x4000 + box_line(map, coords, row).smem_offset + k * 2;
      CHECK(swizzle_address(Swizzle::b128, linear) == operand_address(f, Major::k, 2, row, k));
    }
}

TEST_CASE("Which descriptors are refused? (TC6)", "[smem_descriptor]") {
  const uint64_t good = 0x4000404000010040;
  const auto verdict = [](uint64_t bits) { return validate(decode(SmemDescriptor{bits})); };
  CHECK(verdict(good) == SmemDescriptorError::none);
  CHECK(verdict(good & ~(uint64_t{7} << 46)) == SmemDescriptorError::version);  // Hopper's
  CHECK(verdict(good | uint64_t{1} << 48) == SmemDescriptorError::version);
  for (int bit : {14, 15, 30, 31, 53, 60})
    CHECK(verdict(good | uint64_t{1} << bit) == SmemDescriptorError::reserved_bits);
  for (uint64_t code : {3, 5, 7})
    CHECK(verdict((good & ~(uint64_t{7} << 61)) | code << 61) == SmemDescriptorError::swizzle_code);
  CHECK(verdict(good | uint64_t{1} << 52) == SmemDescriptorError::lbo_absolute);
  for (int bit : {49, 50, 51}) CHECK(verdict(good | uint64_t{1} << bit) == SmemDescriptorError::base_offset);
  // UMMA has no code for 64-byte atoms; walking out of the window is not silent either.
  CHECK(verdict(make_smem_descriptor({0}, 16, 1024, Swizzle::b128_atom_64b).bits) ==
        SmemDescriptorError::swizzle_code);
  const SmemDescriptor last = make_smem_descriptor({0x3fff0}, 16, 1024, Swizzle::b128);
  CHECK(verdict(advance(last, 16).bits) == SmemDescriptorError::reserved_bits);
}

TEST_CASE("Which swizzle may hold which operand? (PTX 9.7.16)", "[smem_descriptor]") {
  const SmemDescriptorFields b128 = fields(0, 16, 1024, Swizzle::b128);
  const SmemDescriptorFields atom = fields(0, 512, 2048, Swizzle::b128_atom_32b);
  CHECK(operand_layout_modelled(b128, Major::k, 4));
  CHECK(operand_layout_modelled(b128, Major::mn, 2));
  CHECK_FALSE(operand_layout_modelled(b128, Major::mn, 4));
  CHECK(operand_layout_modelled(atom, Major::mn, 4));
  CHECK_FALSE(operand_layout_modelled(atom, Major::mn, 2));
  CHECK_FALSE(operand_layout_modelled(atom, Major::k, 4));
}
