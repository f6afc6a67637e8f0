// SPDX-License-Identifier: Apache-2.0
// Values and conversions of PTX 5.2.3 and PTX cvt.  Expected values are those of CUDA 13.0's host conversions, or
// worked by hand.
#include "kernels/isa/number_formats.h"

#include <cmath>
#include <limits>

#include "catch.h"
#include "kernels/isa/lane_array.h"

using namespace sm100;

namespace {

const float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

float from_bits(uint32_t bits) { return std::bit_cast<float>(bits); }

static_assert(decode_bf16(0x3f80) == 1.0f && cvt_rn_bf16_f32(1.0f) == 0x3f80, "usable in constant expressions");

struct SmallFormat {
  const char* name;
  int codes;  // how many magnitudes are finite
  float (*decode)(uint8_t);
  uint8_t (*encode)(float);
  uint8_t sign;
};

const SmallFormat kSmallFormats[] = {
    {"e4m3", 0x7f, decode_e4m3, cvt_rn_satfinite_e4m3_f32, 0x80},
    {"e5m2", 0x7c, decode_e5m2, cvt_rn_satfinite_e5m2_f32, 0x80},
    {"e2m3", 0x20, decode_e2m3, cvt_rn_satfinite_e2m3_f32, 0x20},
    {"e3m2", 0x20, decode_e3m2, cvt_rn_satfinite_e3m2_f32, 0x20},
    {"e2m1", 0x08, decode_e2m1, cvt_rn_satfinite_e2m1_f32, 0x08},
};

}  // namespace

TEST_CASE("Which values do the fp4 and fp6 codes have? (PTX 5.2.3)", "[number_formats]") {
  const float e2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (uint8_t code = 0; code < 8; ++code) {
    CHECK(decode_e2m1(code) == e2m1[code]);
    CHECK(decode_e2m1(code | 8) == -e2m1[code]);
  }
  CHECK(std::signbit(decode_e2m1(8)));

  const float e2m3[] = {0,      0.125f, 0.25f,  0.375f, 0.5f,   0.625f, 0.75f, 0.875f, 1,     1.125f, 1.25f,
                        1.375f, 1.5f,   1.625f, 1.75f,  1.875f, 2,      2.25f, 2.5f,   2.75f, 3,      3.25f,
                        3.5f,   3.75f,  4,      4.5f,   5,      5.5f,   6,     6.5f,   7,     7.5f};
  const float e3m2[] = {0,     .0625f, .125f, .1875f, .25f,  .3125f, .375f, .4375f, .5f,  .625f, .75f,
                        .875f, 1,      1.25f, 1.5f,   1.75f, 2,      2.5f,  3,      3.5f, 4,     5,
                        6,     7,      8,     10,     12,    14,     16,    20,     24,   28};
  for (uint8_t code = 0; code < 32; ++code) {
    CHECK(decode_e2m3(code) == e2m3[code]);
    CHECK(decode_e2m3(code | 32) == -e2m3[code]);
    CHECK(decode_e3m2(code) == e3m2[code]);
    CHECK(decode_e3m2(code | 32) == -e3m2[code]);
  }
}

TEST_CASE("Where do the formats end and which codes are special? (PTX 5.2.3)", "[number_formats]") {
  CHECK(decode_e4m3(0x7e) == 448);
  CHECK(decode_e4m3(0x08) == std::ldexp(1.0f, -6));
  CHECK(decode_e4m3(0x01) == std::ldexp(1.0f, -9));
  CHECK(decode_e4m3(0xb8) == -1);
  CHECK(std::isnan(decode_e4m3(0x7f)));
  CHECK(std::isnan(decode_e4m3(0xff)));

  CHECK(decode_e5m2(0x7b) == 57344);
  CHECK(decode_e5m2(0x04) == std::ldexp(1.0f, -14));
  CHECK(decode_e5m2(0x01) == std::ldexp(1.0f, -16));
  CHECK(decode_e5m2(0x7c) == kInf);
  CHECK(decode_e5m2(0xfc) == -kInf);
  for (uint8_t code : {0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff}) CHECK(std::isnan(decode_e5m2(code)));

  CHECK(decode_f16(0x3c00) == 1);
  CHECK(decode_f16(0x7bff) == 65504);
  CHECK(decode_f16(0x0400) == std::ldexp(1.0f, -14));
  CHECK(decode_f16(0x8001) == -std::ldexp(1.0f, -24));
  CHECK(decode_f16(0x7c00) == kInf);
  CHECK(decode_f16(0xfc00) == -kInf);
  CHECK(std::isnan(decode_f16(0x7c01)));
  CHECK(std::isnan(decode_f16(0x7fff)));

  CHECK(decode_bf16(0xc040) == -3);
  CHECK(decode_bf16(0x7f7f) == std::ldexp(255.0f, 120));
  CHECK(decode_bf16(0x0080) == std::ldexp(1.0f, -126));
  CHECK(decode_bf16(0x0001) == std::ldexp(1.0f, -133));
  CHECK(decode_bf16(0x7f80) == kInf);
  CHECK(std::isnan(decode_bf16(0x7fc0)));

  CHECK(decode_tf32(0x7f7fe000) == std::ldexp(2047.0f, 117));
  CHECK(decode_tf32(0x00002000) == std::ldexp(1.0f, -136));

  CHECK(decode_ue8m0(0x00) == std::ldexp(1.0f, -127));
  CHECK(decode_ue8m0(0x01) == std::ldexp(1.0f, -126));
  CHECK(decode_ue8m0(0x7f) == 1);
  CHECK(decode_ue8m0(0xfe) == std::ldexp(1.0f, 127));
  CHECK(std::isnan(decode_ue8m0(0xff)));
}

TEST_CASE("Does tf32 ignore the low 13 bits of its container? (docs/instructions.md)", "[number_formats]") {
  CHECK(decode_tf32(0x3f801fff) == 1.0f);
  CHECK(decode_tf32(0xbf803fff) == from_bits(0xbf802000));
}

TEST_CASE("Does decode by type read the right container? (PTX 5.2.3)", "[number_formats]") {
  CHECK(decode(DataType::f16, 0x4000) == 2);
  CHECK(decode(DataType::bf16, 0x4000) == 2);
  CHECK(decode(DataType::tf32, 0x40001fff) == 2);
  CHECK(decode(DataType::f32, 0x40000001) == from_bits(0x40000001));
  CHECK(decode(DataType::e4m3, 0x40) == 2);
  CHECK(decode(DataType::e5m2, 0x40) == 2);
  CHECK(decode(DataType::e2m3, 0x10) == 2);
  CHECK(decode(DataType::e3m2, 0x10) == 2);
  CHECK(decode(DataType::e2m1, 0x04) == 2);
  CHECK(decode(DataType::s8, 0xfe) == -2);
  CHECK(decode(DataType::u8, 0xfe) == 254);
  CHECK(element_bits(DataType::bf16) == 16);
  CHECK(element_bits(DataType::tf32) == 32);
  CHECK(element_bits(DataType::f32) == 32);
  CHECK(element_bits(DataType::e2m1) == 8);
}

TEST_CASE("Do conversions to 8 bits and less give the reference codes? (PTX cvt)", "[number_formats]") {
  struct Row {
    float x;
    int e2m1, e2m3, e3m2, e4m3, e5m2, rz, rp;
  };
  const float two_m9 = 0.001953125f;
  const Row rows[] = {
      {0.25f, 0, 0x02, 0x04, 0x28, 0x34, 0x7d, 0x7d},   {0.26f, 1, 0x02, 0x04, 0x28, 0x34, 0x7d, 0x7e},
      {0.75f, 2, 0x06, 0x0a, 0x34, 0x3a, 0x7e, 0x7f},   {1.25f, 2, 0x0a, 0x0d, 0x3a, 0x3d, 0x7f, 0x80},
      {1.75f, 4, 0x0e, 0x0f, 0x3e, 0x3f, 0x7f, 0x80},   {2.5f, 4, 0x12, 0x11, 0x42, 0x41, 0x80, 0x81},
      {3.5f, 6, 0x16, 0x13, 0x46, 0x43, 0x80, 0x81},    {5.0f, 6, 0x1a, 0x15, 0x4a, 0x45, 0x81, 0x82},
      {5.01f, 7, 0x1a, 0x15, 0x4a, 0x45, 0x81, 0x82},   {17.64f, 7, 0x1f, 0x1c, 0x59, 0x4c, 0x83, 0x84},
      {448, 7, 0x1f, 0x1f, 0x7e, 0x5f, 0x87, 0x88},     {480, 7, 0x1f, 0x1f, 0x7e, 0x60, 0x87, 0x88},
      {61440, 7, 0x1f, 0x1f, 0x7e, 0x7b, 0x8e, 0x8f},   {65536, 7, 0x1f, 0x1f, 0x7e, 0x7b, 0x8f, 0x8f},
      {-2.5f, 0xc, 0x32, 0x31, 0xc2, 0xc1, 0x80, 0x81}, {-kInf, 0xf, 0x3f, 0x3f, 0xfe, 0xfb, 0xfe, 0xfe},
      {kNan, 7, 0x1f, 0x1f, 0x7f, 0x7f, 0xff, 0xff},    {-kNan, 7, 0x1f, 0x1f, 0x7f, 0x7f, 0xff, 0xff},
      {-0.0f, 8, 0x20, 0x20, 0x80, 0x80, 0, 0},         {two_m9, 0, 0, 0, 0x01, 0x18, 0x76, 0x76},
      {two_m9 / 2, 0, 0, 0, 0x00, 0x14, 0x75, 0x75},
  };
  for (const Row& row : rows) {
    CAPTURE(row.x);
    CHECK(cvt_rn_satfinite_e2m1_f32(row.x) == row.e2m1);
    CHECK(cvt_rn_satfinite_e2m3_f32(row.x) == row.e2m3);
    CHECK(cvt_rn_satfinite_e3m2_f32(row.x) == row.e3m2);
    CHECK(cvt_rn_satfinite_e4m3_f32(row.x) == row.e4m3);
    CHECK(cvt_rn_satfinite_e5m2_f32(row.x) == row.e5m2);
    CHECK(cvt_rz_satfinite_ue8m0_f32(row.x) == row.rz);
    CHECK(cvt_rp_satfinite_ue8m0_f32(row.x) == row.rp);
  }
}

TEST_CASE("What is the ue8m0 scale of values at the ends of f32? (PTX cvt)", "[number_formats]") {
  CHECK(cvt_rp_satfinite_ue8m0_f32(from_bits(0x00400000)) == 0);  // exactly 2^-127
  CHECK(cvt_rp_satfinite_ue8m0_f32(from_bits(0x00400001)) == 1);
  CHECK(cvt_rz_satfinite_ue8m0_f32(from_bits(0x007fffff)) == 0);
  CHECK(cvt_rz_satfinite_ue8m0_f32(from_bits(0x7f7fffff)) == 0xfe);
  CHECK(cvt_rp_satfinite_ue8m0_f32(from_bits(0x7f7fffff)) == 0xfe);  // 2^128 does not exist
  CHECK(cvt_rp_satfinite_ue8m0_f32(0.0f) == 0);
}

TEST_CASE("Does every small code survive decode and encode? (PTX cvt)", "[number_formats]") {
  for (const SmallFormat& f : kSmallFormats)
    for (int code = 0; code < f.codes; ++code) {
      CAPTURE(f.name, code);
      const uint8_t negative = static_cast<uint8_t>(code | f.sign);
      REQUIRE(f.encode(f.decode(static_cast<uint8_t>(code))) == code);
      REQUIRE(f.encode(f.decode(negative)) == negative);
    }
  for (int code = 0; code < 256; ++code) {
    REQUIRE(cvt_rz_satfinite_ue8m0_f32(decode_ue8m0(static_cast<uint8_t>(code))) == code);
    REQUIRE(cvt_rp_satfinite_ue8m0_f32(decode_ue8m0(static_cast<uint8_t>(code))) == code);
  }
}

TEST_CASE("Is every small code the nearest one with ties to even? (PTX cvt)", "[number_formats]") {
  // All midpoints of neighbouring codes are f32 values: the even code gets the midpoint, each side its own.
  for (const SmallFormat& f : kSmallFormats)
    for (int code = 0; code + 1 < f.codes; ++code) {
      CAPTURE(f.name, code);
      const float low = f.decode(static_cast<uint8_t>(code)), high = f.decode(static_cast<uint8_t>(code + 1));
      const float middle = low + (high - low) / 2;
      REQUIRE(low < high);
      REQUIRE(f.encode(middle) == (code % 2 == 0 ? code : code + 1));
      REQUIRE(f.encode(std::nextafter(middle, 0.0f)) == code);
      REQUIRE(f.encode(std::nextafter(middle, kInf)) == code + 1);
      REQUIRE(f.encode(-middle) == (f.encode(middle) | f.sign));
    }
}

TEST_CASE("How does cvt round to f16? (PTX cvt)", "[number_formats]") {
  CHECK(cvt_rn_f16_f32(1.0f) == 0x3c00);
  CHECK(cvt_rn_f16_f32(from_bits(0x3f801000)) == 0x3c00);  // 1 + 2^-11: tie, even below
  CHECK(cvt_rn_f16_f32(from_bits(0x3f803000)) == 0x3c02);  // 1 + 3*2^-11: tie, even above
  CHECK(cvt_rn_f16_f32(from_bits(0x3f801001)) == 0x3c01);
  CHECK(cvt_rn_f16_f32(65519.0f) == 0x7bff);
  CHECK(cvt_rn_f16_f32(65520.0f) == 0x7c00);  // rounds up to Inf
  CHECK(cvt_rn_f16_f32(1e30f) == 0x7c00);
  CHECK(cvt_rn_f16_f32(-kInf) == 0xfc00);
  CHECK(cvt_rn_f16_f32(kNan) == 0x7fff);
  CHECK(cvt_rn_f16_f32(-kNan) == 0x7fff);
  CHECK(cvt_rn_f16_f32(-0.0f) == 0x8000);
  CHECK(cvt_rn_f16_f32(std::ldexp(1.0f, -25)) == 0x0000);  // half the smallest: tie to zero
  CHECK(cvt_rn_f16_f32(std::ldexp(1.5f, -25)) == 0x0001);
  CHECK(cvt_rn_f16_f32(from_bits(0x387fffff)) == 0x0400);  // just below 2^-14 rounds to the first normal
  CHECK(cvt_rn_f16_f32(from_bits(0x00000001)) == 0x0000);
  for (uint32_t code = 0; code < 0x7c00; ++code) {
    const uint16_t low = static_cast<uint16_t>(code);
    REQUIRE(cvt_rn_f16_f32(decode_f16(low)) == code);
    REQUIRE(cvt_rn_f16_f32(-decode_f16(low)) == (code | 0x8000));
    if (code + 1 == 0x7c00) continue;
    const float middle = (decode_f16(low) + decode_f16(static_cast<uint16_t>(code + 1))) / 2;
    REQUIRE(cvt_rn_f16_f32(middle) == (code % 2 == 0 ? code : code + 1));
  }
}

TEST_CASE("How does cvt round to bf16? (PTX cvt)", "[number_formats]") {
  CHECK(cvt_rn_bf16_f32(from_bits(0x3f808000)) == 0x3f80);  // tie, even below
  CHECK(cvt_rn_bf16_f32(from_bits(0x3f818000)) == 0x3f82);  // tie, even above
  CHECK(cvt_rn_bf16_f32(from_bits(0x3f808001)) == 0x3f81);
  CHECK(cvt_rn_bf16_f32(from_bits(0x7f7fffff)) == 0x7f80);
  CHECK(cvt_rn_bf16_f32(kInf) == 0x7f80);
  CHECK(cvt_rn_bf16_f32(from_bits(0x7f800001)) == 0x7fff);
  CHECK(cvt_rn_bf16_f32(from_bits(0xffffffff)) == 0x7fff);
  CHECK(cvt_rn_bf16_f32(-0.0f) == 0x8000);
  for (uint32_t code = 0; code <= 0x7f80; ++code) {
    REQUIRE(cvt_rn_bf16_f32(decode_bf16(static_cast<uint16_t>(code))) == code);
    REQUIRE(cvt_rn_bf16_f32(decode_bf16(static_cast<uint16_t>(code | 0x8000))) == (code | 0x8000));
  }
}

TEST_CASE("Does the first source of a packed cvt go to the upper half? (PTX cvt)", "[number_formats]") {
  CHECK(cvt_rn_bf16x2_f32(1.0f, 2.0f) == 0x3f804000);
  CHECK(cvt_rn_bf16x2_f32(1.0f, -2.0f) == 0x3f80c000);
  CHECK(cvt_rn_f16x2_f32(1.0f, 2.0f) == 0x3c004000);
}

TEST_CASE("How does cvt round to tf32? (PTX 5.5 and PTX cvt)", "[number_formats]") {
  CHECK(cvt_rn_tf32_f32(from_bits(0x3f801000)) == 0x3f800000);
  CHECK(cvt_rn_tf32_f32(from_bits(0x3f803000)) == 0x3f804000);
  CHECK(cvt_rn_tf32_f32(from_bits(0x3f801001)) == 0x3f802000);
  CHECK(cvt_rn_tf32_f32(from_bits(0x007fffff)) == 0x00800000);
  CHECK(cvt_rna_tf32_f32(from_bits(0x3f801000)) == 0x3f802000);  // ties leave zero
  CHECK(cvt_rna_tf32_f32(from_bits(0xbf801000)) == 0xbf802000);
  CHECK(cvt_rna_tf32_f32(from_bits(0x3f800fff)) == 0x3f800000);
  CHECK(cvt_rna_tf32_f32(kInf) == 0x7f800000);
  CHECK(cvt_rn_tf32_f32(from_bits(0x7f7fffff)) == 0x7f800000);
  CHECK(std::isnan(decode_tf32(cvt_rn_tf32_f32(kNan))));
  CHECK(std::isnan(decode_tf32(cvt_rna_tf32_f32(from_bits(0xff800001)))));
}

TEST_CASE("What do max.NaN and min.NaN make of NaN and of zeros? (PTX max, min)", "[number_formats]") {
  CHECK(as_bits(max_nan_f32(1, 2)) == as_bits(2.f));
  CHECK(as_bits(min_nan_f32(1, -2)) == as_bits(-2.f));
  for (const float nan : {kNan, from_bits(0xff800001)}) {
    CHECK(as_bits(max_nan_f32(nan, kInf)) == 0x7fffffff);
    CHECK(as_bits(max_nan_f32(kInf, nan)) == 0x7fffffff);
    CHECK(as_bits(min_nan_f32(nan, -kInf)) == 0x7fffffff);
    CHECK(as_bits(min_nan_f32(0, nan)) == 0x7fffffff);
  }
  CHECK(as_bits(max_nan_f32(-0.f, 0.f)) == 0);
  CHECK(as_bits(min_nan_f32(-0.f, 0.f)) == 0x80000000);
}
