// SPDX-License-Identifier: Apache-2.0
// mma.sp against products of whole matrices, which are packed as PTX 9.7.14.6 says: small integers, so that every
// sum is exact.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "catch.h"
#include "kernels/isa/lane_array.h"
#include "kernels/isa/number_formats.h"
#include "mma_sync_forms.h"

using namespace sm100;
using namespace sm100::models;

namespace {

using Type = MmaSyncForm::Type;
using Sum = MmaSyncForm::Sum;

constexpr int kM = 16, kN = 8, kMostK = 128;

int bits_of(Type type) {
  switch (type) {
    case Type::tf32: return 32;
    case Type::f16:
    case Type::bf16: return 16;
    case Type::s4:
    case Type::u4: return 4;
    default: return 8;
  }
}
bool is_signed(Type type) { return type != Type::u8 && type != Type::u4; }

uint64_t code_of(Type type, int value) {
  const auto search = [&](DataType data) {
    for (uint32_t code = 0; code < 256; ++code)
      if (decode(data, code) == float(value)) return code;
    FAIL("no such number");
    return 0u;
  };
  switch (type) {
    case Type::tf32: return std::bit_cast<uint32_t>(float(value));
    case Type::bf16: return std::bit_cast<uint32_t>(float(value)) >> 16;
    case Type::f16: return cvt_rn_f16_f32(float(value));
    case Type::e4m3: return search(DataType::e4m3);
    case Type::e5m2: return search(DataType::e5m2);
    default: return uint64_t(value) & ((1u << bits_of(type)) - 1);
  }
}

/// Whole matrices, and how the lanes hold them.
struct Operands {
  MmaSyncForm form;
  int selector;
  int64_t a[kM][kMostK] = {}, b[kMostK][kN] = {}, c[kM][kN] = {};
  std::vector<uint64_t> a_held, b_held, c_held, metadata;

  /// @param in_order  indices of metadata ascend
  Operands(const MmaSyncForm& f, int sel, bool in_order, std::mt19937& random) : form(f), selector(sel) {
    a_held.resize(size_t(kWarpLanes * f.a_registers()));
    b_held.resize(size_t(kWarpLanes * f.b_registers()));
    c_held.resize(size_t(kWarpLanes * f.d_registers()));
    for (int lane = 0; lane < kWarpLanes; ++lane) metadata.push_back(random());  // those that do not count stay so
    for (int lane = 0; lane < kWarpLanes; ++lane)
      for (int own = 0; own < f.metadata_lanes(); ++own)
        if (lane % 4 == selector * f.metadata_lanes() + own) metadata[size_t(lane)] = 0;
    for (int row = 0; row < kM; ++row)
      for (int chunk = 0; chunk < f.k / chunk_columns(); ++chunk) fill_chunk(row, chunk, in_order, random);
    for (int k = 0; k < f.k; ++k)
      for (int n = 0; n < kN; ++n) set_b(k, n, number(f.b, random));
    for (int row = 0; row < kM; ++row)
      for (int n = 0; n < kN; ++n) set_c(row, n, random);
  }

  /// PTX 9.7.14.6.1: two of four are there, one of two of tf32, two pairs of eight of 4 bits.
  int chunk_columns() const { return form.a == Type::tf32 ? 2 : bits_of(form.a) == 4 ? 8 : 4; }

  /// Where a chunk's four bits of metadata are: the figures "metadata layout" of PTX 9.7.14.6.2.1 to 8.
  struct Bits {
    size_t lane;
    int shift;
  };
  Bits bits_of_chunk(int row, int chunk) const {
    const int first = row % 8 * 4 + selector * form.metadata_lanes();
    if (bits_of(form.a) >= 16) return {size_t(first + chunk / 4), 16 * (row / 8) + 4 * (chunk % 4)};
    return {size_t(first + row / 8 + 2 * (chunk / 8)), 4 * (chunk % 8)};
  }

  int number(Type type, std::mt19937& random) const { return int(random() % 7) + (is_signed(type) ? -3 : 1); }

  void fill_chunk(int row, int chunk, bool in_order, std::mt19937& random) {
    uint32_t pair;
    if (form.a == Type::tf32) {
      pair = random() % 2 ? 0b1110 : 0b0100;
    } else {
      uint32_t first = random() % 4, second = (first + 1 + random() % 3) % 4;
      if (in_order && first > second) std::swap(first, second);
      pair = first | second << 2;
    }
    const Bits to = bits_of_chunk(row, chunk);
    metadata[to.lane] |= uint64_t{pair} << to.shift;
    const int columns = chunk_columns(), base = chunk * columns;
    for (int i = 0; i < columns / 2; ++i) {
      const int column = columns == 2   ? int(pair == 0b1110)
                         : columns == 4 ? int(pair >> 2 * i & 3)
                                        : int(2 * (pair >> 2 * (i / 2) & 3)) + i % 2;
      const int drawn = number(form.a, random), value = drawn ? drawn : 3;
      a[row][base + column] = value;
      pack(row, base, i, code_of(form.a, value));
    }
  }

  /// PTX: "firstcol" of a thread's registers is threadID_in_group times the columns of one, half of K on for the
  /// upper registers; the elements of a register are those that are there, in order.
  void pack(int row, int base, int i, uint64_t code) {
    const int bits = bits_of(form.a), span = 64 / bits;
    const int lane = row % 8 * 4 + base / span % 4, r = base / (4 * span) * 2 + row / 8;
    const int e = base % span / 2 + i;
    a_held[size_t(lane * form.a_registers() + r)] |= code << (bits * e);
  }

  void set_b(int k, int n, int value) {
    const int bits = bits_of(form.b), each = 32 / bits;
    b[k][n] = value;
    b_held[size_t((4 * n + k / each % 4) * form.b_registers() + k / (4 * each))] |= code_of(form.b, value)
                                                                                    << (bits * (k % each));
  }

  void set_c(int row, int n, std::mt19937& random) {
    int value = int(random() % 64) - 32;
    if (form.d == Sum::s32 && n % 2) value += std::numeric_limits<int>::max() - 32;
    c[row][n] = value;
    const size_t first = size_t((row % 8 * 4 + n / 2) * form.d_registers());
    if (form.d == Sum::f16)
      c_held[first + size_t(row / 8)] |= uint64_t{cvt_rn_f16_f32(float(value))} << (16 * (n % 2));
    else
      c_held[first + size_t(row / 8 * 2 + n % 2)] =
          form.d == Sum::s32 ? uint32_t(value) : std::bit_cast<uint32_t>(float(value));
  }

  std::vector<uint64_t> product(Accumulation accumulation, MmaSyncCore core) const {
    std::vector<uint64_t> d(c_held.size());
    mma_sync(form, accumulation, core, a_held.data(), b_held.data(), c_held.data(), d.data(),
             {metadata.data(), selector});
    return d;
  }

  double expected(int row, int n) const {
    double sum = double(c[row][n]);
    for (int k = 0; k < form.k; ++k) sum += double(a[row][k] * b[k][n]);
    if (form.d != Sum::s32) return sum;
    using Limits = std::numeric_limits<int32_t>;
    if (form.saturate) return std::clamp(sum, double(Limits::min()), double(Limits::max()));
    return int32_t(uint32_t(int64_t(sum)));
  }
};

double element(const MmaSyncForm& form, const std::vector<uint64_t>& d, int row, int n) {
  const size_t first = size_t((row % 8 * 4 + n / 2) * form.d_registers());
  if (form.d == Sum::f16) return decode_f16(uint16_t(d[first + size_t(row / 8)] >> (16 * (n % 2))));
  const auto held = uint32_t(d[first + size_t(row / 8 * 2 + n % 2)]);
  return form.d == Sum::s32 ? double(int32_t(held)) : double(std::bit_cast<float>(held));
}

}  // namespace

TEST_CASE("mma.sp: the product of the whole matrices, every form and selector") {
  struct Case {
    const char* text;
    int selectors;  ///< PTX 9.7.14.6.1
  };
  const auto [text, selectors] = GENERATE(values<Case>({
      {"m16n8k16.row.col.f32.f16.f16.f32", 4},   {"m16n8k32.row.col.f32.f16.f16.f32", 2},
      {"m16n8k16.row.col.f16.f16.f16.f16", 4},   {"m16n8k32.row.col.f16.f16.f16.f16", 2},
      {"m16n8k16.row.col.f32.bf16.bf16.f32", 4}, {"m16n8k32.row.col.f32.bf16.bf16.f32", 2},
      {"m16n8k8.row.col.f32.tf32.tf32.f32", 4},  {"m16n8k16.row.col.f32.tf32.tf32.f32", 2},
      {"m16n8k64.row.col.f32.e4m3.e4m3.f32", 1}, {"m16n8k64.row.col.f32.e4m3.e5m2.f32", 1},
      {"m16n8k64.row.col.f32.e5m2.e4m3.f32", 1}, {"m16n8k64.row.col.f32.e5m2.e5m2.f32", 1},
      {"m16n8k32.row.col.s32.s8.s8.s32", 2},     {"m16n8k32.row.col.satfinite.s32.u8.s8.s32", 2},
      {"m16n8k64.row.col.s32.s8.u8.s32", 1},     {"m16n8k64.row.col.satfinite.s32.u8.u8.s32", 1},
      {"m16n8k64.row.col.s32.s4.u4.s32", 2},     {"m16n8k64.row.col.satfinite.s32.u4.u4.s32", 2},
      {"m16n8k128.row.col.s32.s4.s4.s32", 1},    {"m16n8k128.row.col.satfinite.s32.u4.s4.s32", 1},
  }));
  for (const bool in_order : {true, false}) {
    const auto form = form_of(text, in_order ? ".sp::ordered_metadata" : ".sp");
    INFO(text);
    REQUIRE(form);
    REQUIRE(form->sparse);
    REQUIRE(form->selectors() == selectors);
    std::mt19937 random(7);
    for (int selector = 0; selector < selectors; ++selector) {
      const Operands operands(*form, selector, in_order, random);
      for (const Accumulation mode : {Accumulation::fast, Accumulation::b200})
        for (const MmaSyncCore core : {MmaSyncCore::hopper, MmaSyncCore::blackwell}) {
          const std::vector<uint64_t> d = operands.product(mode, core);
          int wrong = 0;
          for (int row = 0; row < kM; ++row)
            for (int n = 0; n < kN; ++n) wrong += element(*form, d, row, n) != operands.expected(row, n);
          CHECK(wrong == 0);
        }
    }
  }
}

TEST_CASE("mma.sp: other metadata of a chunk change its row and no other") {
  const char* const text = GENERATE("m16n8k32.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f32.tf32.tf32.f32",
                                    "m16n8k64.row.col.s32.s8.s8.s32", "m16n8k64.row.col.s32.s4.s4.s32",
                                    "m16n8k64.row.col.f32.e4m3.e4m3.f32");
  const auto form = form_of(text, ".sp::ordered_metadata");
  REQUIRE(form);
  std::mt19937 random(11);
  Operands operands(*form, form->selectors() - 1, true, random);
  const std::vector<uint64_t> right = operands.product(Accumulation::b200, MmaSyncCore::hopper);
  for (int row = 0; row < kM; ++row) {
    const int chunk = row % (form->k / operands.chunk_columns());
    const Operands::Bits at = operands.bits_of_chunk(row, chunk);
    const uint64_t old = operands.metadata[at.lane], pair = old >> at.shift & 15;
    // The two places that are free; of tf32 the other one.
    static constexpr uint64_t kOthers[][2] = {{0x4, 0xe}, {0xe, 0x4}, {0x8, 0xd},
                                              {0xd, 0x8}, {0xc, 0x9}, {0x9, 0xc}};
    for (const auto& [from, to] : kOthers)
      if (pair == from) operands.metadata[at.lane] ^= (from ^ to) << at.shift;
    const std::vector<uint64_t> wrong = operands.product(Accumulation::b200, MmaSyncCore::hopper);
    operands.metadata[at.lane] = old;
    for (int other = 0; other < kM; ++other) {
      bool same = true;
      for (int n = 0; n < kN; ++n)
        same = same && element(*form, right, other, n) == element(*form, wrong, other, n);
      CHECK(same == (other != row));
    }
  }
}

// Undefined in PTX.
TEST_CASE("mma.sp: metadata that name an element twice, or in descending order, do no harm") {
  const char* const text = GENERATE("m16n8k16.row.col.f32.f16.f16.f32", "m16n8k8.row.col.f32.tf32.tf32.f32",
                                    "m16n8k64.row.col.s32.s8.s8.s32", "m16n8k128.row.col.s32.s4.s4.s32",
                                    "m16n8k64.row.col.f32.e5m2.e4m3.f32");
  const auto form = form_of(text, ".sp::ordered_metadata");
  REQUIRE(form);
  std::mt19937 random(13);
  Operands operands(*form, 0, true, random);
  for (const uint64_t word : {0x00000000u, 0x55555555u, 0xffffffffu, 0x11111111u, 0x1b1b1b1bu})
    for (const Accumulation mode : {Accumulation::fast, Accumulation::b200}) {
      for (uint64_t& held : operands.metadata) held = word;
      const std::vector<uint64_t> d = operands.product(mode, MmaSyncCore::blackwell);
      CHECK(d == operands.product(mode, MmaSyncCore::blackwell));
    }
}

TEST_CASE("mma.sp: forms that are not there are no forms") {
  const char* const sp = GENERATE(".sp", ".sp::ordered_metadata");
  CHECK_FALSE(form_of("m16n8k8.row.col.f32.f16.f16.f32", sp));     // no such K
  CHECK_FALSE(form_of("m16n8k4.row.col.f32.tf32.tf32.f32", sp));   // no such K
  CHECK_FALSE(form_of("m8n8k32.row.col.s32.s8.s8.s32", sp));       // no such M
  CHECK_FALSE(form_of("m16n8k32.row.col.f32.e4m3.e4m3.f32", sp));  // sm_120 alone
  CHECK_FALSE(form_of("m16n8k64.row.col.f16.e4m3.e4m3.f16", sp));  // sm_120 alone
  CHECK_FALSE(form_of("m16n8k64.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32", sp));
  CHECK_FALSE(form_of("m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", sp));
  CHECK_FALSE(form_of("m16n8k16.row.col.f64.f64.f64.f64", sp));
  CHECK_FALSE(form_of("m16n8k256.row.col.s32.b1.b1.s32.and.popc", sp));
  CHECK_FALSE(form_of("m16n8k32.row.col.f32.f16.f16.f32", ".sp::any"));
}
