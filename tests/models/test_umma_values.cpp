// SPDX-License-Identifier: Apache-2.0
// What MMAs of all kinds compute: block-scaled, of sub-byte types, of integers, against mma_by_hand.h.
#include <bit>
#include <cmath>

#include "catch.h"
#include "models/mma_by_hand.h"

using namespace sm100;
using namespace sm100::models;

TEST_CASE("kind::mxf8f6f4 multiplies every mix of types, from shared and from tensor memory", "[umma][numerics]") {
  const auto accumulation = GENERATE(Accumulation::fast, Accumulation::b200);
  const bool a_in_tmem = GENERATE(false, true);
  std::mt19937 random(1);
  for (const Format& a : kFormats)
    for (const Format& b : kFormats) {
      const uint32_t id = random() % 4;
      check_two(accumulation,
                {.kind = MmaKind::mxf8f6f4,
                 .a = a,
                 .b = b,
                 .vec = ScaleVec::x1,
                 .a_in_tmem = a_in_tmem,
                 .sfa_id = id,
                 .sfb_id = 3 - id},
                random);
    }
}

TEST_CASE("kind::f8f6f4 multiplies 4- and 6-bit types out of their containers", "[umma][numerics]") {
  const auto accumulation = GENERATE(Accumulation::fast, Accumulation::b200);
  const bool a_in_tmem = GENERATE(false, true);
  const int m = GENERATE(64, 128);
  std::mt19937 random(2);
  for (const Format& a : kFormats)
    for (const Format& b : kFormats)
      check_two(accumulation,
                {.kind = MmaKind::f8f6f4,
                 .a = a,
                 .b = b,
                 .m = m,
                 .n = 24,
                 .a_in_tmem = a_in_tmem,
                 .negate_a = random() % 2 == 0},
                random);
}

// Kinds f16 and tf32 have it; the sums are the same.
TEST_CASE("scale-input-d: the old D counts 2^-n times", "[umma][numerics]") {
  const auto accumulation = GENERATE(Accumulation::fast, Accumulation::b200);
  const int m = GENERATE(64, 128);
  std::mt19937 random(22);
  for (const int scale : {1, 8, 15})
    check_two(accumulation, {.kind = MmaKind::f8f6f4, .a = kE4m3, .b = kE5m2, .m = m, .scale_input_d = scale},
              random);
}

TEST_CASE("kinds mxf4 and mxf4nvf4 multiply nibbles with two and four scale factors to a row", "[umma][numerics]") {
  const auto accumulation = GENERATE(Accumulation::fast, Accumulation::b200);
  const bool a_in_tmem = GENERATE(false, true);
  std::mt19937 random(3);
  for (const uint32_t sfa_id : {0u, 2u})
    for (const uint32_t sfb_id : {0u, 2u})
      for (const MmaKind kind : {MmaKind::mxf4, MmaKind::mxf4nvf4})
        check_two(accumulation,
                  {.kind = kind,
                   .a = kE2m1,
                   .b = kE2m1,
                   .vec = ScaleVec::x2,
                   .a_in_tmem = a_in_tmem,
                   .sfa_id = sfa_id,
                   .sfb_id = sfb_id},
                  random);
  for (const bool ue8m0 : {false, true})
    check_two(accumulation,
              {.kind = MmaKind::mxf4nvf4,
               .a = kE2m1,
               .b = kE2m1,
               .vec = ScaleVec::x4,
               .ue8m0 = ue8m0,
               .a_in_tmem = a_in_tmem,
               .negate_b = true},
              random);
}

TEST_CASE("block-scaled operands in swizzled and MN-major tiles", "[umma][numerics]") {
  const auto accumulation = GENERATE(Accumulation::fast, Accumulation::b200);
  std::mt19937 random(4);
  for (const Format& a : kFormats)
    for (const Layout layout : {Layout::b128, Layout::mn})
      check_two(accumulation,
                {.kind = MmaKind::mxf8f6f4, .a = a, .b = kE3m2, .vec = ScaleVec::x1, .n = 48, .layout = layout},
                random);
  check_two(accumulation,
            {.kind = MmaKind::mxf4nvf4,
             .a = kE2m1,
             .b = kE2m1,
             .vec = ScaleVec::x4,
             .ue8m0 = false,
             .n = 96,
             .layout = Layout::b128},
            random);
}

TEST_CASE("scale factors of wide N go on in the next columns, wherever they begin", "[umma][numerics]") {
  const auto accumulation = GENERATE(Accumulation::fast, Accumulation::b200);
  std::mt19937 random(5);
  for (const int n : {8, 64, 192, 256})
    for (const uint32_t column : {300u, 302u, 303u})
      check_two(accumulation,
                {.kind = MmaKind::mxf4nvf4,
                 .a = kE2m1,
                 .b = kE2m1,
                 .vec = ScaleVec::x4,
                 .ue8m0 = false,
                 .n = n,
                 .sfb_column = column},
                random);
}

TEST_CASE("block-scaled MMAs of a pair: each CTA has scale factors of its rows of A and of all of B",
          "[umma][numerics]") {
  const auto accumulation = GENERATE(Accumulation::fast, Accumulation::b200);
  const int m = GENERATE(128, 256);  // 128: the halves of SFB lie in the halves of the lanes
  const bool a_in_tmem = GENERATE(false, true);
  std::mt19937 random(6);
  const Mma mxfp8{.kind = MmaKind::mxf8f6f4,
                  .a = kE4m3,
                  .b = kE5m2,
                  .vec = ScaleVec::x1,
                  .m = m,
                  .n = 96,
                  .cta_group = 2,
                  .a_in_tmem = a_in_tmem,
                  .sfa_id = 1,
                  .sfb_id = 2};
  const Mma nvfp4{.kind = MmaKind::mxf4nvf4,
                  .a = kE2m1,
                  .b = kE2m1,
                  .vec = ScaleVec::x4,
                  .ue8m0 = false,
                  .m = m,
                  .n = 160,
                  .cta_group = 2,
                  .a_in_tmem = a_in_tmem,
                  .layout = Layout::b128};
  check_two(accumulation, mxfp8, random);
  check_two(accumulation, nvfp4, random);
  // SFB that differ from CTA to CTA: rows are multiplied by those of their own.
  Machine machine(accumulation);
  Operands o = random_operands(nvfp4, random);
  o.sfb_odd = random_operands(nvfp4, random).sfb;
  const MmaOperation op = machine.place(nvfp4, o);
  machine.numerics.execute({&op, 1});
  const Reference reference(nvfp4, o);
  for (int row = 0; row < m; ++row)
    for (int n = 0; n < nvfp4.n; ++n) {
      const float got = std::bit_cast<float>(machine.d(nvfp4, row, n));
      if (accumulation == Accumulation::b200)
        REQUIRE(got == reference.b200(row, n, 0));
      else
        REQUIRE(std::abs(got - reference.exact(row, n, 0).value) <= reference.exact(row, n, 0).magnitude * 0x1p-20);
    }
}

TEST_CASE("vectors that any order of sums gives", "[umma][numerics]") {
  const auto accumulation = GENERATE(Accumulation::fast, Accumulation::b200);
  const Mma nvfp4{.kind = MmaKind::mxf4nvf4, .a = kE2m1, .b = kE2m1, .vec = ScaleVec::x4, .ue8m0 = false, .n = 16};
  const Mma mxfp4{.kind = MmaKind::mxf4, .a = kE2m1, .b = kE2m1, .vec = ScaleVec::x2, .n = 16};
  const Mma mxfp8{.kind = MmaKind::mxf8f6f4, .a = kE4m3, .b = kE4m3, .vec = ScaleVec::x1, .n = 16};
  const Mma mxfp8_e5m2{.kind = MmaKind::mxf8f6f4, .a = kE5m2, .b = kE4m3, .vec = ScaleVec::x1, .n = 16};
  const uint32_t nan = 0x7fffffff, infinity = 0x7f800000;
  const struct {
    const char* what;
    const Mma& mma;
    uint32_t a, b;
    uint8_t sfa, sfb;
    uint32_t expected;
  } vectors[] = {
      {"64 times 1", nvfp4, 2, 2, 0x38, 0x38, std::bit_cast<uint32_t>(64.f)},
      {"64 times 6 * 6 * 448 * 448", nvfp4, 7, 7, 0x7e, 0x7e, 0x4ddc8000},
      {"32 times 1 * 2 * 0.5", mxfp8, 0x38, 0x38, 0x80, 0x7e, std::bit_cast<uint32_t>(32.f)},
      {"64 times -0.5 * 4 * 4", mxfp4, 9, 2, 0x81, 0x81, std::bit_cast<uint32_t>(-512.f)},
      {"the smallest ue4m3, 2^-9", nvfp4, 2, 2, 0x01, 0x38, std::bit_cast<uint32_t>(0x1p-3f)},
      {"a ue4m3 of zero", nvfp4, 7, 7, 0, 0x7e, 0},
      {"bit 7 of ue4m3 does not count", nvfp4, 2, 2, 0xb8, 0x38, std::bit_cast<uint32_t>(64.f)},
      {"a NaN as ue4m3", nvfp4, 2, 2, 0x7f, 0x38, nan},
      {"a NaN as ue4m3, times zero", nvfp4, 0, 2, 0x38, 0x7f, nan},
      {"a NaN as ue8m0", mxfp8, 0x38, 0x38, 0xff, 0x7f, nan},
      {"a NaN as ue8m0, times zero", mxfp4, 0, 0, 0x7f, 0xff, nan},
      {"ue8m0 0x00 is 2^-127, and 0xfe undoes it", mxfp8, 0x38, 0x38, 0x00, 0xfe, std::bit_cast<uint32_t>(32.f)},
      {"the same the other way round, with the largest element", mxfp8, 0x7e, 0x7e, 0xfe, 0x00,
       std::bit_cast<uint32_t>(448.f * 448 * 32)},
      {"the smallest element of all", mxfp8_e5m2, 0x01, 0x38, 0x00, 0xfe, std::bit_cast<uint32_t>(0x1p-11f)},
      {"too large for f32", mxfp8, 0x38, 0xb8, 0xfe, 0x80, infinity | 0x80000000},
      {"too small for f32", mxfp4, 2, 2, 0x00, 0x00, 0},
      {"an Inf in e5m2", mxfp8_e5m2, 0x7c, 0xb8, 0x00, 0x7f, infinity | 0x80000000},
      {"an Inf in e5m2 times zero", mxfp8_e5m2, 0x7c, 0x00, 0x7f, 0x7f, nan},
      {"a NaN in e4m3", mxfp8, 0x7f, 0x00, 0x7f, 0x7f, nan},
  };
  for (const auto& v : vectors) {
    Machine machine(accumulation);
    MmaOperation op = machine.place(v.mma, uniform_operands(v.mma, v.a, v.b, v.sfa, v.sfb));
    machine.numerics.execute({&op, 1});
    INFO(v.what);
    CHECK(machine.d(v.mma, 77, 9) == v.expected);
    CHECK(machine.d(v.mma, 0, 0) == v.expected);
  }
}

TEST_CASE("the published model cuts block-scaled sums off where a B200 does", "[umma][numerics]") {
  // Worked by hand.
  const Mma mxfp4{.kind = MmaKind::mxf4, .a = kE2m1, .b = kE2m1, .vec = ScaleVec::x2, .n = 8};
  const auto run = [](const Mma& mma, const Operands& o, float d) {
    Machine machine(Accumulation::b200);
    MmaOperation op = machine.place(mma, o);
    op.enable_input_d = true;
    machine.d(mma, 0, 0) = std::bit_cast<uint32_t>(d);
    machine.numerics.execute({&op, 1});
    return machine.d(mma, 0, 0);
  };
  const auto alone = [](const Mma& mma, std::vector<std::pair<int, uint32_t>> a, uint32_t one) {
    Operands o = uniform_operands(mma, 0, one, 127, 127);
    for (const auto& [k, code] : a) o.a[size_t(k)] = code;
    return o;
  };
  // F = 35 for mxf4: D = -2^e and a product of 2^e vanish, and what is left of a product of 0.5 is the result.
  Operands o = alone(mxfp4, {{0, 1}, {32, 2}}, 2);  // 0.5 in the first block, 1 in the second
  o.sfa[1] = 127 + 34;
  CHECK(run(mxfp4, o, -0x1p34f) == std::bit_cast<uint32_t>(0.5f));
  o.sfa[1] = 127 + 35;
  CHECK(run(mxfp4, o, -0x1p35f) == 0);
  // The exponent of a term is that of its scale factors, however large its products are: 36 - 36 has 0.
  o = alone(mxfp4, {{0, 7}, {16, 15}, {32, 1}}, 7);
  o.sfa[1] = 127 - 36;
  CHECK(run(mxfp4, o, 0) == std::bit_cast<uint32_t>(0x1p-35f));  // of 3 * 2^-36
  // A group of zeros has no exponent, whatever its scale factors.
  o = alone(mxfp4, {{0, 1}}, 2);
  o.sfa[1] = 127 + 60;
  CHECK(run(mxfp4, o, 0) == std::bit_cast<uint32_t>(0.5f));
  // A subnormal ue4m3 takes part with 2^-6: of D beside 1 - 1 times 2^-12 nothing below 2^-47 is left.
  const Mma nvfp4{.kind = MmaKind::mxf4nvf4, .a = kE2m1, .b = kE2m1, .vec = ScaleVec::x4, .ue8m0 = false, .n = 8};
  o = alone(nvfp4, {{0, 2}, {16, 10}}, 2);
  std::fill(o.sfa.begin(), o.sfa.end(), uint8_t(1));
  std::fill(o.sfb.begin(), o.sfb.end(), uint8_t(1));
  CHECK(run(nvfp4, o, 0x1p-30f + 0x1p-50f) == std::bit_cast<uint32_t>(0x1p-30f));
  CHECK(run(nvfp4, o, 0x1p-30f + 0x1p-47f) == std::bit_cast<uint32_t>(0x1p-30f + 0x1p-47f));
  // F = 25 for mxf8f6f4, and the exponents of the scale factors count.
  const Mma mxfp8{.kind = MmaKind::mxf8f6f4, .a = kE4m3, .b = kE4m3, .vec = ScaleVec::x1, .n = 8};
  o = alone(mxfp8, {{0, 0x38}}, 0x38);
  o.sfa[0] = 127 - 20, o.sfb[0] = 127 - 4;
  CHECK(run(mxfp8, o, 1) == std::bit_cast<uint32_t>(1.f));  // 2^-24 is kept, f32 drops it
  o.a[1] = 0x38;
  CHECK(run(mxfp8, o, 1) == std::bit_cast<uint32_t>(1.f) + 1);  // twice 2^-24
  o.a[1] = 0x30;
  CHECK(run(mxfp8, o, 1) == std::bit_cast<uint32_t>(1.f));  // 2^-24 + 2^-25
  o.a[2] = 0x30;
  CHECK(run(mxfp8, o, 1) == std::bit_cast<uint32_t>(1.f) + 1);  // 2^-25 is the last bit
  for (int k = 3; k < 7; ++k) o.a[size_t(k)] = 0x30;
  o.sfb[0] = 127 - 5;
  CHECK(run(mxfp8, o, 1) == std::bit_cast<uint32_t>(1.f));  // 2^-25, and six of 2^-26 that are cut off
}

TEST_CASE("an undefined scale factor is NaN and no other row suffers", "[umma][numerics]") {
  const Mma mma{.kind = MmaKind::mxf8f6f4, .a = kE4m3, .b = kE4m3, .vec = ScaleVec::x1, .n = 64, .sfb_id = 1};
  Machine machine(GENERATE(Accumulation::fast, Accumulation::b200));
  MmaOperation op = machine.place(mma, uniform_operands(mma, 0x38, 0x38, 127, 127));
  const auto nan_rows = [&] {
    int rows = 0;
    for (int m = 0; m < mma.m; ++m) rows += std::isnan(std::bit_cast<float>(machine.d(mma, m, 63)));
    return rows;
  };
  SECTION("a cell that nobody has written, in one quarter") {
    machine.tmem[0].cell(64 + 5, mma.sfa_column + 1) = kTmemPoison;
    machine.numerics.execute({&op, 1});
    CHECK(nan_rows() == 1);
    CHECK(machine.d(mma, 37, 0) == 0x7fffffff);
    CHECK_FALSE(machine.numerics.take_scale_error());
  }
  SECTION("a cell that nobody has written, in the first quarter or in all") {
    const uint32_t end = GENERATE(32u, 128u);
    for (uint32_t lane = 5; lane < end; lane += 32) machine.tmem[0].cell(lane, mma.sfa_column + 1) = kTmemPoison;
    machine.numerics.execute({&op, 1});
    CHECK(nan_rows() == 1);
    CHECK(machine.d(mma, 37, 0) == 0x7fffffff);
    CHECK_FALSE(machine.numerics.take_scale_error());
  }
  SECTION("copies that differ") {
    machine.tmem[0].cell(96 + 5, mma.sfa_column + 1) ^= 1;
    machine.numerics.execute({&op, 1});
    CHECK(machine.d(mma, 37, 0) == 0x7fffffff);
    CHECK(machine.numerics.take_scale_error().value().text ==
          "SFA in column 261: 0x7f in lane 5 and 0x7e in lane 101");
  }
  SECTION("copies that differ in bytes that the id does not name") {
    machine.tmem[0].cell(96 + 5, mma.sfa_column + 1) ^= 0x100;
    machine.tmem[0].cell(96 + 5, mma.sfb_column + 1) ^= 1;
    machine.numerics.execute({&op, 1});
    CHECK(nan_rows() == 0);
    CHECK_FALSE(machine.numerics.take_scale_error());
  }
  SECTION("the last column of B, and no more than N of them") {
    machine.tmem[0].cell(31, mma.sfb_column + 1) ^= 0x100;  // row 63
    machine.tmem[0].cell(0, mma.sfb_column + 2) ^= 0x100;   // row 64
    machine.numerics.execute({&op, 1});
    CHECK(nan_rows() == 128);
    CHECK(machine.d(mma, 0, 62) == std::bit_cast<uint32_t>(32.f));
    CHECK(machine.numerics.take_scale_error().value().text ==
          "SFB in column 302: 0x7e in lane 31 and 0x7f in lane 63");
  }
}

TEST_CASE("MMAs in a row are one product, each with the scale factors of its id", "[umma][numerics]") {
  const auto accumulation = GENERATE(Accumulation::fast, Accumulation::b200);
  Machine machine(accumulation);
  Mma mma{.kind = MmaKind::mxf8f6f4, .a = kE4m3, .b = kE4m3, .vec = ScaleVec::x1, .n = 16};
  // Four scale factors of each row, in the four bytes; 20 MMAs are more than are multiplied at once.
  std::vector<MmaOperation> run;
  double expected = 0;
  for (uint32_t id = 0; id < 4; ++id) {
    mma.sfa_id = id, mma.sfb_id = 3 - id;
    const uint8_t sfa = uint8_t(127 + id), sfb = uint8_t(127 - 3 + id);  // byte 3 - id holds 2^-id
    for (int i = 0; i < 5; ++i) {
      run.push_back(machine.place(mma, uniform_operands(mma, 0x38, 0x40, sfa, sfb)));
      run.back().enable_input_d = !(id == 0 && i == 0);
    }
    expected += 5 * 32 * 2 * std::ldexp(1, int(id)) * std::ldexp(1, int(id) - 3);
  }
  machine.numerics.execute(run);
  CHECK(machine.d(mma, 99, 15) == std::bit_cast<uint32_t>(float(expected)));
}

TEST_CASE("kind::i8 adds exactly, wraps, and saturates where it is told to", "[umma][numerics]") {
  const auto accumulation = GENERATE(Accumulation::fast, Accumulation::b200);
  std::mt19937 random(7);
  for (const Format& a : {kS8, kU8})
    for (const Format& b : {kS8, kU8})
      for (const int m : {64, 128, 256})
        for (const bool saturate : {false, true}) {
          Mma mma{.kind = MmaKind::i8,
                  .a = a,
                  .b = b,
                  .m = m,
                  .n = 32,
                  .cta_group = m == 256 ? 2 : 1,
                  .a_in_tmem = random() % 2 == 0,
                  .saturate = saturate};
          Machine machine(accumulation);
          Operands o = random_operands(mma, random);
          for (int k = 0; k < 32; ++k) {  // row 0 the largest, row 1 the smallest sums
            o.a[size_t(k)] = a.type == DataType::s8 ? 0x7f : 0xff;
            o.a[size_t(32 + k)] = 0x80;
            o.b[size_t(k)] = b.type == DataType::s8 ? 0x7f : 0xff;  // twelve such sums need more than 24 bits
          }
          MmaOperation op = machine.place(mma, o);
          const int count = 12;
          std::vector<MmaOperation> run(count, op);
          for (MmaOperation& r : run) r.enable_input_d = true;
          for (int i = 0; i < m; ++i)
            for (int n = 0; n < mma.n; ++n) machine.d(mma, i, n) = i == 1 ? 0x80000010u : 0x7ffffff0u;
          machine.numerics.execute(run);
          INFO(name_of(mma) << (saturate ? ", saturating" : ""));
          const Reference reference(mma, o);
          for (int i = 0; i < m; ++i)
            for (int n = 0; n < mma.n; ++n) {
              int64_t one = 0;
              for (int k = 0; k < 32; ++k) one += int64_t(reference.product(i, n, k));
              int64_t sum = int32_t(i == 1 ? 0x80000010u : 0x7ffffff0u);
              for (int r = 0; r < count; ++r) {
                sum += one;
                if (saturate) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
              }
              REQUIRE(machine.d(mma, i, n) == uint32_t(sum));
            }
        }
}

TEST_CASE("kind::i8 saturates after each MMA", "[umma][numerics]") {
  const bool saturate = GENERATE(false, true);
  const Mma mma{.kind = MmaKind::i8, .a = kS8, .b = kS8, .n = 16, .saturate = saturate};
  constexpr uint32_t kOtherB = 0x1c000;
  Machine machine(Accumulation::fast);
  machine.place(mma, uniform_operands(mma, 0x7f, 0x81, 0, 0));
  std::copy_n(machine.smem[0].data(kTileB), 16 * 32, machine.smem[0].data(kOtherB));
  std::vector<MmaOperation> run(2, machine.place(mma, uniform_operands(mma, 0x7f, 0x7f, 0, 0)));
  run[0].enable_input_d = run[1].enable_input_d = true;
  run[1].b.start_address = kOtherB;
  machine.d(mma, 3, 3) = 0x7fffffff;
  machine.numerics.execute(run);  // up by 32 * 127 * 127 and down again
  CHECK(machine.d(mma, 3, 3) == (saturate ? 0x7fffffffu - 32 * 127 * 127 : 0x7fffffffu));
}

TEST_CASE("4- and 6-bit types with D in f16", "[umma][numerics]") {
  const auto accumulation = GENERATE(Accumulation::fast, Accumulation::b200);
  const Mma mma{.kind = MmaKind::f8f6f4, .a = kE2m1, .b = kE2m3, .n = 16, .f16_d = true};
  Machine machine(accumulation);
  MmaOperation op = machine.place(mma, uniform_operands(mma, 3, 12, 0, 0));  // 1.5 * 1.5 * 32 = 72
  machine.numerics.execute({&op, 1});
  CHECK((machine.d(mma, 5, 5) & 0xffff) == 0x5480);
}
