// SPDX-License-Identifier: Apache-2.0
/// setp, set, selp and slct.

#include <cmath>
#include <functional>

#include "catch.h"
#include "kernels/isa/number_formats.h"
#include "ptx/edge_values.h"
#include "ptx/scalar_machine.h"

using namespace sm100;
using namespace sm100::ptx;

namespace {

template <class T>
bool holds(const std::string& op, T a, T b) {
  const bool unordered = a != a || b != b;
  if (op == "num") return !unordered;
  if (op == "nan") return unordered;
  if (op == "eq") return a == b;
  if (op == "ne") return !unordered && a != b;
  if (op == "lt" || op == "lo") return a < b;
  if (op == "le" || op == "ls") return a <= b;
  if (op == "gt" || op == "hi") return a > b;
  if (op == "ge" || op == "hs") return a >= b;
  return unordered || holds(op.substr(0, op.size() - 1), a, b);  // equ, neu, ltu…
}

const std::vector<std::string> kSigned = {"eq", "ne", "lt", "le", "gt", "ge"};
const std::vector<std::string> kUnsigned = {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"};
const std::vector<std::string> kFloat = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                         "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

template <class Values, class Decode>
void check(const std::string& type, const std::vector<std::string>& ops, const Values& values, Decode decode) {
  for (const std::string& op : ops) {
    Form setp("setp." + op + "." + type);
    for (const auto a : values)
      for (const auto b : values) {
        const bool want = holds(op, decode(a), decode(b));
        if (setp(a, b) != want || setp.second() == want)
          FAIL("setp." << op << "." << type << " of " << std::hex << a << ", " << b);
      }
  }
}

}  // namespace

TEST_CASE("Every comparison of every type, with its opposite") {
  check("b16", {"eq", "ne"}, edge_integers(16), [](uint64_t x) { return static_cast<uint16_t>(x); });
  check("u16", kUnsigned, edge_integers(16), [](uint64_t x) { return static_cast<uint16_t>(x); });
  check("s16", kSigned, edge_integers(16), [](uint64_t x) { return static_cast<int16_t>(x); });
  check("u32", kUnsigned, edge_integers(32), [](uint64_t x) { return static_cast<uint32_t>(x); });
  check("s32", kSigned, edge_integers(32), [](uint64_t x) { return static_cast<int32_t>(x); });
  check("u64", kUnsigned, edge_integers(64), [](uint64_t x) { return x; });
  check("s64", kSigned, edge_integers(64), [](uint64_t x) { return static_cast<int64_t>(x); });
  check("f32", kFloat, edge_floats(4), [](uint32_t x) { return std::bit_cast<float>(x); });
  check("ftz.f32", kFloat, edge_floats(4), [](uint32_t x) {
    const float f = std::bit_cast<float>(x);
    return std::fpclassify(f) == FP_SUBNORMAL ? 0.0f : f;
  });
  check("f64", kFloat, edge_doubles(4), [](uint64_t x) { return std::bit_cast<double>(x); });
  check("f16", kFloat, edge_halves(4), [](uint16_t x) { return decode_f16(x); });
  check("bf16", kFloat, edge_halves(4), [](uint16_t x) { return decode_bf16(x); });
}

TEST_CASE("A comparison is combined with a predicate, and so is its opposite") {
  ScalarMachine m(
      ".reg .pred %p<12>; .reg .b32 %r<2>;\n"
      "setp.lt.and.s32 %p1|%p2, %r0, %r1, %p0; setp.lt.or.s32 %p3|%p4, %r0, %r1, !%p0; setp.lt.xor.s32 %p5|%p6, "
      "%r0, %r1, %p0;\n"
      "setp.lt.and.f16x2 %p7|%p8, %r0, %r1, %p0;");
  for (const bool p : {false, true})
    for (const bool less : {false, true}) {
      m.set("%p0", p), m.set("%r0", less ? 0xffffffff : 5), m.set("%r1", 3);
      m.run();
      CHECK(m.get("%p1") == static_cast<uint64_t>(less && p));
      CHECK(m.get("%p2") == static_cast<uint64_t>(!less && p));
      CHECK(m.get("%p3") == static_cast<uint64_t>(less || !p));
      CHECK(m.get("%p4") == static_cast<uint64_t>(!less || !p));
      CHECK(m.get("%p5") == static_cast<uint64_t>(less != p));
      CHECK(m.get("%p6") == static_cast<uint64_t>(!less != p));
    }
  m.set("%p0", 1), m.set("%r0", 0x3c000000), m.set("%r1", 0x00003c00);  // high 1 < 0, low 0 < 1
  m.run();
  CHECK(m.get("%p7") == 1u);
  CHECK(m.get("%p8") == 0u);
}

TEST_CASE("set writes all ones or 1.0") {
  CHECK(Form("set.lt.u32.s32")(0xffffffff, 0) == 0xffffffffu);
  CHECK(Form("set.lt.u32.u32")(0xffffffff, 0) == 0u);
  CHECK(Form("set.eq.f32.f64")(0, uint64_t{1} << 63) == 0x3f800000u);
  CHECK(Form("set.gtu.s32.f32")(0x7fc00000, 0) == 0xffffffffu);
  CHECK(Form("set.ge.f16.f32")(0x3f800000, 0) == 0x3c00u);
  CHECK(Form("set.ge.u16.f16")(0x3c00, 0) == 0xffffu);
  CHECK(Form("set.ge.bf16x2.bf16x2")(0x3f80bf80, 0) == 0x3f800000u);
  CHECK(Form("set.ge.u32.f16x2")(0x3c00bc00, 0) == 0xffff0000u);
  CHECK(Form("set.eq.and.u32.s32")(1, 1, 0) == 0u);
  CHECK(Form("set.eq.xor.u32.s32")(1, 2, 1) == 0xffffffffu);
}

TEST_CASE("selp and slct") {
  CHECK(Form("selp.b64")(7, 9, 1) == 7u);
  CHECK(Form("selp.s16")(7, 9, 0) == 9u);
  CHECK(Form("slct.u32.s32")(7, 9, 0) == 7u);
  CHECK(Form("slct.u32.s32")(7, 9, 0x80000000) == 9u);
  CHECK(Form("slct.f64.f32")(7, 9, 0x80000000) == 7u);  // -0 is not negative
  CHECK(Form("slct.b32.f32")(7, 9, 0x7fc00000) == 9u);
  CHECK(Form("slct.b32.f32")(7, 9, 0x80000001) == 9u);
  CHECK(Form("slct.ftz.b32.f32")(7, 9, 0x80000001) == 7u);
}
