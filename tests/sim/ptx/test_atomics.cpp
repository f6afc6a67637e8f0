// SPDX-License-Identifier: Apache-2.0
// atom and red: every operation and type in shared and in global memory, vectors, 16 and 128 bits.
#include "catch.h"
#include "kernels/isa/reduction.h"
#include "sim/ptx/functional_launch.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// One thread: `to` points to what memory held, then what `operation` returned, then what memory holds.
std::string one_atomic(const std::string& operation, bool shared) {
  return R"(
.entry k(.param .u64 at, .param .u64 value) {
	.shared .align 16 .b8 word[16];
	.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %h<9>;
	ld.param.u64 %rd1, [at];
	ld.param.u64 %rd2, [value]; cvt.u32.u64 %r2, %rd2; cvt.u16.u64 %h2, %rd2;
	ld.global.u64 %rd3, [%rd1];
	st.shared.u64 [word], %rd3;
	mov.u64 %rd4, )" +
         std::string(shared ? "word;\n\tcvta.shared.u64 %rd4, %rd4;" : "0;\n\tmov.u64 %rd4, %rd1;") + R"(
	mov.b64 %rd5, 0; mov.b32 %r5, 0; mov.b16 %h5, 0;
	)" +
         operation +
         R"(
	ld.u64 %rd6, [%rd4];
	st.global.u64 [%rd1+8], %rd5; 
	st.global.u64 [%rd1+16], %rd6;
	ret;
})";
}

struct Held {
  FunctionalEnd end;
  uint64_t returned, after;
};
Held perform(const std::string& operation, bool shared, uint64_t before, uint64_t value) {
  FunctionalProgram p(one_atomic(operation, shared));
  const uint64_t at = p.memory.allocate(24);
  p.memory.at<uint64_t>(at) = before;
  const FunctionalResult r = p.run({1, 1, 1}, {1, 1, 1}, Arguments() << at << value);
  INFO(r.text);
  CHECK(r.end == FunctionalEnd::finished);
  return {r.end, p.memory.at<uint64_t>(at, 1), p.memory.at<uint64_t>(at, 2)};
}

struct Case {
  const char* opcode;
  ReduceOp op;
  ReduceType in_global, in_shared;
};
constexpr Case kCases[] = {{"add.u32", ReduceOp::add, ReduceType::u32, ReduceType::u32},
                           {"add.u64", ReduceOp::add, ReduceType::u64, ReduceType::u64},
                           {"min.s32", ReduceOp::min, ReduceType::s32, ReduceType::s32},
                           {"max.u64", ReduceOp::max, ReduceType::u64, ReduceType::u64},
                           {"min.s64", ReduceOp::min, ReduceType::s64, ReduceType::s64},
                           {"inc.u32", ReduceOp::inc, ReduceType::u32, ReduceType::u32},
                           {"dec.u32", ReduceOp::dec, ReduceType::u32, ReduceType::u32},
                           {"and.b32", ReduceOp::bit_and, ReduceType::b32, ReduceType::b32},
                           {"or.b64", ReduceOp::bit_or, ReduceType::b64, ReduceType::b64},
                           {"xor.b32", ReduceOp::bit_xor, ReduceType::b32, ReduceType::b32},
                           {"exch.b64", ReduceOp::exch, ReduceType::b64, ReduceType::b64},
                           {"add.f32", ReduceOp::add, ReduceType::f32_ftz, ReduceType::f32},
                           {"add.f64", ReduceOp::add, ReduceType::f64, ReduceType::f64},
                           {"add.noftz.f16x2", ReduceOp::add, ReduceType::f16x2, ReduceType::f16x2},
                           {"add.noftz.bf16x2", ReduceOp::add, ReduceType::bf16x2, ReduceType::bf16x2}};

}  // namespace

TEST_CASE("atomics: every operation in shared and in global memory, by generic addresses") {
  constexpr uint64_t kBefore[] = {0x3f8000003f800000, 0x0000000000000003, 0x8000000080000001, 0x0000000100000000};
  constexpr uint64_t kValues[] = {0x4000000040000000, 0x0000000000000002, 0x7fffffff00000001, 0x0000000000400000};
  for (const Case& c : kCases)
    for (const bool shared : {false, true})
      for (const uint64_t before : kBefore)
        for (const uint64_t value : kValues) {
          const ReduceType type = shared ? c.in_shared : c.in_global;
          const bool wide = bytes_of(type) == 8;
          const std::string r = wide ? "%rd" : "%r";
          CAPTURE(c.opcode, shared, before, value);
          const Held held = perform("atom." + std::string(c.opcode) + " " + r + "5, [%rd4], " + r + "2;" +
                                        (wide ? "" : " cvt.u64.u32 %rd5, %r5;"),
                                    shared, before, value);
          const uint64_t mask = wide ? ~uint64_t{0} : 0xffffffff;
          CHECK(held.returned == (before & mask));
          CHECK(held.after == (reduce(c.op, type, before & mask, value & mask) | (before & ~mask)));
        }
}

TEST_CASE("atomics: add.f32 keeps subnormals in shared memory and flushes them in global memory") {
  const std::string add = "red.add.f32 [%rd4], %r2;";
  CHECK(perform(add, true, 1, 2).after == 3);
  CHECK(perform(add, false, 1, 2).after == 0);
}

TEST_CASE("atomics of 16 bits and compare-and-swap") {
  CHECK(perform("atom.cas.b16 %h5, [%rd4], 0x1234, %h2; cvt.u64.u16 %rd5, %h5;", true, 0x99991234, 0x5678).after ==
        0x99995678);
  CHECK(perform("atom.cas.b16 %h5, [%rd4], 0x1235, %h2; cvt.u64.u16 %rd5, %h5;", false, 0x99991234, 0x5678).after ==
        0x99991234);
  CHECK(perform("atom.add.noftz.f16 %h5, [%rd4], %h2; cvt.u64.u16 %rd5, %h5;", true, 0x77773c00, 0x3c00).after ==
        0x77774000);
  const Held held = perform("atom.cas.b64 %rd5, [%rd4], 7, %rd2;", true, 7, 0x100000000);
  CHECK(held.returned == 7);
  CHECK(held.after == 0x100000000);
}

TEST_CASE("atomics of vectors and of 128 bits") {
  FunctionalProgram p(R"(
.entry k(.param .u64 at) {
	.reg .b32 %r<5>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .b128 %q<4>;
	ld.param.u64 %rd1, [at];
	mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f40000000;
	atom.global.add.v2.f32 {%f3, %f4}, [%rd1], {%f1, %f2};
	red.global.add.v4.f32 [%rd1+16], {%f1, %f2, %f3, %f4};
	mov.b64 %rd2, 1; mov.b64 %rd3, 2; mov.b64 %rd4, 3;
	mov.b128 %q1, {%rd2, %rd3}; mov.b128 %q2, {%rd4, %rd4};
	atom.global.cas.b128 %q3, [%rd1+32], %q1, %q2;
	atom.global.cas.b128 %q3, [%rd1+32], %q1, %q1;  // memory holds something else
	atom.global.exch.b128 %q3, [%rd1+48], %q1;
	mov.b128 {%rd5, %rd6}, %q3;
	st.global.v2.u64 [%rd1+64], {%rd5, %rd6};
	ret;
})");
  const uint64_t at = p.memory.allocate(80);
  p.memory.at<float>(at, 0) = 10, p.memory.at<float>(at, 1) = 20;
  p.memory.at<uint64_t>(at, 4) = 1, p.memory.at<uint64_t>(at, 5) = 2;
  p.memory.at<uint64_t>(at, 6) = 8, p.memory.at<uint64_t>(at, 7) = 9;
  const FunctionalResult r = p.run({1, 1, 1}, {1, 1, 1}, Arguments() << at);
  INFO(r.text);
  REQUIRE(r.end == FunctionalEnd::finished);
  CHECK(p.memory.at<float>(at, 0) == 11);
  CHECK(p.memory.at<float>(at, 1) == 22);
  CHECK(p.memory.at<float>(at, 4) == 1);
  CHECK(p.memory.at<float>(at, 5) == 2);
  CHECK(p.memory.at<float>(at, 6) == 10);
  CHECK(p.memory.at<float>(at, 7) == 20);
  CHECK(p.memory.at<uint64_t>(at, 4) == 3);
  CHECK(p.memory.at<uint64_t>(at, 5) == 3);
  CHECK(p.memory.at<uint64_t>(at, 6) == 1);
  CHECK(p.memory.at<uint64_t>(at, 7) == 2);
  CHECK(p.memory.at<uint64_t>(at, 8) == 8);
  CHECK(p.memory.at<uint64_t>(at, 9) == 9);
}
