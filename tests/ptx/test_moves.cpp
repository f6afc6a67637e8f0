// SPDX-License-Identifier: Apache-2.0
/// mov with packing, addresses of the windows, immediates, lanes of a mask.

#include "catch.h"
#include "ptx/scalar_machine.h"

using namespace sm100::ptx;

TEST_CASE("mov packs and unpacks, low part first") {
  ScalarMachine m(
      ".reg .b8 %c<4>; .reg .b16 %h<8>; .reg .b32 %r<12>; .reg .b64 %d<8>; .reg .b128 %q<2>;\n"
      "mov.b64 %d0, {%r0, %r1}; mov.b64 {%r2, %r3}, %d0; mov.b32 {%h0, %h1}, %r0; mov.b32 %r4, {%h1, %h0};\n"
      "mov.b64 {%h2, %h3, %h4, %h5}, %d0; mov.b64 %d1, {%h5, %h4, %h3, %h2}; mov.b64 {_, %r5}, %d0; mov.b64 %d2, "
      "{%r0, 7};\n"
      "mov.b128 %q0, {%d0, %d1}; mov.b128 %q1, %q0; mov.b128 {%d3, %d4}, %q1; mov.b128 {%r6, %r7, %r8, %r9}, %q1;\n"
      "mov.b32 {%c0, %c1, %c2, %c3}, %r0; mov.b32 %r10, {%c3, %c2, %c1, %c0};");
  m.set("%r0", 0x11112222), m.set("%r1", 0x33334444);
  m.run();
  CHECK(m.get("%d0") == 0x3333444411112222u);
  CHECK(m.get("%r2") == 0x11112222u);
  CHECK(m.get("%r3") == 0x33334444u);
  CHECK(m.get("%h0") == 0x2222u);
  CHECK(m.get("%r4") == 0x22221111u);
  CHECK(m.get("%d1") == 0x2222111144443333u);
  CHECK(m.get("%r5") == 0x33334444u);
  CHECK(m.get("%d2") == 0x711112222u);
  CHECK(m.get_high("%q1", 31) == 0x2222111144443333u);
  CHECK(m.get("%d3") == m.get("%d0"));
  CHECK(m.get("%d4") == m.get("%d1"));
  CHECK(m.get("%r9") == 0x22221111u);
  CHECK(m.get("%r10") == 0x22221111u);
}

TEST_CASE("Immediates have the type of the instruction") {
  ScalarMachine m(
      ".reg .b16 %h<2>; .reg .b32 %r<8>; .reg .b64 %d<6>;\n"
      "mov.u16 %h0, -1; mov.b32 %r0, 0f3F800000; add.f32 %r1, %r0, 1.5; add.f32 %r2, %r0, 0f3F000000; mov.b64 %d0, "
      "0d3FF0000000000000;\n"
      "mov.f64 %d1, 2.5; mov.u32 %r3, 0xFFFFFFFF; mov.u64 %d2, -1; mov.s32 %r4, (2 + 3) * 4; mov.u32 %r5, 017; "
      "mov.u32 %r6, 0b101; mov.u64 %d3, 18446744073709551615U;");
  m.run();
  CHECK(m.get("%h0") == 0xffffu);
  CHECK(m.get("%r0") == 0x3f800000u);
  CHECK(m.get("%r1") == 0x40200000u);
  CHECK(m.get("%r2") == 0x3fc00000u);
  CHECK(m.get("%d0") == 0x3ff0000000000000u);
  CHECK(m.get("%d1") == 0x4004000000000000u);
  CHECK(m.get("%r3") == 0xffffffffu);
  CHECK(m.get("%d2") == ~uint64_t{0});
  CHECK(m.get("%r4") == 20u);
  CHECK(m.get("%r5") == 15u);
  CHECK(m.get("%r6") == 5u);
  CHECK(m.get("%d3") == ~uint64_t{0});
}

TEST_CASE("cvta and isspacep know the windows") {
  ScalarMachine m(
      ".reg .b64 %d<8>; .reg .pred %p<8>;\n"
      "cvta.shared.u64 %d1, %d0; cvta.to.shared.u64 %d2, %d1; cvta.param.u64 %d3, %d0; cvta.global.u64 %d4, %d0; "
      "cvta.to.local.u64 %d5, %d7;\n"
      "isspacep.shared %p0, %d6; isspacep.shared::cluster %p1, %d6; isspacep.global %p2, %d6; isspacep.local %p3, "
      "%d7; isspacep.global %p4, %d0;\n"
      "isspacep.param %p5, %d3; isspacep.const %p6, %d3;");
  m.set("%d0", 0x40), m.set("%d6", 0x1000100), m.set("%d7", 0x3000008);
  m.run();
  CHECK(m.get("%d1") == 0x1000040u);
  CHECK(m.get("%d2") == 0x40u);
  CHECK(m.get("%d3") == 0x4000040u);
  CHECK(m.get("%d4") == 0x40u);
  CHECK(m.get("%d5") == 8u);
  CHECK(m.get("%p0") == 0u);  // another CTA's
  CHECK(m.get("%p1") == 1u);
  CHECK(m.get("%p2") == 0u);
  CHECK(m.get("%p3") == 1u);
  CHECK(m.get("%p4") == 1u);
  CHECK(m.get("%p5") == 1u);
  CHECK(m.get("%p6") == 0u);
}

TEST_CASE("A guard selects lanes, and a negated one the others") {
  ScalarMachine m(
      ".reg .pred %p<2>; .reg .b32 %r<3>;\nsetp.lt.u32 %p0, %r0, 16;\n@%p0 mov.u32 %r1, 5;\n@!%p0 mov.u32 %r1, "
      "6;\n@!%p0 setp.eq.u32 %p1, %r0, 31;");
  for (int lane = 0; lane < kLanes; ++lane) m.set_lane("%r0", lane, static_cast<uint64_t>(lane));
  m.run(0x80018001);
  CHECK(m.get("%r1", 0) == 5u);
  CHECK(m.get("%r1", 1) == 0u);
  CHECK(m.get("%r1", 15) == 5u);
  CHECK(m.get("%r1", 16) == 6u);
  CHECK(m.get("%r1", 31) == 6u);
  CHECK(m.get("%p1", 31) == 1u);
  CHECK(m.get("%p1", 16) == 0u);
}
