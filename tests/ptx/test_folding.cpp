// SPDX-License-Identifier: Apache-2.0
/// Which instructions of PTX cost nothing because ptxas makes none of them.
#include "catch.h"
#include "ptx/program.h"

using namespace sm100::ptx;

namespace {

/// Costs of the statements, a letter each: f, a, d, and b of branches.
std::string costs(const std::string& body) {
  const Module module = parse(
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n"
      ".reg .pred %p<9>, %q<9>; .reg .b32 %r<99>; .reg .b64 %d<9>;\n" +
          body + "\n}\n",
      "x.ptx");
  const Program program = decode(module, module.entries[0]);
  std::string text;
  for (size_t i = 0; i + 1 < program.code.size(); ++i) text += "faaaddb"[static_cast<int>(program.code[i].cost)];
  return text;
}

}  // namespace

TEST_CASE("A predicate that is carried through a register costs nothing") {
  CHECK(costs("setp.lt.s32 %p1, %r1, %r2; selp.b32 %r3, 1, 0, %p1; setp.eq.s32 %p2, %r3, 0;") == "aff");
  CHECK(costs("selp.u32 %r3, 1, 0, %p1; setp.ne.u32 %p2, %r3, 0; setp.eq.u32 %p3, %r3, 0;") == "fff");
  // Somebody wants the number, compares it with another, or gets another one.
  CHECK(costs("selp.b32 %r3, 1, 0, %p1; setp.eq.s32 %p2, %r3, 0; add.s32 %r4, %r3, 1;") == "aaa");
  CHECK(costs("selp.b32 %r3, 1, 0, %p1; setp.eq.s32 %p2, %r3, 1;") == "aa");
  CHECK(costs("selp.b32 %r3, 2, 0, %p1; setp.eq.s32 %p2, %r3, 0;") == "aa");
  CHECK(costs("selp.b32 %r3, 1, 0, %p1; setp.lt.s32 %p2, %r3, 0;") == "aa");
  CHECK(costs("mov.u32 %r3, 5; selp.b32 %r3, 1, 0, %p1; setp.eq.s32 %p2, %r3, 0;") == "faa");
}

TEST_CASE("Constants are compared when a kernel is compiled") {
  CHECK(costs("mov.b32 %r1, 1; setp.ne.u32 %p1, %r1, 0;") == "ff");
  CHECK(costs("mov.b32 %r1, %r2; setp.ne.u32 %p1, %r1, 0;") == "fa");
}

TEST_CASE("The branch on an answer is part of what answers") {
  CHECK(costs("L: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2; selp.b32 %r3, 1, 0, %p1;\n"
              "setp.eq.s32 %p2, %r3, 0; @%p2 bra L; @%p3 bra L;") == "afffb");
  CHECK(costs("elect.sync _|%p1, -1; @!%p1 bra L; L: ret;") == "afa");
}

TEST_CASE("One instruction of two: shift and add, two logical operations") {
  CHECK(costs("shl.b32 %r1, %r2, 3; add.s32 %r3, %r1, %r4;") == "fa");
  CHECK(costs("shl.b32 %r1, %r2, 3; add.s32 %r3, %r1, %r4; add.s32 %r5, %r1, %r4;") == "aaa");
  CHECK(costs("shl.b32 %r1, %r2, %r6; add.s32 %r3, %r1, %r4;") == "aa");
  CHECK(costs("and.b32 %r1, %r2, 15; or.b32 %r3, %r1, %r4;") == "fa");
  // Three sources are all that one has.
  CHECK(costs("and.b32 %r1, %r2, 15; or.b32 %r3, %r1, %r4; xor.b32 %r5, %r3, %r6;") == "faa");
  CHECK(costs("and.b32 %r1, %r2, 15; and.b32 %r3, %r4, 15; or.b32 %r5, %r1, %r3;") == "faa");
  CHECK(costs("cvt.u64.u32 %d1, %r1; or.b64 %d2, %d1, 64;") == "fa");
}

TEST_CASE(
    "One instruction of two: bytes that are put together, products and their sums, comparisons of which both") {
  CHECK(costs("shl.b32 %r1, %r2, 8; or.b32 %r3, %r1, %r4;") == "fa");
  CHECK(costs("shl.b32 %r1, %r2, 5; or.b32 %r3, %r1, %r4;") == "aa");
  CHECK(costs("shl.b32 %r1, %r2, 8; shl.b32 %r4, %r5, 16; or.b32 %r3, %r1, %r4;") == "faa");
  CHECK(costs("mul.wide.s32 %d1, %r1, 4; add.s64 %d2, %d1, %d3;") == "fa");
  CHECK(costs("mul.wide.s32 %d1, %r1, 4; mul.wide.s32 %d2, %r2, 4; add.s64 %d3, %d1, %d2;") == "faa");
  CHECK(costs("setp.lt.s32 %p1, %r1, %r2; setp.lt.s32 %p2, %r3, %r4; and.pred %p3, %p1, %p2;") == "faa");
}

TEST_CASE("What two narrow numbers are packed into has zeros above them") {
  CHECK(costs("{ .reg .b16 %h1; cvt.rn.satfinite.e4m3x2.f32 %h1, %r1, %r2; cvt.u32.u16 %r3, %h1; }") == "af");
  CHECK(costs("{ .reg .b16 %h1; cvt.u16.u32 %h1, %r1; cvt.u32.u16 %r3, %h1; }") == "fa");
}
