// SPDX-License-Identifier: Apache-2.0
/// Integer forms against 128-bit arithmetic.

#include "catch.h"
#include "ptx/edge_values.h"
#include "ptx/scalar_machine.h"

using namespace sm100::ptx;

namespace {

using Wide = __int128;

struct IntegerType {
  const char* name;
  int width;
  bool is_signed;
  Wide value(uint64_t bits) const {
    if (!is_signed) return width == 64 ? Wide{bits} : Wide{bits & ((uint64_t{1} << width) - 1)};
    const int up = 64 - width;
    return static_cast<int64_t>(bits << up) >> up;
  }
  uint64_t bits(Wide v) const {
    return width == 64 ? static_cast<uint64_t>(v) : static_cast<uint64_t>(v) & ((uint64_t{1} << width) - 1);
  }
  Wide least() const { return is_signed ? -(Wide{1} << (width - 1)) : 0; }
  Wide most() const { return (Wide{1} << (width - is_signed)) - 1; }
};
constexpr IntegerType kTypes[] = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
                                  {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};

template <class Expected>
void check_two(const std::string& opcode, const IntegerType& type, Expected expected) {
  Form form(opcode + "." + type.name);
  for (const uint64_t a : edge_integers(type.width))
    for (const uint64_t b : edge_integers(type.width, 3)) {
      const uint64_t got = form(a, b), want = type.bits(expected(type.value(a), type.value(b)));
      if (got != want)
        FAIL(opcode << "." << type.name << " of " << a << ", " << b << " is " << got << ", not " << want);
    }
}

Wide clamp(Wide x, const IntegerType& t) { return x < t.least() ? t.least() : x > t.most() ? t.most() : x; }

/// High half of the product: of 64 bits by parts, because the product needs all 128.
Wide high_part(Wide a, Wide b, const IntegerType& t) {
  if (t.width < 64 || t.is_signed) return (a * b) >> t.width;
  return static_cast<Wide>((static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)) >> 64);
}

}  // namespace

TEST_CASE("Integer arithmetic wraps, and minimum, maximum, quotient and remainder are those of the type") {
  for (const IntegerType& t : kTypes) {
    check_two("add", t, [](Wide a, Wide b) { return a + b; });
    check_two("sub", t, [](Wide a, Wide b) { return a - b; });
    check_two("min", t, [](Wide a, Wide b) { return a < b ? a : b; });
    check_two("max", t, [](Wide a, Wide b) { return a > b ? a : b; });
    check_two("mul.lo", t, [](Wide a, Wide b) {
      return static_cast<Wide>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
    });
    check_two("mul.hi", t, [&](Wide a, Wide b) { return high_part(a, b, t); });
    check_two("div", t, [](Wide a, Wide b) { return b == 0 ? Wide{-1} : a / b; });
    check_two("rem", t, [](Wide a, Wide b) { return b == 0 ? Wide{-1} : a % b; });
  }
}

TEST_CASE("mul.wide and mad.wide have twice the width") {
  for (const IntegerType& t : kTypes) {
    if (t.width == 64) continue;
    const IntegerType twice{"", 2 * t.width, t.is_signed};
    Form mul(std::string("mul.wide.") + t.name), mad(std::string("mad.wide.") + t.name);
    for (const uint64_t a : edge_integers(t.width))
      for (const uint64_t b : edge_integers(t.width, 3)) {
        REQUIRE(mul(a, b) == twice.bits(t.value(a) * t.value(b)));
        REQUIRE(mad(a, b, 0x8000000180000001u) ==
                twice.bits(t.value(a) * t.value(b) + twice.value(0x8000000180000001u)));
      }
  }
}

TEST_CASE("Forms with three sources") {
  for (const IntegerType& t : kTypes) {
    const std::string type = std::string(".") + t.name;
    Form lo("mad.lo" + type), hi("mad.hi" + type), sad("sad" + type);
    for (const uint64_t a : edge_integers(t.width, 4))
      for (const uint64_t b : edge_integers(t.width, 2))
        for (const uint64_t c : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, uint64_t{0x8000000080008000}}) {
          const Wide x = t.value(a), y = t.value(b), z = t.value(c);
          REQUIRE(
              lo(a, b, c) ==
              t.bits(static_cast<Wide>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y)) + z));
          REQUIRE(hi(a, b, c) == t.bits(high_part(x, y, t) + z));
          REQUIRE(sad(a, b, c) == t.bits(z + (x < y ? y - x : x - y)));
        }
  }
}

TEST_CASE("Saturating forms clamp to s32") {
  const IntegerType s32 = kTypes[3];
  check_two("add.sat", s32, [&](Wide a, Wide b) { return clamp(a + b, s32); });
  check_two("sub.sat", s32, [&](Wide a, Wide b) { return clamp(a - b, s32); });
  check_two("min.relu", s32, [](Wide a, Wide b) { return std::max<Wide>(std::min(a, b), 0); });
  check_two("max.relu", s32, [](Wide a, Wide b) { return std::max<Wide>(std::max(a, b), 0); });
  Form mad("mad.hi.sat.s32"), mad24("mad24.hi.sat.s32");
  for (const uint64_t a : edge_integers(32, 6))
    for (const uint64_t b : edge_integers(32, 3))
      for (const uint64_t c : {0x7fffffffu, 0x80000000u, 5u}) {
        const Wide x = s32.value(a), y = s32.value(b), z = s32.value(c);
        REQUIRE(mad(a, b, c) == s32.bits(clamp(((x * y) >> 32) + z, s32)));
        const IntegerType s24{"", 24, true};
        REQUIRE(mad24(a, b, c) ==
                s32.bits(clamp(s32.value(s32.bits((s24.value(a) * s24.value(b)) >> 16)) + z, s32)));
      }
}

TEST_CASE("mul24 multiplies the low 24 bits") {
  for (const bool is_signed : {false, true}) {
    const IntegerType part{"", 24, is_signed}, whole = is_signed ? kTypes[3] : kTypes[2];
    const std::string type = std::string(".") + whole.name;
    Form lo("mul24.lo" + type), hi("mul24.hi" + type), mad("mad24.lo" + type);
    for (const uint64_t a : edge_integers(32))
      for (const uint64_t b : edge_integers(32, 3)) {
        const Wide product = part.value(a) * part.value(b);
        REQUIRE(lo(a, b) == whole.bits(product));
        REQUIRE(hi(a, b) == whole.bits(product >> 16));
        REQUIRE(mad(a, b, 99) == whole.bits(product + 99));
      }
  }
}

TEST_CASE("Packed 16-bit integers are two of them") {
  for (const IntegerType& t : {kTypes[0], kTypes[1]}) {
    Form add(std::string("add.") + t.name + "x2"), max(std::string("max.") + t.name + "x2");
    for (const uint64_t a : edge_integers(32))
      for (const uint64_t b : edge_integers(32, 3)) {
        const auto both = [&](auto f) {
          return t.bits(f(t.value(a), t.value(b))) | t.bits(f(t.value(a >> 16), t.value(b >> 16))) << 16;
        };
        REQUIRE(add(a, b) == both([](Wide x, Wide y) { return x + y; }));
        REQUIRE(max(a, b) == both([](Wide x, Wide y) { return std::max(x, y); }));
      }
  }
}

TEST_CASE("neg and abs of the least number are itself") {
  for (const IntegerType& t : kTypes) {
    if (!t.is_signed) continue;
    Form neg(std::string("neg.") + t.name), abs(std::string("abs.") + t.name);
    for (const uint64_t a : edge_integers(t.width)) {
      REQUIRE(neg(a) == t.bits(-t.value(a)));
      REQUIRE(abs(a) == t.bits(t.value(a) < 0 ? -t.value(a) : t.value(a)));
    }
  }
}

TEST_CASE("Carries make sums of any width") {
  ScalarMachine m(
      ".reg .b32 %r<16>;\n"
      "add.cc.u32 %r8, %r0, %r4; addc.cc.u32 %r9, %r1, %r5; addc.cc.u32 %r10, %r2, %r6; addc.u32 %r11, %r3, %r7;\n"
      "sub.cc.u32 %r12, %r0, %r4; subc.cc.u32 %r13, %r1, %r5; subc.cc.u32 %r14, %r2, %r6; subc.u32 %r15, %r3, "
      "%r7;");
  std::mt19937_64 engine(3);
  for (int i = 0; i < 200; ++i) {
    const auto number = [&] {
      return static_cast<unsigned __int128>(i % 3 ? engine() : ~uint64_t{0}) << 64 |
             (i % 2 ? engine() : ~uint64_t{0});
    };
    const unsigned __int128 a = number(), b = i % 5 ? number() : 1;
    for (int w = 0; w < 4; ++w) {
      m.set("%r" + std::to_string(w), static_cast<uint32_t>(a >> (32 * w)));
      m.set("%r" + std::to_string(w + 4), static_cast<uint32_t>(b >> (32 * w)));
    }
    m.run();
    for (int w = 0; w < 4; ++w) {
      REQUIRE(m.get("%r" + std::to_string(w + 8), 17) == static_cast<uint32_t>((a + b) >> (32 * w)));
      REQUIRE(m.get("%r" + std::to_string(w + 12), 17) == static_cast<uint32_t>((a - b) >> (32 * w)));
    }
  }
}

TEST_CASE("What one kind of sum leaves in the carry flag another reads as an H200 does") {
  // bench/hardware/carry.cu, 2026-11-29: add.cc addc, add.cc subc, sub.cc addc, sub.cc subc, the same of 64 bits,
  // sub.cc subc.cc addc, sub.cc addc.cc subc, add.cc subc.cc addc, mad.lo.cc subc, sub.cc madc.lo
  const struct {
    uint32_t a, b, results[13];
  } rows[] = {
      {0x5, 0x3, {0x0, 0xffffffff, 0x1, 0x0, 0x0, 0xffffffff, 0x1, 0x0, 0x1, 0xffffffff, 0x1, 0xffffffff, 0x1}},
      {0x3,
       0x5,
       {0x0, 0xffffffff, 0x0, 0xffffffff, 0x0, 0xffffffff, 0x0, 0xffffffff, 0x0, 0xffffffff, 0x0, 0xffffffff, 0x0}},
      {0xffffffff, 0x1, {0x1, 0x0, 0x1, 0x0, 0x0, 0xffffffff, 0x1, 0x0, 0x1, 0x0, 0x1, 0x0, 0x1}},
      {0x0, 0x0, {0x0, 0xffffffff, 0x1, 0x0, 0x0, 0xffffffff, 0x1, 0x0, 0x1, 0xffffffff, 0x0, 0xffffffff, 0x1}},
      {0x7, 0x7, {0x0, 0xffffffff, 0x1, 0x0, 0x0, 0xffffffff, 0x1, 0x0, 0x1, 0xffffffff, 0x0, 0xffffffff, 0x1}},
  };
  ScalarMachine m(
      ".reg .b32 %r<20>; .reg .b64 %x<3>;\n"
      "add.cc.u32 %r2, %r0, %r1; addc.u32 %r3, 0, 0; add.cc.u32 %r2, %r0, %r1; subc.u32 %r4, 0, 0;\n"
      "sub.cc.u32 %r2, %r0, %r1; addc.u32 %r5, 0, 0; sub.cc.u32 %r2, %r0, %r1; subc.u32 %r6, 0, 0;\n"
      "cvt.u64.u32 %x0, %r0; cvt.u64.u32 %x1, %r1;\n"
      "add.cc.u64 %x2, %x0, %x1; addc.u64 %x2, 0, 0; cvt.u32.u64 %r7, %x2;\n"
      "add.cc.u64 %x2, %x0, %x1; subc.u64 %x2, 0, 0; cvt.u32.u64 %r8, %x2;\n"
      "sub.cc.u64 %x2, %x0, %x1; addc.u64 %x2, 0, 0; cvt.u32.u64 %r9, %x2;\n"
      "sub.cc.u64 %x2, %x0, %x1; subc.u64 %x2, 0, 0; cvt.u32.u64 %r10, %x2;\n"
      "sub.cc.u32 %r2, %r0, %r1; subc.cc.u32 %r2, %r0, %r1; addc.u32 %r11, 0, 0;\n"
      "sub.cc.u32 %r2, %r0, %r1; addc.cc.u32 %r2, %r0, %r1; subc.u32 %r12, 0, 0;\n"
      "add.cc.u32 %r2, %r0, %r1; subc.cc.u32 %r2, %r0, %r1; addc.u32 %r13, 0, 0;\n"
      "mad.lo.cc.u32 %r2, %r0, 1, %r1; subc.u32 %r14, 0, 0; sub.cc.u32 %r2, %r0, %r1; madc.lo.u32 %r15, 0, 0, 0;");
  for (const auto& row : rows) {
    m.set("%r0", row.a), m.set("%r1", row.b);
    m.run();
    for (int i = 0; i < 13; ++i) {
      CAPTURE(row.a, row.b, i);
      CHECK(m.get("%r" + std::to_string(3 + i), 17) == row.results[i]);
    }
  }
}

TEST_CASE("mad.cc and madc make products of 64 bits") {
  ScalarMachine m(
      ".reg .b32 %r<8>;\n"
      "mul.lo.u32 %r4, %r0, %r2; mul.hi.u32 %r5, %r0, %r2;\n"
      "mad.lo.cc.u32 %r5, %r1, %r2, %r5; madc.hi.u32 %r6, %r1, %r2, 0;\n"
      "mad.lo.cc.u32 %r5, %r0, %r3, %r5; madc.hi.cc.u32 %r6, %r0, %r3, %r6; addc.u32 %r7, 0, 0;\n"
      "mad.lo.cc.u32 %r6, %r1, %r3, %r6; madc.hi.u32 %r7, %r1, %r3, %r7;");
  std::mt19937_64 engine(5);
  for (int i = 0; i < 200; ++i) {
    const uint64_t a = i < 5 ? ~uint64_t{0} >> i : engine(), b = i < 9 ? ~uint64_t{0} : engine();
    m.set("%r0", a & 0xffffffff), m.set("%r1", a >> 32), m.set("%r2", b & 0xffffffff), m.set("%r3", b >> 32);
    m.run();
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    for (int w = 0; w < 4; ++w)
      REQUIRE(m.get("%r" + std::to_string(w + 4)) == static_cast<uint32_t>(product >> (32 * w)));
  }
}
