// SPDX-License-Identifier: Apache-2.0
/// Bit operations against the loops of the PTX text, bit by bit.

#include <algorithm>

#include "catch.h"
#include "ptx/edge_values.h"
#include "ptx/scalar_machine.h"

using namespace sm100::ptx;

namespace {

uint64_t low_bits(uint64_t x, int width) { return width == 64 ? x : x & ((uint64_t{1} << width) - 1); }
bool bit(uint64_t x, int i) { return x >> i & 1; }

}  // namespace

TEST_CASE("Logic of every width") {
  for (const int width : {16, 32, 64}) {
    const std::string t = ".b" + std::to_string(width);
    Form both("and" + t), either("or" + t), differ("xor" + t), inverse("not" + t), is_zero("cnot" + t);
    for (const uint64_t a : edge_integers(width))
      for (const uint64_t b : edge_integers(width, 2)) {
        REQUIRE(both(a, b) == (a & b));
        REQUIRE(either(a, b) == (a | b));
        REQUIRE(differ(a, b) == (a ^ b));
        REQUIRE(inverse(a) == low_bits(~a, width));
        REQUIRE(is_zero(a) == (a == 0 ? 1u : 0u));
      }
  }
}

TEST_CASE("Shifts beyond the width shift everything out") {
  for (const int width : {16, 32, 64}) {
    const std::string n = std::to_string(width);
    Form left("shl.b" + n), right("shr.u" + n), right_bits("shr.b" + n), sign("shr.s" + n);
    for (const uint64_t a : edge_integers(width))
      for (const uint32_t by : {0u, 1u, 5u, 15u, 16u, 17u, 31u, 32u, 33u, 63u, 64u, 65u, 255u, 0xffffffffu}) {
        uint64_t l = a, r = a, s = a;
        for (uint32_t i = 0; i < std::min(by, 70u); ++i) {
          l = low_bits(l << 1, width);
          r >>= 1;
          s = s >> 1 | (bit(s, width - 1) ? uint64_t{1} << (width - 1) : 0);
        }
        REQUIRE(left(a, by) == l);
        REQUIRE(right(a, by) == r);
        REQUIRE(right_bits(a, by) == r);
        REQUIRE(sign(a, by) == s);
      }
  }
}

TEST_CASE("shf shifts two registers as one") {
  Form lc("shf.l.clamp.b32"), lw("shf.l.wrap.b32"), rc("shf.r.clamp.b32"), rw("shf.r.wrap.b32");
  for (const uint64_t a : edge_integers(32, 4))
    for (const uint64_t b : edge_integers(32, 4))
      for (const uint32_t c : {0u, 1u, 8u, 31u, 32u, 33u, 64u, 0xffffffe1u}) {
        const auto expected = [&](bool left, uint32_t n) {
          uint64_t both = b << 32 | a;
          for (uint32_t i = 0; i < n; ++i) both = left ? both << 1 : both >> 1;
          return left ? both >> 32 : both & 0xffffffff;
        };
        REQUIRE(lc(a, b, c) == expected(true, std::min(c, 32u)));
        REQUIRE(lw(a, b, c) == expected(true, c % 32));
        REQUIRE(rc(a, b, c) == expected(false, std::min(c, 32u)));
        REQUIRE(rw(a, b, c) == expected(false, c % 32));
      }
}

TEST_CASE("Counting and finding bits") {
  for (const int width : {32, 64}) {
    const std::string n = std::to_string(width);
    Form popc("popc.b" + n), clz("clz.b" + n), brev("brev.b" + n), find("bfind.u" + n), find_signed("bfind.s" + n),
        shift("bfind.shiftamt.s" + n);
    for (const uint64_t a : edge_integers(width)) {
      uint64_t count = 0, reversed = 0;
      int highest = -1, highest_other = -1;
      for (int i = 0; i < width; ++i) {
        count += bit(a, i);
        reversed |= static_cast<uint64_t>(bit(a, i)) << (width - 1 - i);
        if (bit(a, i)) highest = i;
        if (bit(a, i) != bit(a, width - 1)) highest_other = i;
      }
      REQUIRE(popc(a) == count);
      REQUIRE(clz(a) == static_cast<uint64_t>(width - 1 - highest));
      REQUIRE(brev(a) == reversed);
      REQUIRE(find(a) == static_cast<uint32_t>(highest));
      REQUIRE(find_signed(a) == static_cast<uint32_t>(highest_other));
      REQUIRE(shift(a) == (highest_other < 0 ? 0xffffffffu : static_cast<uint32_t>(width - 1 - highest_other)));
    }
  }
}

TEST_CASE("bfe and bfi, bit by bit") {
  for (const int width : {32, 64}) {
    const std::string n = std::to_string(width);
    Form extract("bfe.u" + n), extract_signed("bfe.s" + n), insert("bfi.b" + n);
    const int msb = width - 1;
    for (const uint64_t a : edge_integers(width, 3))
      for (const int pos : {0, 1, 15, 31, 32, 33, 63, 64, 255})
        for (const int len : {0, 1, 8, 31, 32, 33, 63, 64, 255}) {
          uint64_t expected = 0, expected_signed = 0, inserted = low_bits(0x5555aaaa5555aaaau, width);
          const bool sign = len != 0 && bit(a, std::min(pos + len - 1, msb));
          for (int i = 0; i <= msb; ++i) {
            const bool in_field = i < len && pos + i <= msb;
            expected |= static_cast<uint64_t>(in_field && bit(a, pos + i)) << i;
            expected_signed |= static_cast<uint64_t>(in_field ? bit(a, pos + i) : sign) << i;
          }
          for (int i = 0; i < len && pos + i <= msb; ++i)
            inserted = (inserted & ~(uint64_t{1} << (pos + i))) | static_cast<uint64_t>(bit(a, i)) << (pos + i);
          REQUIRE(extract(a, pos, len) == expected);
          REQUIRE(extract_signed(a, pos, len) == expected_signed);
          if (width == 32) REQUIRE(extract(a, pos | 0x100, len | 0xf00) == expected);  // the low 8 bits count
          if (width == 64) REQUIRE(extract(a, pos | 0x100, len) == 0);                 // all bits count
          REQUIRE(insert(a, 0x5555aaaa5555aaaau, pos, len) == inserted);
        }
  }
}

TEST_CASE("bmsk and szext, as the PTX text has them") {
  for (const bool clamp : {false, true}) {
    const std::string mode = clamp ? ".clamp" : ".wrap";
    Form mask("bmsk" + mode + ".b32"), zero("szext" + mode + ".u32"), sign("szext" + mode + ".s32");
    for (const uint32_t a : {0u, 1u, 5u, 31u, 32u, 40u, 0xffffffffu})
      for (const uint32_t b : {0u, 1u, 8u, 26u, 27u, 31u, 32u, 33u, 0x80000000u}) {
        uint32_t expected = 0;
        const uint32_t start = a % 32, width = b % 32;
        const bool all_above = clamp && b >= 32;
        for (uint32_t i = start; i < 32 && !(clamp && a >= 32); ++i)
          if (all_above || i < start + width) expected |= 1u << i;
        REQUIRE(mask(a, b) == expected);
      }
    for (const uint64_t a : edge_integers(32))
      for (const uint32_t b : {0u, 1u, 7u, 8u, 31u, 32u, 33u, 40u}) {
        const uint32_t n = clamp && b >= 32 ? 32 : b % 32;
        uint64_t unsigned_value = n == 32 ? a : a & ((uint64_t{1} << n) - 1), signed_value = unsigned_value;
        if (n > 0 && n < 32 && bit(a, static_cast<int>(n) - 1))
          signed_value = low_bits(unsigned_value | ~uint64_t{0} << n, 32);
        REQUIRE(zero(a, b) == unsigned_value);
        REQUIRE(sign(a, b) == signed_value);
      }
  }
}

TEST_CASE("fns finds the n-th set bit, upwards and downwards") {
  Form fns("fns.b32");
  REQUIRE(fns(0xaaaaaaaa, 3, 1) == 3u);
  REQUIRE(fns(0xaaaaaaaa, 3, -1) == 3u);
  REQUIRE(fns(0xaaaaaaaa, 2, 1) == 3u);
  REQUIRE(fns(0xaaaaaaaa, 2, -1) == 1u);
  REQUIRE(fns(0xaaaaaaaa, 3, 4) == 9u);
  REQUIRE(fns(0xaaaaaaaa, 31, 2) == 0xffffffffu);
  REQUIRE(fns(0x10, 4, 0) == 4u);
  REQUIRE(fns(0x10, 3, 0) == 0xffffffffu);
  REQUIRE(fns(0, 0, 1) == 0xffffffffu);
}

TEST_CASE("lop3 looks each bit up in its table") {
  for (const uint32_t table : {0x00u, 0x01u, 0x80u, 0x96u, 0xcau, 0xe8u, 0xf8u, 0x7fu, 0xffu}) {
    ScalarMachine m(".reg .b32 %r<6>; .reg .pred %p<4>;\nlop3.b32 %r0, %r1, %r2, %r3, " + std::to_string(table) +
                    ";\n" + "lop3.or.b32 %r4|%p0, %r1, %r2, %r3, " + std::to_string(table) + ", %p1;\n" +
                    "lop3.and.b32 _|%p2, %r1, %r2, %r3, " + std::to_string(table) + ", !%p1;");
    for (const uint64_t a : edge_integers(32, 3))
      for (const uint64_t b : edge_integers(32, 1)) {
        const uint64_t c = a * 7 ^ b << 3;
        m.set("%r1", a), m.set("%r2", b), m.set("%r3", c & 0xffffffff), m.set("%p1", 0);
        m.run();
        uint32_t expected = 0;
        for (int i = 0; i < 32; ++i)
          expected |= static_cast<uint32_t>(bit(table, bit(a, i) * 4 + bit(b, i) * 2 + bit(c, i))) << i;
        REQUIRE(m.get("%r0") == expected);
        REQUIRE(m.get("%r4") == expected);
        REQUIRE(m.get("%p0") == (expected != 0 ? 1u : 0u));
        REQUIRE(m.get("%p2") == (expected != 0 ? 1u : 0u));
      }
  }
}

TEST_CASE("prmt permutes bytes, in all its modes") {
  Form generic("prmt.b32"), f4e("prmt.b32.f4e"), b4e("prmt.b32.b4e"), rc8("prmt.b32.rc8"), ecl("prmt.b32.ecl"),
      ecr("prmt.b32.ecr"), rc16("prmt.b32.rc16");
  const uint32_t a = 0x83828180, b = 0x07060504;
  REQUIRE(generic(a, b, 0x7531) == 0x07058381u);
  REQUIRE(generic(a, b, 0x0000) == 0x80808080u);
  REQUIRE(generic(a, b, 0xc8c8) == 0x00ff00ffu);  // bit 3: the sign, eight times
  REQUIRE(f4e(a, b, 1) == 0x04838281u);
  REQUIRE(f4e(a, b, 3) == 0x06050483u);
  REQUIRE(b4e(a, b, 0) == 0x05060780u);
  REQUIRE(b4e(a, b, 3) == 0x80818283u);
  REQUIRE(rc8(a, b, 2) == 0x82828282u);
  REQUIRE(ecl(a, b, 1) == 0x83828181u);
  REQUIRE(ecr(a, b, 1) == 0x81818180u);
  REQUIRE(ecr(a, b, 6) == 0x82828180u);  // two bits of c count
  REQUIRE(rc16(a, b, 1) == 0x83828382u);
}

TEST_CASE("dp4a and dp2a") {
  const auto byte = [](uint64_t x, int i, bool is_signed) {
    return is_signed ? static_cast<int>(static_cast<int8_t>(x >> (8 * i))) : static_cast<int>(x >> (8 * i) & 0xff);
  };
  const auto half = [](uint64_t x, int i, bool is_signed) {
    return is_signed ? static_cast<int>(static_cast<int16_t>(x >> (16 * i)))
                     : static_cast<int>(x >> (16 * i) & 0xffff);
  };
  for (const bool sa : {false, true})
    for (const bool sb : {false, true}) {
      const std::string t = std::string(sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32");
      Form dp4a("dp4a" + t), lo("dp2a.lo" + t), hi("dp2a.hi" + t);
      for (const uint64_t a : edge_integers(32))
        for (const uint64_t b : edge_integers(32, 3)) {
          int64_t four = 1000, low = 1000, high = 1000;
          for (int i = 0; i < 4; ++i) four += byte(a, i, sa) * byte(b, i, sb);
          for (int i = 0; i < 2; ++i)
            low += int64_t{half(a, i, sa)} * byte(b, i, sb), high += int64_t{half(a, i, sa)} * byte(b, i + 2, sb);
          REQUIRE(dp4a(a, b, 1000) == static_cast<uint32_t>(four));
          REQUIRE(lo(a, b, 1000) == static_cast<uint32_t>(low));
          REQUIRE(hi(a, b, 1000) == static_cast<uint32_t>(high));
        }
    }
}

TEST_CASE("Logic of predicates, negated operands too") {
  ScalarMachine m(
      ".reg .pred %p<8>;\n"
      "and.pred %p2, %p0, %p1; or.pred %p3, %p0, !%p1; xor.pred %p4, !%p0, %p1; not.pred %p5, %p0; mov.pred %p6, "
      "!%p0; mov.pred %p7, 1;");
  for (int i = 0; i < 4; ++i) {
    const bool a = i & 1, b = i & 2;
    m.set("%p0", a), m.set("%p1", b);
    m.run();
    CHECK(m.get("%p2") == static_cast<uint64_t>(a && b));
    CHECK(m.get("%p3") == static_cast<uint64_t>(a || !b));
    CHECK(m.get("%p4") == static_cast<uint64_t>(!a != b));
    CHECK(m.get("%p5") == static_cast<uint64_t>(!a));
    CHECK(m.get("%p6") == static_cast<uint64_t>(!a));
    CHECK(m.get("%p7") == 1u);
  }
}
