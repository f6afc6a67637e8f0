// SPDX-License-Identifier: Apache-2.0
// The bit model of the tensor core's sums against vectors worked by hand from the published model, and measured
// ones.
#include "models/numerics/fused_dot.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "catch.h"
#include "kernels/isa/number_formats.h"

using namespace sm100;
using namespace sm100::models;

TEST_CASE("the B200 accumulation model gives the published vectors", "[umma][numerics]") {
  // docs/instructions.md, mode (b): B = 1, remaining A = 0.
  const auto p2 = [](int e) { return std::ldexp(1.f, e); };
  struct Vector {
    std::vector<float> a;
    float d;
    uint32_t expected;
  };
  std::vector<Vector> vectors = {{{1, p2(-24), p2(-25), p2(-25)}, 0, 0x3f800001},
                                 {{1, p2(-24), p2(-25)}, 0, 0x3f800000},
                                 {{-1, -p2(-24), -p2(-25)}, 0, 0xbf800000},
                                 {{p2(-25), p2(-25), p2(-25), p2(-25)}, 1, 0x3f800001},
                                 {{p2(60), -p2(60), 1}, 0, 0}};
  Vector eight{{1}, 0, 0x3f800000}, eight_d{{}, 1, 0x3f800000}, sixteen{{}, p2(30), 0x4e800000};
  for (int i = 0; i < 8; ++i) {
    eight.a.push_back(p2(-26));
    eight_d.a.push_back(p2(-26));
  }
  for (int i = 0; i < 16; ++i) sixteen.a.push_back(8);
  vectors.insert(vectors.end(), {eight, eight_d, sixteen});
  for (const Vector& v : vectors) {
    float a[16] = {}, b[16];
    std::copy(v.a.begin(), v.a.end(), a);
    std::fill(b, b + 16, 1.f);
    CAPTURE(v.a, v.d);
    CHECK(fused_dot_b200(a, b, 16, v.d, true) == v.expected);
  }
  const float nan = std::nanf(""), one[1] = {1}, inf[1] = {INFINITY};
  CHECK(fused_dot_b200(one, one, 1, nan, true) == 0x7fffffff);
  CHECK(fused_dot_b200(one, one, 1, nan, false) == 0x3f800000);  // D is not read
  CHECK(fused_dot_b200(inf, one, 1, 0, true) == 0x7f800000);
  // D in f16 is the exact sum rounded once: 1 + 2^-11 + 2^-24 lies above the tie and rounds up.
  const float a3[] = {1, p2(-11), p2(-24)}, b3[] = {1, 1, 1};
  CHECK(cvt_rn_f16_f32(std::bit_cast<float>(fused_dot_b200(a3, b3, 3, 0, false, -126, -126, true))) == 0x3c01);
}

namespace {

/// Factors of the products, powers of two as square roots so that subnormal products have normal factors.
struct Factors {
  explicit Factors(const std::vector<float>& products) {
    for (size_t i = 0; i < products.size(); ++i) {
      int e;
      const float significand = std::frexp(products[i], &e);
      a[i] = std::ldexp(significand, e - e / 2), b[i] = std::ldexp(1.f, e / 2);
    }
  }
  float a[16] = {}, b[16] = {};
};
/// D of one element: f32 bits.
uint32_t f32_of(const std::vector<float>& products, float d) {
  const Factors f(products);
  return fused_dot_b200(f.a, f.b, 16, d, true);
}
/// The same with A, B and D in f16: f16 bits.
uint16_t f16_of(const std::vector<float>& products, float d) {
  const Factors f(products);
  return cvt_rn_f16_f32(std::bit_cast<float>(fused_dot_b200(f.a, f.b, 16, d, true, -14, -14, true)));
}

}  // namespace

TEST_CASE("the B200 accumulation model agrees with vectors measured on wgmma, whose form it has",
          "[umma][numerics]") {
  const auto p2 = [](int e) { return std::ldexp(1.f, e); };
  const float largest = decode_bf16(0x7f7f);
  // H200, reference wgmma.md 5.3: bf16, f16 and tf32 have 25 fractional bits there too.
  CHECK(f32_of({1, p2(-24), p2(-25), p2(-25)}, 0) == 0x3f800001);
  CHECK(f32_of({p2(60), -p2(60), 1}, 0) == 0);
  CHECK(f32_of({-p2(-147)}, 0) == 0x80000004);
  const float tiny[] = {-p2(-100)}, small[] = {p2(-53)};  // -2^-153
  CHECK(fused_dot_b200(tiny, small, 1, 0, true) == 0);
  CHECK(f32_of({p2(103)}, std::bit_cast<float>(0x7f7fffffu)) == 0x7f7fffff);
  CHECK(f32_of({largest, largest}, 0) == 0x7f800000);
  CHECK(f32_of({1, -1}, -0.f) == 0);
  CHECK(f32_of({0}, -0.f) == 0);
  // Zero products do not raise the largest exponent: 0 * 2^127 leaves a small D as it is.
  const float zero[] = {0, p2(127)}, other[] = {p2(127), 0};
  CHECK(fused_dot_b200(zero, other, 2, std::bit_cast<float>(0x2f800001u), true) == 0x2f800001);
  // No overflow on the way.
  const float a[] = {largest, largest}, b[] = {largest, -largest};
  CHECK(fused_dot_b200(a, b, 2, 1, true) == 0);
  // D in f16.
  CHECK(f16_of({1, p2(-11)}, 0) == 0x3c00);
  CHECK(f16_of({1, p2(-11), p2(-25)}, 0) == 0x3c01);
  CHECK(f16_of({1, p2(-11), p2(-26)}, 0) == 0x3c00);
  CHECK(f16_of({65280, 239}, 0) == 0x7bff);
  CHECK(f16_of({65280, 240}, 0) == 0x7c00);
  CHECK(f16_of({p2(-25)}, 0) == 0);
  CHECK(f16_of({-p2(-25)}, 0) == 0);  // a negative sum that vanishes
}

TEST_CASE("an old D takes part with the smallest exponent of its type", "[umma][numerics]") {
  const auto p2 = [](int e) { return std::ldexp(1.f, e); };
  // D = 0 has the exponent -126: of products below 2^-151 nothing is left, though 16 of them would be 2^-149.
  std::vector<float> a(16, p2(-100)), b(16, p2(-53));
  CHECK(fused_dot_b200(a.data(), b.data(), 16, 0, true) == 0);
  CHECK(fused_dot_b200(a.data(), b.data(), 16, 0, false) == 0);
  b.assign(16, p2(-51));
  CHECK(fused_dot_b200(a.data(), b.data(), 16, 0, true) == 4);  // 16 * 2^-151
  // D in f16, 2^-23, has the exponent -14, not -23: 2^-40 is cut off and 2^-25 alone ties to even.
  const float x[] = {p2(-13), p2(-20)}, y[] = {p2(-12), p2(-20)};
  const auto rounded = [&](float d) {
    return cvt_rn_f16_f32(std::bit_cast<float>(fused_dot_b200(x, y, 2, d, true, -14, -14, true)));
  };
  CHECK(rounded(p2(-23)) == 2);
  CHECK(rounded(p2(-23) + p2(-24)) == 4);  // 3.5 units
  CHECK(rounded(0) == 1);                  // D = 0 does not have it: 2^-25 + 2^-40 lies above the tie
}
