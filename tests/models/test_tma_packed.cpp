// SPDX-License-Identifier: Apache-2.0
// Tensor copies of packed 4- and 6-bit elements: which bits land where, what is signalled, what is refused
// (PTX 5.5.1.1).
#include <cstring>

#include "catch.h"
#include "models/tma.h"
#include "models/tma_units.h"

using namespace sm100;
using namespace sm100::models;

namespace {

constexpr uint32_t kBar = 0x400, kTile = 0x2000;
using Type = TensorMapDataType;

/// Rows of 256 packed elements with a stride of 256 bytes; element (y, x) has the low bits of 7 y + 5 x + x / 16.
struct Bench : TmaUnits {
  static constexpr int kRows = 16, kColumns = 256, kStride = 256;

  Bench(Type type, uint32_t bits) : type(type), bits(bits) {
    smem.start_cta(64 * 1024, true);
    address = memory.allocate("matrix", kRows * kStride, true);
    std::memset(global(), 0, kRows * kStride);
    for (int y = 0; y < kRows; ++y)
      for (int x = 0; x < kColumns; ++x)
        for (uint32_t b = 0; b < bits; ++b) {
          const uint32_t at = uint32_t(x) * bits + b;
          global()[y * kStride + int(at / 8)] |= uint8_t((element(y, x) >> b & 1) << at % 8);
        }
    barrier.init(kBar, 1, {});
  }
  uint8_t* global() { return memory.data(address, kRows * kStride); }
  uint32_t element(int y, int x) const { return uint32_t(7 * y + 5 * x + x / 16) & ((1u << bits) - 1); }

  TensorCopy copy(int y, int x, int box_columns = 128, TensorMapSwizzle swizzle = TensorMapSwizzle::none) const {
    TensorCopy c;
    c.map.data_type = type;
    c.map.rank = 2;
    c.map.global_address = address.value;
    c.map.global_dim[0] = kColumns, c.map.global_dim[1] = kRows;
    c.map.global_stride[0] = kStride;
    c.map.box_dim[0] = uint32_t(box_columns), c.map.box_dim[1] = 8;
    c.map.element_stride[0] = c.map.element_stride[1] = 1;
    c.map.swizzle = swizzle;
    c.coords = {x, y};
    c.smem = kTile, c.barrier = kBar;
    c.source.warp = 0;
    return c;
  }
  uint32_t received() { return barrier.find(kBar)->received_bytes; }

  Type type;
  uint32_t bits;
};

/// `bits` bits from bit `first` of the bytes on, one by one.
uint32_t bits_at(const uint8_t* bytes, uint32_t first, uint32_t bits) {
  uint32_t value = 0;
  for (uint32_t b = 0; b < bits; ++b) value |= uint32_t(bytes[(first + b) / 8] >> (first + b) % 8 & 1) << b;
  return value;
}

/// 16 elements of a row in 16 bytes: elements first, untouched padding behind.
void check_padded(Bench& b, int y0, int x0, bool swizzled) {
  for (int y = 0; y < 8; ++y)
    for (int chunk = 0; chunk < 8; ++chunk) {
      const int at = swizzled ? chunk ^ y : chunk;
      const uint8_t* bytes = b.smem.data(kTile + uint32_t(128 * y + 16 * at));
      for (int i = 0; i < 16; ++i)
        REQUIRE(bits_at(bytes, uint32_t(i) * b.bits, b.bits) == b.element(y0 + y, x0 + 16 * chunk + i));
      for (uint32_t i = 2 * b.bits; i < 16; ++i) REQUIRE(bytes[i] == 0xff);  // as it was
    }
}

}  // namespace

TEST_CASE("16U4_ALIGN16B: 8 bytes of elements, 8 of padding, data bytes are signalled", "[tma][packed]") {
  Bench b(Type::packed_16u4_align16b, 4);
  b.tma.load(b.copy(3, 128), 0);
  sc_core::sc_start();
  CHECK(b.observer.violation_id() == "");
  CHECK(b.received() == 8 * 64);
  check_padded(b, 3, 128, false);
}

TEST_CASE("16U6_ALIGN16B: 12 bytes of elements, 4 of padding, 128B swizzle", "[tma][packed]") {
  Bench b(Type::packed_16u6_align16b, 6);
  b.tma.load(b.copy(8, 0, 128, TensorMapSwizzle::b128), 0);
  sc_core::sc_start();
  CHECK(b.observer.violation_id() == "");
  CHECK(b.received() == 8 * 96);
  check_padded(b, 8, 0, true);
}

TEST_CASE("16U4_ALIGN8B: dense nibbles, rows outside are zeros and count", "[tma][packed]") {
  Bench b(Type::packed_16u4_align8b, 4);
  b.tma.load(b.copy(12, 32, 64), 0);  // rows 12 to 15 exist
  sc_core::sc_start();
  CHECK(b.observer.violation_id() == "");
  CHECK(b.received() == 8 * 32);
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 64; ++x)
      REQUIRE(bits_at(b.smem.data(kTile + uint32_t(32 * y)), uint32_t(4 * x), 4) ==
              (y < 4 ? b.element(12 + y, 32 + x) : 0));
}

TEST_CASE("rows of an ALIGN16B box outside of the tensor are zeros, their padding stays", "[tma][packed]") {
  Bench b(Type::packed_16u6_align16b, 6);
  b.tma.load(b.copy(-1, 256), 0);
  sc_core::sc_start();
  CHECK(b.received() == 8 * 96);
  CHECK(b.smem.load<uint32_t>(kTile + 16) == 0);
  CHECK(b.smem.load<uint32_t>(kTile + 12) == 0xffffffff);
}

TEST_CASE("16U6_ALIGN16B stores the lower 6 bits of each byte, densely (PTX .b6p2x16)", "[tma][packed]") {
  Bench b(Type::packed_16u6_align16b, 6);
  for (uint32_t y = 0; y < 8; ++y)
    for (uint32_t x = 0; x < 128; ++x)
      *b.smem.data(kTile + 128 * y + (x ^ (y & 7) << 4)) = uint8_t((3 * x + y) % 64 | 0xc0);  // 128B swizzle
  b.tma.store(b.copy(4, 128, 128, TensorMapSwizzle::b128), 0);
  sc_core::sc_start();
  CHECK(b.observer.violation_id() == "");
  for (uint32_t y = 0; y < 8; ++y) {
    const uint8_t* row = b.global() + (4 + y) * Bench::kStride;
    for (uint32_t x = 0; x < 128; ++x) REQUIRE(bits_at(row, (128 + x) * 6, 6) == (3 * x + y) % 64);
    REQUIRE(bits_at(row, 127 * 6, 6) == b.element(int(4 + y), 127));  // what lies before stays
  }
}

TEST_CASE("16U4_ALIGN8B stores dense nibbles", "[tma][packed]") {
  Bench b(Type::packed_16u4_align8b, 4);
  for (uint32_t i = 0; i < 8 * 32; ++i) *b.smem.data(kTile + i) = uint8_t(i);
  b.tma.store(b.copy(2, 64, 64), 0);
  sc_core::sc_start();
  CHECK(b.observer.violation_id() == "");
  for (uint32_t y = 0; y < 8; ++y)
    for (uint32_t i = 0; i < 32; ++i) REQUIRE(b.global()[(2 + y) * Bench::kStride + 32 + i] == uint8_t(32 * y + i));
}

TEST_CASE("packed copies that PTX does not have are named", "[tma][packed]") {
  Bench u4(Type::packed_16u4_align16b, 4), u6(Type::packed_16u6_align16b, 6);
  u4.tma.store(u4.copy(0, 0), 0);
  CHECK(u4.observer.violation_id() == "TM1");
  u4.observer.violations.clear();
  u4.tma.load(u4.copy(0, 64), 0);
  CHECK(u4.observer.violation_id() == "TM10");
  u6.tma.load(u6.copy(0, 0, 128, TensorMapSwizzle::b128_atom_64b), 0);
  CHECK(u6.observer.violation_id() == "TM1");
  u6.observer.violations.clear();
  u6.tma.load(u6.copy(0, 0, 64), 0);
  CHECK(u6.observer.violation_id() == "TM1");
}
