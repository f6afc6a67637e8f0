// SPDX-License-Identifier: Apache-2.0
// wmma: products of small whole numbers against plain loops, fragments against those of mma.sync in PTX, and hashes
// of what bench/hardware/wmma_fragments.cu shows.
#include "models/wmma.h"

#include <bit>
#include <set>
#include <string>
#include <vector>

#include "bench/hardware/mma_sync_words.h"
#include "catch.h"
#include "kernels/isa/lane_array.h"
#include "kernels/isa/number_formats.h"

using namespace sm100;
using namespace sm100::models;

namespace {

using Type = MmaSyncForm::Type;
using Sum = MmaSyncForm::Sum;
using Matrix = WmmaFragment::Matrix;
using Word = bench::MmaSyncWord;

std::vector<std::string_view> parts_of(const std::string& text) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('.', at + 1), text.size());
    parts.push_back(std::string_view(text).substr(at, end - at));
    at = end;
  }
  return parts;
}
/// "m16n16k16.f32.f32", with "row.col" in front where another order is meant.
std::optional<WmmaForm> form_of(const std::string& text, const std::string& order = "row.col") {
  const std::string all = ".mma.sync.aligned." + order + "." + text;
  return wmma_form(parts_of(all));
}
/// "m16n16k16 f16 a row", as wmma_fragments.cu prints it.
std::optional<WmmaFragment> fragment_of(const std::string& text) {
  const size_t type = text.find(' '), matrix = text.find(' ', type + 1), order = text.find(' ', matrix + 1);
  const std::string all = ".load." + text.substr(matrix + 1, 1) + ".sync.aligned." + text.substr(order + 1) + "." +
                          text.substr(0, type) + ".global." + text.substr(type + 1, matrix - type - 1);
  return wmma_fragment(parts_of(all));
}

uint64_t bits_of(Type type, int value) {
  switch (type) {
    case Type::f16: return cvt_rn_f16_f32(float(value));
    case Type::bf16: return std::bit_cast<uint32_t>(float(value)) >> 16;
    case Type::tf32: return std::bit_cast<uint32_t>(float(value));
    case Type::f64: return std::bit_cast<uint64_t>(double(value));
    case Type::s4:
    case Type::u4: return uint64_t(value & 15);
    case Type::b1: return uint64_t(value & 1);
    default: return uint64_t(value & 255);
  }
}
uint64_t bits_of(Sum sum, int value) {
  return sum == Sum::f16   ? bits_of(Type::f16, value)
         : sum == Sum::f32 ? bits_of(Type::tf32, value)
         : sum == Sum::f64 ? bits_of(Type::f64, value)
                           : uint64_t{uint32_t(value)};
}

/// A matrix's registers: [lane * registers + r].
template <class F>
std::vector<uint64_t> fill(const WmmaFragment& f, F&& bits) {
  std::vector<uint64_t> held(size_t(kWarpLanes * f.registers()));
  for (int lane = 0; lane < kWarpLanes; ++lane)
    for (int r = 0; r < f.registers(); ++r)
      for (int e = 0; e < f.elements(); ++e) {
        const WmmaPlace at = wmma_place(f, lane, r, e);
        held[size_t(lane * f.registers() + r)] |= bits(at.row, at.column) << (f.element_bits() * e);
      }
  return held;
}

/// Small numbers that the type has.
int number(Type type, int row, int column, int salt) {
  const int any = (row * 7 + column * 3 + salt * row * column) % 11;
  if (type == Type::b1) return any & 1;
  return type == Type::u8 || type == Type::u4 ? any : any - 5;
}

Word operand_word(Type type) {
  switch (type) {
    case Type::f16: return Word::f16x2;
    case Type::bf16: return Word::bf16x2;
    case Type::tf32: return Word::f32;
    case Type::f64: return Word::f64;
    default: return Word::bits;
  }
}
Word sum_word(Sum sum) {
  return sum == Sum::f32 ? Word::f32 : sum == Sum::f16 ? Word::f16x2 : sum == Sum::f64 ? Word::f64 : Word::bits;
}

uint64_t hash_of_products(const WmmaForm& form) {
  bench::MmaSyncHash hash;
  for (uint32_t tile = 0; tile < bench::kMmaSyncTiles; ++tile) {
    std::vector<uint64_t> a, b, c;
    for (uint32_t lane = 0; lane < uint32_t(kWarpLanes); ++lane) {
      bench::MmaSyncWords words(tile, lane);
      for (int r = 0; r < form.a_registers(); ++r) a.push_back(words.draw(operand_word(form.type)));
      for (int r = 0; r < form.b_registers(); ++r) b.push_back(words.draw(operand_word(form.type)));
      words.any = false;
      for (int r = 0; r < form.c_registers(); ++r) c.push_back(words.draw(sum_word(form.c)));
    }
    std::vector<uint64_t> d(size_t(kWarpLanes * form.d_registers()));
    wmma(form, Accumulation::b200, MmaSyncCore::hopper, a.data(), b.data(), c.data(), d.data());
    for (const uint64_t word : d) hash.add(word);
  }
  return hash.value;
}

uint64_t hash_of_fragment(const WmmaFragment& f) {
  bench::MmaSyncHash hash;
  for (int lane = 0; lane < kWarpLanes; ++lane)
    for (int r = 0; r < f.registers(); ++r)
      for (int e = 0; e < f.elements(); ++e) {
        const WmmaPlace at = wmma_place(f, lane, r, e);
        hash.add(uint64_t(at.row * f.columns() + at.column));
      }
  return hash.value;
}

constexpr const char* kForms[] = {"m16n16k16.f32.f32",
                                  "m16n16k16.f16.f16",
                                  "m16n16k16.f32.f16",
                                  "m16n16k16.f16.f32",
                                  "m8n32k16.f32.f32",
                                  "m8n32k16.f16.f16",
                                  "m32n8k16.f32.f32",
                                  "m32n8k16.f16.f16",
                                  "m16n16k16.f32.bf16.bf16.f32",
                                  "m8n32k16.f32.bf16.bf16.f32",
                                  "m32n8k16.f32.bf16.bf16.f32",
                                  "m16n16k8.f32.tf32.tf32.f32",
                                  "m16n16k16.s32.s8.s8.s32",
                                  "m16n16k16.s32.u8.u8.s32.satfinite",
                                  "m8n32k16.s32.s8.s8.s32.satfinite",
                                  "m32n8k16.s32.u8.u8.s32",
                                  "m8n8k32.s32.s4.s4.s32",
                                  "m8n8k32.s32.u4.u4.s32.satfinite",
                                  "m8n8k128.s32.b1.b1.s32.and.popc",
                                  "m8n8k128.s32.b1.b1.s32.xor.popc",
                                  "m8n8k4.f64.f64.f64.f64"};

}  // namespace

TEST_CASE("wmma.mma: small whole numbers are multiplied and added exactly, every form") {
  const std::string text = GENERATE(from_range(std::begin(kForms), std::end(kForms)));
  INFO(text);
  const auto form = form_of(text);
  REQUIRE(form);
  const auto a = [&](int row, int k) { return number(form->type, row, k, 1); };
  const auto b = [&](int k, int column) { return number(form->type, k, column, 2); };
  const auto old = [](int row, int column) { return row - 2 * column; };
  const auto fa =
      fill(form->fragment(Matrix::a, form->d), [&](int i, int k) { return bits_of(form->type, a(i, k)); });
  const auto fb =
      fill(form->fragment(Matrix::b, form->d), [&](int k, int j) { return bits_of(form->type, b(k, j)); });
  const auto fc =
      fill(form->fragment(Matrix::c, form->c), [&](int i, int j) { return bits_of(form->c, old(i, j)); });
  const auto expected = fill(form->fragment(Matrix::c, form->d), [&](int i, int j) {
    int sum = old(i, j);
    for (int k = 0; k < form->k; ++k)
      sum += form->bit_op == MmaSyncForm::BitOp::xor_popc ? a(i, k) ^ b(k, j) : a(i, k) * b(k, j);
    return bits_of(form->d, sum);
  });
  REQUIRE(int(fa.size()) == kWarpLanes * form->a_registers());
  for (const Accumulation mode : {Accumulation::fast, Accumulation::b200})
    for (const MmaSyncCore core : {MmaSyncCore::hopper, MmaSyncCore::blackwell}) {
      std::vector<uint64_t> d(expected.size(), 1);
      wmma(*form, mode, core, fa.data(), fb.data(), fc.data(), d.data());
      CHECK(d == expected);
    }
}

TEST_CASE("wmma: each element of a matrix has one place, and of f16 the other registers repeat them") {
  const std::string text =
      GENERATE(as<std::string>(), "m16n16k16 f16 a row", "m8n32k16 f16 a row", "m8n32k16 f16 b row",
               "m32n8k16 f16 b col", "m16n16k16 f16 c row", "m8n32k16 f32 c row", "m32n8k16 s32 c col",
               "m8n32k16 bf16 a col", "m32n8k16 bf16 a row", "m16n16k8 tf32 a row", "m16n16k8 tf32 b row",
               "m16n16k16 s8 b col", "m8n32k16 u8 b col", "m32n8k16 u8 a col", "m8n8k32 s4 a row",
               "m8n8k128 b1 b col", "m8n8k4 f64 a row", "m8n8k4 f64 c row");
  INFO(text);
  const auto f = fragment_of(text);
  REQUIRE(f);
  std::set<std::pair<int, int>> places;
  for (int lane = 0; lane < kWarpLanes; ++lane)
    for (int r = 0; r < f->registers(); ++r)
      for (int e = 0; e < f->elements(); ++e) {
        const WmmaPlace at = wmma_place(*f, lane, r, e);
        REQUIRE((at.row >= 0 && at.row < f->rows() && at.column >= 0 && at.column < f->columns()));
        if (r < f->distinct_registers()) CHECK(places.insert({at.row, at.column}).second);
        const WmmaPlace first = wmma_place(*f, lane, r % f->distinct_registers(), e);
        CHECK((at.row == first.row && at.column == first.column));
      }
  CHECK(int(places.size()) == f->rows() * f->columns());
}

// By hand from PTX, Matrix Fragments for mma.m16n8k16 and m16n8k8.
TEST_CASE("wmma: fragments are those of mma.sync, side by side") {
  const auto is = [](const char* text, int lane, int r, int e, int row, int column) {
    const auto f = fragment_of(text);
    REQUIRE(f);
    const WmmaPlace at = wmma_place(*f, lane, r, e);
    INFO(text << ", lane " << lane << ", register " << r << ", place " << e << ": " << at.row << ' ' << at.column);
    CHECK((at.row == row && at.column == column));
  };
  is("m16n16k16 f16 a row", 23, 3, 1, 13, 15);  // a7: row 5 + 8, column 3 * 2 + 1 + 8
  is("m16n16k16 f16 a col", 23, 7, 1, 13, 15);
  is("m16n16k16 f16 b row", 27, 1, 1, 15, 6);  // b3 of lane 27, and eight columns on
  is("m16n16k16 f16 b row", 27, 3, 1, 15, 14);
  is("m16n16k16 f32 c row", 23, 2, 0, 13, 6);
  is("m16n16k16 f32 c row", 23, 6, 0, 13, 14);
  is("m16n16k16 f16 c row", 23, 3, 1, 13, 15);
  is("m32n8k16 bf16 a row", 23, 7, 1, 29, 15);
  is("m32n8k16 f32 c row", 23, 6, 1, 29, 7);
  is("m8n32k16 bf16 b col", 23, 7, 1, 15, 29);  // as A of m32n8k16, transposed
  is("m8n32k16 bf16 a row", 27, 1, 1, 6, 15);
  is("m8n32k16 f32 c row", 23, 6, 1, 7, 29);
  is("m16n16k8 tf32 a row", 23, 1, 0, 13, 3);
  is("m16n16k8 tf32 a row", 23, 2, 0, 5, 7);
  is("m16n16k8 tf32 b row", 23, 1, 0, 7, 5);
  is("m16n16k8 tf32 b row", 23, 2, 0, 3, 13);
  is("m16n16k16 s8 a row", 23, 1, 2, 13, 14);
  is("m8n8k32 s4 a row", 23, 0, 5, 5, 29);
  is("m8n8k4 f64 b row", 23, 0, 0, 3, 5);
  is("m8n8k4 f64 c row", 23, 1, 0, 5, 7);
}

TEST_CASE("wmma.mma of tf32 is two sums, of each half of K") {
  const auto form = form_of("m16n16k8.f32.tf32.tf32.f32");
  REQUIRE(form);
  const auto row_of_a = [](int, int k) {
    return bits_of(Type::tf32, k == 0 ? 1 << 30 : k == 1 ? -(1 << 30) : k == 4);
  };
  const auto a = fill(form->fragment(Matrix::a, form->d), row_of_a);
  const auto b = fill(form->fragment(Matrix::b, form->d), [](int, int) { return bits_of(Type::tf32, 1); });
  const std::vector<uint64_t> c(32 * 8);
  std::vector<uint64_t> d(32 * 8);
  wmma(*form, Accumulation::b200, MmaSyncCore::hopper, a.data(), b.data(), c.data(), d.data());
  for (const uint64_t sum : d) CHECK(std::bit_cast<float>(uint32_t(sum)) == 1.f);  // in one sum the 1 is lost
}

TEST_CASE("wmma.mma: C of f32 beside D of f16 is rounded once, behind the sum") {
  const auto form = form_of("m16n16k16.f16.f32");
  REQUIRE(form);
  const auto first = [](int k) { return bits_of(Type::f16, k == 0); };
  const auto a = fill(form->fragment(Matrix::a, form->d), [&](int, int k) { return first(k); });
  const auto b = fill(form->fragment(Matrix::b, form->d), [&](int k, int) { return first(k); });
  const std::vector<uint64_t> c(32 * 8, std::bit_cast<uint32_t>(4097.5f));  // f16 has every fourth number there
  std::vector<uint64_t> d(32 * 4);
  wmma(*form, Accumulation::b200, MmaSyncCore::hopper, a.data(), b.data(), c.data(), d.data());
  for (const uint64_t pair : d) CHECK(pair == 0x10001u * cvt_rn_f16_f32(4100));
}

TEST_CASE("wmma.mma takes what its mma.sync take") {
  const DeviceProfile profile = [] {
    DeviceProfile p{};
    p.mma_sync.cycles = 6, p.mma_sync.latency_cycles = 24;
    p.mma_sync.half_cycles = 4, p.mma_sync.half_latency_cycles = 18;
    p.issue.alu = 2;
    return p;
  }();
  const auto cycles = [&](const char* text) {
    const auto form = form_of(text);
    REQUIRE(form);
    const MmaSyncCycles c = wmma_cycles(*form, profile);
    return std::pair(c.issue, c.latency);
  };
  CHECK(cycles("m16n16k16.f32.f32") == std::pair(12., 30.));
  CHECK(cycles("m8n32k16.f16.f16") == std::pair(12., 30.));
  CHECK(cycles("m16n16k8.f32.tf32.tf32.f32") == std::pair(16., 40.));  // two chains of two
  CHECK(cycles("m16n16k16.f32.f16") == std::pair(28., 46.));           // and eight conversions
  CHECK(cycles("m16n16k16.f16.f32") == std::pair(20., 38.));           // four
}

TEST_CASE("wmma: forms that are not there are no forms") {
  CHECK(form_of("m16n16k16.f32.f32", "col.row"));
  CHECK(form_of("m8n8k4.rn.f64.f64.f64.f64", "col.col"));
  CHECK_FALSE(form_of("m8n8k4.rz.f64.f64.f64.f64"));
  CHECK_FALSE(form_of("m16n16k16.f32.f32.satfinite"));
  CHECK_FALSE(form_of("m16n16k16.f16.bf16.bf16.f16"));
  CHECK_FALSE(form_of("m16n16k8.f32.bf16.bf16.f32"));
  CHECK_FALSE(form_of("m32n8k8.f32.tf32.tf32.f32"));
  CHECK_FALSE(form_of("m16n16k16.s32.s8.u8.s32"));
  CHECK_FALSE(form_of("m8n8k32.s32.s4.s4.s32", "col.col"));
  CHECK_FALSE(form_of("m8n8k128.s32.b1.b1.s32"));
  CHECK_FALSE(form_of("m16n16k16.f32.e4m3.e4m3.f32"));
  CHECK_FALSE(fragment_of("m16n16k16 tf32 a row"));
  CHECK_FALSE(fragment_of("m8n8k32 s4 a col"));
  CHECK_FALSE(fragment_of("m16n16k16 f64 c row"));
  CHECK_FALSE(fragment_of("m16n16k16 s8 c row"));
}

// What wmma_fragments prints on an H200, .row and .col alike.
TEST_CASE("wmma: each register holds what it holds on an H200, whatever the order in memory") {
  struct Measured {
    const char* fragment;
    uint64_t hash;
  };
  const auto [text, hash] = GENERATE(values<Measured>({
      {"m16n16k16 f16 a", 0xb0b5a878641b6225},  {"m16n16k16 f16 b", 0xd83c2c6acc3d2e25},
      {"m16n16k16 f16 c", 0xdf33cf89942b07a5},  {"m16n16k16 f32 c", 0xdf33cf89942b07a5},
      {"m8n32k16 f16 a", 0xb0b3133d67c57425},   {"m8n32k16 f16 b", 0x6322201aab9a5f25},
      {"m8n32k16 f16 c", 0x53fa3002c0d742a5},   {"m8n32k16 f32 c", 0x53fa3002c0d742a5},
      {"m32n8k16 f16 a", 0x56630beb6aa87c25},   {"m32n8k16 f16 b", 0x000097e7dc298fa5},
      {"m32n8k16 f16 c", 0x41836f3281dd89a5},   {"m32n8k16 f32 c", 0x41836f3281dd89a5},
      {"m16n16k16 bf16 a", 0xdf33cf89942b07a5}, {"m16n16k16 bf16 b", 0xe2d54e57a3e2bf25},
      {"m8n32k16 bf16 a", 0x6ab8d9e601638725},  {"m8n32k16 bf16 b", 0x6322201aab9a5f25},
      {"m32n8k16 bf16 a", 0x56630beb6aa87c25},  {"m32n8k16 bf16 b", 0xafa7e755b7a5a7a5},
      {"m16n16k8 tf32 a", 0x12b3073146e3eb25},  {"m16n16k8 tf32 b", 0xe22d66e8fc7b2d65},
      {"m16n16k8 f32 c", 0xdf33cf89942b07a5},   {"m16n16k16 s8 a", 0x75422c5c17bbf625},
      {"m16n16k16 s8 b", 0x5017247a201734a5},   {"m16n16k16 s32 c", 0xdf33cf89942b07a5},
      {"m8n32k16 u8 a", 0x356c6cc8137514a5},    {"m8n32k16 u8 b", 0x61ee9ed30d520025},
      {"m8n32k16 s32 c", 0x53fa3002c0d742a5},   {"m32n8k16 s8 a", 0x44d36a16038f2925},
      {"m32n8k16 s8 b", 0xd70b2e57d45fed65},    {"m32n8k16 s32 c", 0x41836f3281dd89a5},
      {"m8n8k32 s4 a", 0x4242dc5249c33625},     {"m8n8k32 s4 b", 0xe60a074e3a5b74a5},
      {"m8n8k32 s32 c", 0x8368214f77995ee5},    {"m8n8k128 b1 a", 0x80615f6b2bf74f25},
      {"m8n8k128 b1 b", 0xae5da044ad59d725},    {"m8n8k128 s32 c", 0x8368214f77995ee5},
      {"m8n8k4 f64 a", 0xe6cb594c1a148ac5},     {"m8n8k4 f64 b", 0x2bb469bc0cab9675},
      {"m8n8k4 f64 c", 0x8368214f77995ee5},
  }));
  for (const char* order : {" row", " col"}) {
    INFO(text << order);
    const auto f = fragment_of(std::string(text) + order);
    if (f) CHECK(hash_of_fragment(*f) == hash);  // s4 and b1 have one order
  }
}

// What wmma_fragments --products prints on an H200.
TEST_CASE("wmma.mma: the sums of an H200 bit for bit") {
  struct Measured {
    const char* form;
    uint64_t hash;
  };
  const auto [text, hash] = GENERATE(values<Measured>({
      {"m16n16k16.f32.f32", 0xc60742faf010152a},
      {"m16n16k16.f16.f16", 0x571dd1a086e31f6d},
      {"m16n16k16.f32.f16", 0xf6cc00908e70dcc5},
      {"m16n16k16.f16.f32", 0xc1c1d0afb6ba3b55},
      {"m8n32k16.f32.f32", 0x888df08e77e5b4db},
      {"m8n32k16.f16.f16", 0xd4ded3a74ab57f81},
      {"m32n8k16.f32.f32", 0x4fde35faf0e7ca0c},
      {"m32n8k16.f16.f16", 0x0565ab1b57bca9d9},
      {"m16n16k16.f32.bf16.bf16.f32", 0xf5d24e76a7ec1be0},
      {"m8n32k16.f32.bf16.bf16.f32", 0xc9ed42c54bdf1bf9},
      {"m32n8k16.f32.bf16.bf16.f32", 0x95be145e03aae7d7},
      {"m16n16k8.f32.tf32.tf32.f32", 0xbe8319bfb998682e},
      {"m16n16k16.s32.s8.s8.s32", 0x47b333d8b69aad2e},
      {"m16n16k16.s32.u8.u8.s32.satfinite", 0xba228b4d58ebcfb3},
      {"m8n32k16.s32.s8.s8.s32.satfinite", 0x190dbc943e51a505},
      {"m32n8k16.s32.u8.u8.s32", 0x657f2ec56b5c5531},
      {"m8n8k32.s32.s4.s4.s32", 0xe54abd4e2582193c},
      {"m8n8k32.s32.u4.u4.s32.satfinite", 0xceb59e98a58f333c},
      {"m8n8k128.s32.b1.b1.s32.and.popc", 0xa750ffacaeafa2b5},
      {"m8n8k128.s32.b1.b1.s32.xor.popc", 0x14db70d2889661cf},
      {"m8n8k4.f64.f64.f64.f64", 0xe599b07b5e3d93a0},
  }));
  INFO(text);
  const auto form = form_of(text);
  REQUIRE(form);
  CHECK(hash_of_products(*form) == hash);
}
