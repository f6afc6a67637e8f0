// SPDX-License-Identifier: Apache-2.0
/// f16 and bf16 forms against a search: of all codes, the one whose value is nearest to the exact result.  The
/// exact result is an 80-bit number that is cut off, and whether something was cut off.

#include <cfenv>
#include <cmath>

#include "catch.h"
#include "kernels/isa/number_formats.h"
#include "ptx/edge_values.h"
#include "ptx/scalar_machine.h"

using namespace sm100;
using namespace sm100::ptx;

namespace {

struct HalfType {
  const char* name;
  uint16_t infinity;
  float (*decode)(uint16_t);
};
const HalfType kF16 = {"f16", 0x7c00, [](uint16_t x) { return decode_f16(x); }};
const HalfType kBf16 = {"bf16", 0x7f80, [](uint16_t x) { return decode_bf16(x); }};

struct Exact {
  long double value;  // cut off
  bool more;          // something was cut off
};
template <class F>
Exact exactly(F&& f) {
  std::fesetround(FE_TOWARDZERO);
  std::feclearexcept(FE_ALL_EXCEPT);
  volatile long double value = f();
  const bool more = std::fetestexcept(FE_INEXACT) != 0;
  std::fesetround(FE_TONEAREST);
  return {value, more};
}

/// Codes of positive numbers rise with their values.
uint16_t nearest(const HalfType& t, Exact exact) {
  if (std::isnan(exact.value)) return 0x7fff;
  const uint16_t sign = std::signbit(exact.value) ? 0x8000 : 0;
  const long double x = std::abs(exact.value);
  if (std::isinf(x)) return sign | t.infinity;
  uint16_t low = 0, high = t.infinity;
  while (high - low > 1) {
    const auto middle = static_cast<uint16_t>((low + high) / 2);
    (static_cast<long double>(t.decode(middle)) <= x ? low : high) = middle;
  }
  const long double below = t.decode(low);
  // What comes behind the largest number if the exponent had no end.
  const long double above =
      high == t.infinity ? 2 * below - t.decode(static_cast<uint16_t>(low - 1)) : t.decode(high);
  const long double half = (below + above) / 2;
  const bool up = x > half || (x == half && (exact.more || (low & 1)));
  return static_cast<uint16_t>(sign | (up ? high : low));
}

uint16_t flushed(const HalfType& t, uint16_t x) {
  const int fraction = t.infinity == 0x7c00 ? 10 : 7;
  return (x & 0x7fff) >> fraction == 0 ? x & 0x8000 : x;
}
uint16_t clamped(const HalfType& t, uint16_t x) {
  const float v = t.decode(x);
  return v > 0 ? (v < 1 ? x : nearest(t, {1, false})) : 0;
}

}  // namespace

TEST_CASE("Half sums, products and fma are rounded once") {
  for (const HalfType& t : {kF16, kBf16}) {
    const std::string type = std::string(".") + t.name;
    Form add("add" + type), sub("sub.rn" + type), mul("mul" + type), fma("fma.rn" + type),
        positive("fma.rn.relu" + type);
    for (const uint16_t a : edge_halves())
      for (const uint16_t b : edge_halves(10)) {
        const long double x = t.decode(a), y = t.decode(b);
        INFO(t.name << " " << std::hex << a << ", " << b);
        REQUIRE(add(a, b) == nearest(t, exactly([&] { return x + y; })));
        REQUIRE(sub(a, b) == nearest(t, exactly([&] { return x - y; })));
        REQUIRE(mul(a, b) == nearest(t, exactly([&] { return x * y; })));
        for (const uint16_t c : {0x0000, 0x8000, 0x0001, 0x8001, 0x3c00, 0xbc01, 0x7b7f}) {
          const auto want =
              nearest(t, exactly([&] { return std::fma(x, y, static_cast<long double>(t.decode(c))); }));
          REQUIRE(fma(a, b, c) == want);
          REQUIRE(positive(a, b, c) == (want == 0x7fff ? 0x7fff : want & 0x8000 ? 0 : want));
        }
      }
  }
}

TEST_CASE("f16: .ftz flushes operands and results, .sat clamps to [0, 1]") {
  Form add("add.ftz.f16"), mul("mul.sat.f16"), fma("fma.rn.ftz.sat.f16");
  for (const uint16_t a : edge_halves())
    for (const uint16_t b : edge_halves(5)) {
      const uint16_t fa = flushed(kF16, a), fb = flushed(kF16, b);
      const long double x = decode_f16(fa), y = decode_f16(fb);
      REQUIRE(add(a, b) == flushed(kF16, nearest(kF16, exactly([&] { return x + y; }))));
      REQUIRE(mul(a, b) == clamped(kF16, nearest(kF16, exactly([&] {
                                                   return static_cast<long double>(decode_f16(a)) * decode_f16(b);
                                                 }))));
      REQUIRE(fma(a, b, 0x1400) ==
              clamped(kF16, flushed(kF16, nearest(kF16, exactly([&] {
                                                    return std::fma(x, y,
                                                                    static_cast<long double>(decode_f16(0x1400)));
                                                  })))));
    }
}

TEST_CASE("Packed halves are two of them") {
  for (const HalfType& t : {kF16, kBf16}) {
    const std::string scalar = std::string(".") + t.name, packed = scalar + "x2";
    for (const char* opcode : {"add", "mul", "min", "max.NaN", "max.xorsign.abs"}) {
      Form one(opcode + scalar), two(opcode + packed);
      for (const uint16_t a : edge_halves(5))
        for (const uint16_t b : edge_halves(5)) {
          const uint32_t x = static_cast<uint32_t>(a) << 16 | b, y = static_cast<uint32_t>(b) << 16 | 0x3c01;
          REQUIRE(two(x, y) == (one(a, b) << 16 | one(b, 0x3c01)));
        }
    }
  }
}

TEST_CASE("Half min and max") {
  for (const HalfType& t : {kF16, kBf16}) {
    const std::string type = std::string(".") + t.name;
    Form min("min" + type), max("max" + type), nan("min.NaN" + type), neg("neg" + type), abs("abs" + type);
    const auto is_nan = [&](uint16_t x) { return (x & 0x7fff) > t.infinity; };
    const auto order = [](uint16_t x) { return x & 0x8000 ? -(x & 0x7fff) - 1 : static_cast<int>(x); };
    for (const uint16_t a : edge_halves())
      for (const uint16_t b : edge_halves(10)) {
        const uint16_t low = is_nan(a) ? (is_nan(b) ? 0x7fff : b) : is_nan(b) || order(a) < order(b) ? a : b;
        const uint16_t high = is_nan(a) ? (is_nan(b) ? 0x7fff : b) : is_nan(b) || order(a) > order(b) ? a : b;
        REQUIRE(min(a, b) == low);
        REQUIRE(max(a, b) == high);
        REQUIRE(nan(a, b) == (is_nan(a) || is_nan(b) ? 0x7fff : low));
        REQUIRE(neg(a) == (is_nan(a) ? 0x7fff : a ^ 0x8000));
        REQUIRE(abs(a) == (is_nan(a) ? 0x7fff : a & 0x7fff));
      }
  }
}

TEST_CASE("Sums of f32 with halves") {
  Form add("add.rz.f32.bf16"), sub("sub.f32.f16"), fma("fma.rn.sat.f32.f16");
  for (const uint16_t a : edge_halves(5))
    for (const uint32_t c : edge_floats(5)) {
      volatile float x = decode_bf16(a), y = decode_f16(a), z = std::bit_cast<float>(c);
      const auto bits = [](float v) { return std::isnan(v) ? 0x7fffffffu : std::bit_cast<uint32_t>(v); };
      std::fesetround(FE_TOWARDZERO);
      volatile float sum = x + z;
      std::fesetround(FE_TONEAREST);
      REQUIRE(add(a, c) == bits(sum));
      REQUIRE(sub(a, c) == bits(y - z));
      const float product = std::fma(y, 0.5f, z);
      REQUIRE(fma(a, 0x3800, c) == bits(product > 0 ? std::min(product, 1.0f) : 0.0f));
    }
}
