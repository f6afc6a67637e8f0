// SPDX-License-Identifier: Apache-2.0
/// f32 and f64 forms against the host's processor in each of its rounding modes.

#include <cfenv>
#include <cfloat>
#include <cmath>
#include <functional>

#include "catch.h"
#include "ptx/edge_values.h"
#include "ptx/scalar_machine.h"

using namespace sm100::ptx;

namespace {

struct ModeName {
  const char* text;
  int mode;
};
constexpr ModeName kModes[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

template <class T, class F>
T in_mode(int mode, F&& f) {
  std::fesetround(mode);
  volatile T result = f();
  std::fesetround(FE_TONEAREST);
  return result;
}

uint32_t bits(float x) { return std::isnan(x) ? 0x7fffffffu : std::bit_cast<uint32_t>(x); }
uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }
bool same(uint64_t got, double want) {
  return std::isnan(want) ? std::isnan(std::bit_cast<double>(got)) : got == bits(want);
}
float f32(uint32_t x) { return std::bit_cast<float>(x); }
double f64(uint64_t x) { return std::bit_cast<double>(x); }
float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
/// .ftz of a result: `twice` is the same operation on operands that give twice the number, so its fraction is that
/// of a format without a least exponent.
float flushed(float x, float twice) { return std::abs(twice) < 2 * FLT_MIN ? std::copysign(0.0f, x) : x; }
float clamped(float x) { return x > 0 ? std::min(x, 1.0f) : 0.0f; }

using Binary = std::function<float(volatile float&, volatile float&)>;

/// @param product  of its operands; else a sum
void check_binary(const std::string& opcode, const Binary& f, bool has_sat, bool product) {
  for (const ModeName& m : kModes) {
    Form plain(opcode + m.text + ".f32"), ftz(opcode + m.text + ".ftz.f32");
    std::unique_ptr<Form> sat;
    if (has_sat) sat = std::make_unique<Form>(opcode + m.text + ".sat.f32");
    for (const uint32_t a : edge_floats())
      for (const uint32_t b : edge_floats(4)) {
        volatile float x = f32(a), y = f32(b);
        const float want = in_mode<float>(m.mode, [&] { return f(x, y); });
        INFO(opcode << m.text << " of " << std::hex << a << ", " << b);
        REQUIRE(plain(a, b) == bits(want));
        if (sat) REQUIRE((*sat)(a, b) == bits(clamped(want)));
        volatile float fx = flushed(f32(a)), fy = flushed(f32(b));
        volatile float tx = 2 * fx, ty = product ? fy : 2 * fy;
        REQUIRE(ftz(a, b) == bits(flushed(in_mode<float>(m.mode, [&] { return f(fx, fy); }),
                                          in_mode<float>(m.mode, [&] { return f(tx, ty); }))));
      }
  }
}

}  // namespace

TEST_CASE("f32 sums, products and quotients are rounded exactly in each mode") {
  check_binary(
      "add", [](volatile float& a, volatile float& b) { return a + b; }, true, false);
  check_binary(
      "sub", [](volatile float& a, volatile float& b) { return a - b; }, true, false);
  check_binary(
      "mul", [](volatile float& a, volatile float& b) { return a * b; }, true, true);
  check_binary(
      "div", [](volatile float& a, volatile float& b) { return a / b; }, false, true);
}

TEST_CASE("fma.f32 is rounded once") {
  for (const ModeName& m : kModes) {
    Form fma(std::string("fma") + m.text + ".f32"), mad(std::string("mad") + m.text + ".ftz.f32");
    for (const uint32_t a : edge_floats(6))
      for (const uint32_t b : edge_floats(1))
        for (const uint32_t c :
             {0u, 0x80000000u, 1u, 0x807fffffu, 0x33800001u, 0xbf800000u, 0x7f7fffffu, 0x4b000001u}) {
          volatile float x = f32(a), y = f32(b), z = f32(c);
          INFO("fma" << m.text << " of " << std::hex << a << ", " << b << ", " << c);
          REQUIRE(fma(a, b, c) == bits(in_mode<float>(m.mode, [&] { return std::fma(x, y, z); })));
          volatile float fx = flushed(f32(a)), fy = flushed(f32(b)), fz = flushed(f32(c));
          volatile float tx = 2 * fx, tz = 2 * fz;
          REQUIRE(mad(a, b, c) == bits(flushed(in_mode<float>(m.mode, [&] { return std::fma(fx, fy, fz); }),
                                               in_mode<float>(m.mode, [&] { return std::fma(tx, fy, tz); }))));
        }
  }
}

TEST_CASE("rcp and sqrt are rounded exactly, the approximate ones to nearest") {
  for (const ModeName& m : kModes) {
    Form rcp(std::string("rcp") + m.text + ".f32"), sqrt(std::string("sqrt") + m.text + ".f32");
    for (const uint32_t a : edge_floats(300)) {
      volatile float x = f32(a), one = 1;
      REQUIRE(rcp(a) == bits(in_mode<float>(m.mode, [&] { return one / x; })));
      REQUIRE(sqrt(a) == bits(in_mode<float>(m.mode, [&] { return std::sqrt(x); })));
    }
  }
  Form rsqrt("rsqrt.approx.f32"), ex2("ex2.approx.f32"), lg2("lg2.approx.f32"), tanh("tanh.approx.f32"),
      sin("sin.approx.f32"), ftz("ex2.approx.ftz.f32"), full("div.full.f32");
  for (const uint32_t a : edge_floats(300)) {
    const long double x = f32(a);
    const long double root = x == 0 ? std::copysign(HUGE_VALL, x) : 1 / std::sqrt(x);
    REQUIRE(rsqrt(a) == bits(static_cast<float>(root)));
    REQUIRE(ex2(a) == bits(static_cast<float>(std::exp2(x))));
    REQUIRE(ftz(a) == bits(flushed(static_cast<float>(std::exp2(static_cast<long double>(flushed(f32(a))))))));
    REQUIRE(lg2(a) == bits(static_cast<float>(std::log2(x))));
    REQUIRE(tanh(a) == bits(static_cast<float>(std::tanh(x))));
    REQUIRE(sin(a) == bits(static_cast<float>(std::sin(x))));
    REQUIRE(full(a, 0x40400000u) == bits(f32(a) / 3.0f));
  }
}

TEST_CASE("f64 arithmetic is rounded in each mode") {
  for (const ModeName& m : kModes) {
    const std::string t = std::string(m.text) + ".f64";
    Form add("add" + t), sub("sub" + t), mul("mul" + t), div("div" + t), fma("fma" + t), rcp("rcp" + t),
        sqrt("sqrt" + t);
    for (const uint64_t a : edge_doubles())
      for (const uint64_t b : edge_doubles(2)) {
        volatile double x = f64(a), y = f64(b), z = -1.25, one = 1;
        INFO(m.text << " of " << std::hex << a << ", " << b);
        REQUIRE(same(add(a, b), in_mode<double>(m.mode, [&] { return x + y; })));
        REQUIRE(same(sub(a, b), in_mode<double>(m.mode, [&] { return x - y; })));
        REQUIRE(same(mul(a, b), in_mode<double>(m.mode, [&] { return x * y; })));
        REQUIRE(same(div(a, b), in_mode<double>(m.mode, [&] { return x / y; })));
        REQUIRE(same(fma(a, b, bits(-1.25)), in_mode<double>(m.mode, [&] { return std::fma(x, y, z); })));
        REQUIRE(same(rcp(a), in_mode<double>(m.mode, [&] { return one / x; })));
        REQUIRE(same(sqrt(a), in_mode<double>(m.mode, [&] { return std::sqrt(x); })));
      }
  }
}

TEST_CASE("f32x2 computes two numbers") {
  Form add("add.rp.f32x2"), mul("mul.ftz.f32x2"), fma("fma.rn.f32x2");
  for (const uint32_t a : edge_floats(2))
    for (const uint32_t b : edge_floats(2)) {
      const uint64_t x = uint64_t{a} << 32 | b, y = uint64_t{b} << 32 | 0x3f800001u;
      volatile float ha = f32(a), la = f32(b), hb = f32(b), lb = f32(0x3f800001);
      const uint64_t sum = uint64_t{bits(in_mode<float>(FE_UPWARD, [&] { return ha + hb; }))} << 32 |
                           bits(in_mode<float>(FE_UPWARD, [&] { return la + lb; }));
      REQUIRE(add(x, y) == sum);
      REQUIRE(mul(x, y) ==
              (uint64_t{bits(flushed(flushed(ha) * flushed(hb), 2 * flushed(ha) * flushed(hb)))} << 32 |
               bits(flushed(flushed(la) * lb, 2 * flushed(la) * lb))));
      REQUIRE(fma(x, y, x) == (uint64_t{bits(std::fma(ha, hb, ha))} << 32 | bits(std::fma(la, lb, la))));
    }
}

TEST_CASE("min and max: NaN loses, -0 is below +0, .NaN, .abs and three sources") {
  Form min("min.f32"), max("max.f32"), min_nan("min.NaN.f32"), max_nan("max.NaN.ftz.f32"),
      sign("max.xorsign.abs.f32"), min64("min.f64");
  Form three("max.f32", "max.f32.three"), three_abs("min.NaN.abs.f32", "min.NaN.abs.f32.three");
  const auto order = [](float x) {
    return static_cast<int64_t>(std::bit_cast<int32_t>(x) < 0 ? -(std::bit_cast<int32_t>(x) & 0x7fffffff) - 1
                                                              : std::bit_cast<int32_t>(x));
  };
  const auto smaller = [&](float a, float b) {
    return std::isnan(a) ? b : std::isnan(b) ? a : order(a) < order(b) ? a : b;
  };
  const auto larger = [&](float a, float b) {
    return std::isnan(a) ? b : std::isnan(b) ? a : order(a) < order(b) ? b : a;
  };
  for (const uint32_t a : edge_floats())
    for (const uint32_t b : edge_floats(4)) {
      const float x = f32(a), y = f32(b);
      const bool nan = std::isnan(x) || std::isnan(y);
      REQUIRE(min(a, b) == bits(smaller(x, y)));
      REQUIRE(max(a, b) == bits(larger(x, y)));
      REQUIRE(min_nan(a, b) == (nan ? 0x7fffffffu : bits(smaller(x, y))));
      REQUIRE(max_nan(a, b) == (nan ? 0x7fffffffu : bits(larger(flushed(x), flushed(y)))));
      const float magnitude = larger(std::abs(x), std::abs(y));
      REQUIRE(sign(a, b) == (std::isnan(magnitude)
                                 ? 0x7fffffffu
                                 : bits(std::signbit(x) != std::signbit(y) ? -magnitude : magnitude)));
      REQUIRE(three(a, b, 0xc0000000u) == bits(larger(larger(x, y), -2.0f)));
      REQUIRE(three_abs(a, b, 0xc0000000u) ==
              (nan ? 0x7fffffffu : bits(smaller(smaller(std::abs(x), std::abs(y)), 2.0f))));
    }
  CHECK(min64(bits(0.0), bits(-0.0)) == bits(-0.0));
  CHECK(min64(bits(1.0), bits(static_cast<double>(NAN))) == bits(1.0));
}

TEST_CASE("Signs and classes") {
  Form abs("abs.f32"), neg("neg.ftz.f32"), copy("copysign.f32"), finite("testp.finite.f32"),
      subnormal("testp.subnormal.f32"), normal("testp.normal.f64"), nan("testp.notanumber.f64"),
      number("testp.number.f32"), infinite("testp.infinite.f32");
  for (const uint32_t a : edge_floats()) {
    const float x = f32(a);
    const uint32_t flushed_bits = std::fpclassify(x) == FP_SUBNORMAL ? a & 0x80000000u : a;
    CHECK(abs(a) == (std::isnan(x) ? 0x7fffffffu : a & 0x7fffffffu));
    CHECK(neg(a) == (std::isnan(x) ? 0x7fffffffu : flushed_bits ^ 0x80000000u));
    CHECK(copy(a, 0x40000000u) == (0x40000000u | (a & 0x80000000u)));  // the sign of the first
    CHECK(finite(a) == static_cast<uint64_t>(std::isfinite(x)));
    CHECK(infinite(a) == static_cast<uint64_t>(std::isinf(x)));
    CHECK(number(a) == static_cast<uint64_t>(!std::isnan(x)));
    CHECK(subnormal(a) == static_cast<uint64_t>(std::fpclassify(x) == FP_SUBNORMAL));
    CHECK(normal(bits(static_cast<double>(x))) == static_cast<uint64_t>(std::isnormal(x) || std::abs(x) < FLT_MIN));
    CHECK(nan(bits(static_cast<double>(x))) == static_cast<uint64_t>(std::isnan(x)));
  }
}
