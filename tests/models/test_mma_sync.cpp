// SPDX-License-Identifier: Apache-2.0
// mma.sync and mma.sp against what an H200 computed (bench/hardware/mma_sync.cu --products), and against fragments
// written down by hand from PTX.
#include "models/mma_sync.h"

#include <bit>
#include <string>
#include <vector>

#include "bench/hardware/mma_sync_words.h"
#include "catch.h"
#include "kernels/isa/lane_array.h"
#include "kernels/isa/number_formats.h"
#include "mma_sync_forms.h"

using namespace sm100;
using namespace sm100::models;
using Word = bench::MmaSyncWord;

namespace {

Word operand_word(MmaSyncForm::Type type) {
  using Type = MmaSyncForm::Type;
  switch (type) {
    case Type::f16: return Word::f16x2;
    case Type::bf16: return Word::bf16x2;
    case Type::tf32: return Word::f32;
    case Type::e4m3:
    case Type::e5m2: return Word::fp8x4;
    case Type::f64: return Word::f64;
    default: return Word::bits;
  }
}
Word sum_word(MmaSyncForm::Sum sum) {
  switch (sum) {
    case MmaSyncForm::Sum::f32: return Word::f32;
    case MmaSyncForm::Sum::f16: return Word::f16x2;
    case MmaSyncForm::Sum::f64: return Word::f64;
    default: return Word::bits;
  }
}

uint64_t hash_of_products(const MmaSyncForm& form, MmaSyncCore core,
                          bench::MmaSyncMetadata kind = bench::MmaSyncMetadata::none, int selector = 0) {
  bench::MmaSyncHash hash;
  for (uint32_t tile = 0; tile < bench::kMmaSyncTiles; ++tile) {
    std::vector<uint64_t> a, b, c, metadata;
    for (uint32_t lane = 0; lane < uint32_t(kWarpLanes); ++lane) {
      bench::MmaSyncWords words(tile, lane);
      for (int r = 0; r < form.a_registers(); ++r) a.push_back(words.draw(operand_word(form.a)));
      for (int r = 0; r < form.b_registers(); ++r) b.push_back(words.draw(operand_word(form.b)));
      words.any = false;
      for (int r = 0; r < form.d_registers(); ++r) c.push_back(words.draw(sum_word(form.d)));
      if (form.sparse) metadata.push_back(words.metadata(kind));
    }
    std::vector<uint64_t> d(c.size());
    mma_sync(form, Accumulation::b200, core, a.data(), b.data(), c.data(), d.data(), {metadata.data(), selector});
    for (const uint64_t word : d) hash.add(word);
  }
  return hash.value;
}

}  // namespace

TEST_CASE("mma.sync: the sums of an H200 bit for bit, every form") {
  struct Measured {
    const char* form;
    uint64_t hash;
  };
  const auto [form, hash] = GENERATE(values<Measured>({
      {"m16n8k16.row.col.f32.f16.f16.f32", 0x97e997013a483707},
      {"m16n8k8.row.col.f32.f16.f16.f32", 0x3ee713421adc9db4},
      {"m16n8k16.row.col.f16.f16.f16.f16", 0x4abad617ef287d59},
      {"m16n8k8.row.col.f16.f16.f16.f16", 0xaa5ba83ec2cd7947},
      {"m16n8k16.row.col.f32.bf16.bf16.f32", 0x6cbe6e9480f781d4},
      {"m16n8k8.row.col.f32.bf16.bf16.f32", 0x8f60ef1f052ab78d},
      {"m16n8k8.row.col.f32.tf32.tf32.f32", 0x4728b56dfdbcf32e},
      {"m16n8k4.row.col.f32.tf32.tf32.f32", 0x807e326d29ea066b},
      {"m16n8k32.row.col.f32.e4m3.e4m3.f32", 0xd1535e3bdec00dd3},
      {"m16n8k32.row.col.f32.e5m2.e5m2.f32", 0x52cb7d24b32cc831},
      {"m16n8k32.row.col.f16.e4m3.e4m3.f16", 0xa85eecf312230c11},
      {"m16n8k16.row.col.f32.e4m3.e4m3.f32", 0x1bd85f6553441e63},
      {"m16n8k32.row.col.s32.s8.s8.s32", 0x711e115b43bebb8c},
      {"m16n8k16.row.col.satfinite.s32.u8.s8.s32", 0x932c4c3a6f2f1bde},
      {"m8n8k16.row.col.s32.s8.u8.s32", 0x877e31e00d5e97ff},
      {"m16n8k64.row.col.s32.s4.u4.s32", 0x4d6c5077c2b62690},
      {"m16n8k256.row.col.s32.b1.b1.s32.and.popc", 0x3e858748a1bb3303},
      {"m8n8k4.row.col.f64.f64.f64.f64", 0xe599b07b5e3d93a0},
      {"m16n8k8.row.col.f64.f64.f64.f64", 0xebe14dbb37a710cb},
  }));
  INFO(form);
  const auto parsed = form_of(form);
  REQUIRE(parsed);
  CHECK(hash_of_products(*parsed, MmaSyncCore::hopper) == hash);
}

// bench/hardware/mma_sync.cu --products, the lines that begin with "sp".
TEST_CASE("mma.sp: the sums of an H200 bit for bit") {
  struct Measured {
    const char *variant, *form;
    int selector;
    uint64_t hash;
  };
  const auto [variant, form, selector, hash] = GENERATE_COPY(values<Measured>({
      {".sp::ordered_metadata", "m16n8k16.row.col.f32.f16.f16.f32", 0, 0x9c84c0381d8db317},
      {".sp::ordered_metadata", "m16n8k32.row.col.f32.f16.f16.f32", 0, 0x60e53207a2d93f3a},
      {".sp::ordered_metadata", "m16n8k32.row.col.f32.f16.f16.f32", 1, 0x982782f50ca3cb04},
      {".sp::ordered_metadata", "m16n8k16.row.col.f16.f16.f16.f16", 3, 0xa93e9ef184c77af2},
      {".sp::ordered_metadata", "m16n8k32.row.col.f16.f16.f16.f16", 1, 0x7b1d1e1ff4ee0717},
      {".sp::ordered_metadata", "m16n8k16.row.col.f32.bf16.bf16.f32", 1, 0x07e4e28ea8db295f},
      {".sp::ordered_metadata", "m16n8k32.row.col.f32.bf16.bf16.f32", 0, 0xb9ba5d0dfe67ad46},
      {".sp::ordered_metadata", "m16n8k8.row.col.f32.tf32.tf32.f32", 2, 0x81fdc7b5fbb5760d},
      {".sp::ordered_metadata", "m16n8k16.row.col.f32.tf32.tf32.f32", 1, 0x063c6300fac65de5},
      {".sp::ordered_metadata", "m16n8k64.row.col.f32.e4m3.e4m3.f32", 0, 0x4e8156c5a7b8e9bc},
      {".sp::ordered_metadata", "m16n8k64.row.col.f32.e5m2.e4m3.f32", 0, 0x56ffa94a65d7953b},
      {".sp::ordered_metadata", "m16n8k32.row.col.s32.s8.s8.s32", 0, 0x483dae3cb1189de5},
      {".sp::ordered_metadata", "m16n8k32.row.col.satfinite.s32.u8.s8.s32", 1, 0xd4b3295045bc6e70},
      {".sp::ordered_metadata", "m16n8k64.row.col.s32.s8.u8.s32", 0, 0xd64ba178f999579d},
      {".sp::ordered_metadata", "m16n8k64.row.col.s32.s4.u4.s32", 1, 0x8815e80ab98e8bb2},
      {".sp::ordered_metadata", "m16n8k128.row.col.satfinite.s32.u4.s4.s32", 0, 0x27115795a9572643},
      {".sp", "m16n8k16.row.col.f32.f16.f16.f32", 2, 0x8ada50d13737e4b9},
      {".sp", "m16n8k32.row.col.f32.bf16.bf16.f32", 1, 0x507b2791474d0d98},
      {".sp", "m16n8k16.row.col.f32.tf32.tf32.f32", 0, 0x21adb24d2de5105f},
      {".sp", "m16n8k64.row.col.f32.e4m3.e5m2.f32", 0, 0xee8ab268a383155f},
      {".sp", "m16n8k64.row.col.satfinite.s32.u8.u8.s32", 0, 0xebac8dd7909e8cd8},
      {".sp", "m16n8k64.row.col.s32.u4.u4.s32", 0, 0xa8a930d9636024c2},
  }));
  INFO(variant << ' ' << form << ", selector " << selector);
  const auto parsed = form_of(form, variant);
  REQUIRE(parsed);
  using bench::MmaSyncMetadata;
  const uint64_t ours = hash_of_products(*parsed, MmaSyncCore::hopper,
                                         parsed->a == MmaSyncForm::Type::tf32 ? MmaSyncMetadata::tf32
                                         : variant == std::string_view(".sp") ? MmaSyncMetadata::any_order
                                                                              : MmaSyncMetadata::ordered,
                                         selector);
  CHECK(ours == hash);
}

// PTX, Matrix Fragments for mma.m16n8k16 with .f16: a0, a1 in row groupID, a2, a3 eight below, a4 to a7 eight
// columns on; b0, b1 in rows 2 t and 2 t + 1 of column groupID, b2 and b3 eight rows on.
TEST_CASE("mma.sync: an element of A meets the row of B with its k") {
  const auto form = form_of("m16n8k16.row.col.f32.f16.f16.f32");
  REQUIRE(form);
  REQUIRE(form->a_registers() == 4);
  REQUIRE(form->b_registers() == 2);
  REQUIRE(form->d_registers() == 4);
  std::vector<uint64_t> a(32 * 4), b(32 * 2), c(32 * 4), d(32 * 4);
  a[(5 * 4 + 3) * 4 + 3] = uint64_t{cvt_rn_f16_f32(2)} << 16;  // a7 of lane 23: row 13, column 3 * 2 + 1 + 8 = 15
  b[(6 * 4 + 3) * 2 + 1] = uint64_t{cvt_rn_f16_f32(3)} << 16;  // b3 of lane 27: row 15 of column 6
  c[(5 * 4 + 3) * 4 + 2] = std::bit_cast<uint32_t>(1.f);       // c2 of lane 23: row 13, column 6
  for (const Accumulation mode : {Accumulation::fast, Accumulation::b200}) {
    mma_sync(*form, mode, MmaSyncCore::blackwell, a.data(), b.data(), c.data(), d.data());
    for (size_t i = 0; i < d.size(); ++i)
      CHECK(std::bit_cast<float>(uint32_t(d[i])) == (i == (5 * 4 + 3) * 4 + 2 ? 7.f : 0.f));
  }
}

TEST_CASE("mma.sync: forms that are not there are no forms") {
  CHECK_FALSE(form_of("m8n8k4.row.col.f32.f16.f16.f32"));      // of other fragments
  CHECK_FALSE(form_of("m16n8k16.row.row.f32.f16.f16.f32"));    // no such order
  CHECK_FALSE(form_of("m16n8k32.row.col.f32.f16.f16.f32"));    // no such K
  CHECK_FALSE(form_of("m16n8k16.row.col.f32.f16.bf16.f32"));   // two types
  CHECK_FALSE(form_of("m16n8k16.row.col.f16.bf16.bf16.f16"));  // no such sum
  CHECK_FALSE(form_of("m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32"));
  CHECK(form_of("m16n8k32.row.col.f32.e4m3.e5m2.f32"));
}
