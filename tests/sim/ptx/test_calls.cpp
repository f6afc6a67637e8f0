// SPDX-License-Identifier: Apache-2.0
// Calls of PTX: functions of the module, printf and assertions, variables that outlive a launch.
#include "catch.h"
#include "sim/ptx/device_calls.h"
#include "sim/ptx/functional_launch.h"
#include "sim/ptx/module_image.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

std::string text_of(const FunctionalResult& r) { return r.text; }

/// twice(x) = 2 x by memory, thrice(x) = twice(x) + x by registers; each in a loop so that labels are used.
const std::string kFunctions = R"(
.func (.param .b32 result) twice(.param .b32 x) {
	.reg .b32 %r<4>; .reg .pred %p;
	ld.param.u32 %r1, [x];
	mov.u32 %r2, 0;
	mov.u32 %r3, 0;
NEXT:
	add.u32 %r2, %r2, %r1;
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p, %r3, 2;
	@%p bra NEXT;
	st.param.u32 [result], %r2;
	ret;
}
.func (.reg .b32 %out) thrice(.reg .b32 %in) {
	.reg .b32 %r<2>; .reg .pred %p;
	setp.eq.u32 %p, %in, 4;
	mov.u32 %out, 1000;
	@%p ret;
	{
	.param .b32 a; .param .b32 b;
	st.param.b32 [a], %in;
	call.uni (b), twice, (a);
	ld.param.b32 %r1, [b];
	}
	add.u32 %out, %r1, %in;
	ret;
}
)";

}  // namespace

TEST_CASE("functions of the module: parameters in memory and in registers, nested, guarded, with early returns") {
  FunctionalProgram p(kFunctions + R"(
.entry k(.param .u64 to) {
	.reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .pred %p;
	ld.param.u64 %rd1, [to];
	mov.u32 %r1, %tid.x;
	call (%r2), thrice, (%r1);
	mov.u32 %r3, 0;
	setp.lt.u32 %p, %r1, 10;
	@%p call (%r3), thrice, (7);
	add.u32 %r2, %r2, %r3;
	mad.wide.u32 %rd2, %r1, 4, %rd1;
	st.global.u32 [%rd2], %r2;
	ret;
})");
  const uint64_t to = p.memory.allocate(4 * 64);
  const FunctionalResult r = p.run({1, 1, 1}, {64, 1, 1}, Arguments() << to);
  INFO(text_of(r));
  REQUIRE(r.end == FunctionalEnd::finished);
  for (uint32_t i = 0; i < 64; ++i)
    CHECK(p.memory.at<uint32_t>(to, i) == (i == 4 ? 1000 : 3 * i) + (i < 10 ? 21 : 0));
}

TEST_CASE(
    "recursion, calls through registers and functions without a body are refused by name where they are executed") {
  const auto refused = [](const std::string& text) {
    FunctionalProgram p(text);
    const FunctionalResult r = p.run({1, 1, 1}, {32, 1, 1}, {});
    CHECK(r.end == FunctionalEnd::not_implemented);
    return r.text;
  };
  CHECK(refused(".func down();\n.func down() {\n\tcall down;\n\tret;\n}\n.entry k() {\n\tcall down;\n\tret;\n}")
            .find("recursion: 'down' calls itself") != std::string::npos);
  CHECK(refused(".entry k() {\n\t.reg .b64 %f;\n\tP: .callprototype ()_ ();\n\tcall %f, P;\n\tret;\n}")
            .find("a call through a register") != std::string::npos);
  CHECK(refused(
            ".extern .func (.param .b64 p) malloc(.param .b64 n);\n.entry k() {\n\t.param .b64 n; .param .b64 p;\n"
            "\tcall (p), malloc, (n);\n\tret;\n}")
            .find("a call of malloc, which the module has no body of") != std::string::npos);
}

TEST_CASE("what printf makes of its arguments") {
  std::vector<uint8_t> bytes;
  const auto add = [&](const auto& value) {
    const size_t at = (bytes.size() + sizeof value - 1) / sizeof value * sizeof value;
    bytes.resize(at + sizeof value);
    std::memcpy(bytes.data() + at, &value, sizeof value);
  };
  const std::string word = "text";
  const auto printed = [&](const std::string& format) {
    const ReadGeneric read = [&](uint64_t address, uint32_t n) -> const uint8_t* {
      if (address >= 0x1000 && address + n <= 0x1000 + format.size() + 1)
        return reinterpret_cast<const uint8_t*>(format.c_str()) + (address - 0x1000);
      if (address >= 0x2000 && address + n <= 0x2000 + bytes.size()) return bytes.data() + (address - 0x2000);
      if (address >= 0x3000 && address + n <= 0x3000 + word.size() + 1)
        return reinterpret_cast<const uint8_t*>(word.c_str()) + (address - 0x3000);
      return nullptr;
    };
    const auto p = format_printf(read, 0x1000, 0x2000);
    return p ? p->text + " [" + std::to_string(p->arguments) + "]" : "unreadable";
  };
  add(int32_t{-5}), add(int64_t{-6}), add(1.5), add(uint32_t{255}), add(uint64_t{0x3000}), add(int32_t{'c'});
  CHECK(printed("%d %lld %f %x %s %c%%\n") == "-5 -6 1.500000 ff text c%\n [6]");
  CHECK(printed("%4d|%-4ld|%.2e|%#06X|%6s|%c") == "  -5|-6  |1.50e+00|0X00FF|  text|c [6]");
  CHECK(printed("%u %lu %g %o %p") == "4294967291 18446744073709551610 1.5 377 0x3000 [5]");
  CHECK(printed("no arguments") == "no arguments [0]");
  CHECK(printed("%f %f %f %f %f %f %f") == "unreadable");
  bytes.clear();
  add(int32_t{7}), add(int32_t{3}), add(uint64_t{0});
  CHECK(printed("%*d %s") == "      3 (null) [3]");
}

namespace {

const std::string kPrintf = R"(
.extern .func (.param .b32 func_retval0) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 $str[15] = {67, 84, 65, 32, 37, 117, 32, 108, 97, 110, 101, 32, 37, 117, 10};
.entry k(.param .u64 to) {
	.local .align 8 .b8 depot[8];
	.reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .pred %p;
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;
	setp.ne.u32 %p, %r1, 0;
	@%p bra PRINT;
	mov.u32 %r4, 100000;  // the first CTA prints late
LATE:
	sub.u32 %r4, %r4, 1;
	setp.ne.u32 %p, %r4, 0;
	@%p bra LATE;
PRINT:
	setp.ge.u32 %p, %r2, 2;
	@%p ret;
	st.local.v2.u32 [depot], {%r1, %r2};
	mov.u64 %rd1, depot;
	cvta.local.u64 %rd1, %rd1;
	mov.u64 %rd2, $str;
	cvta.global.u64 %rd2, %rd2;
	{
	.param .b64 param0; .param .b64 param1; .param .b32 retval0;
	st.param.b64 [param0], %rd2;
	st.param.b64 [param1], %rd1;
	call.uni (retval0), vprintf, (param0, param1);
	ld.param.b32 %r3, [retval0];
	}
	ld.param.u64 %rd3, [to];
	st.global.u32 [%rd3], %r3;
	ret;
})";

}  // namespace

TEST_CASE("what kernels print comes in the order of CTAs, and vprintf returns the number of arguments") {
  std::string text = kPrintf;
  text.replace(text.find("$str[15]"), 8, "$str[16]");  // with the zero at its end
  for (const int threads : {1, 4}) {
    FunctionalProgram p(text);
    const uint64_t to = p.memory.allocate(4);
    const FunctionalResult r = p.run({40, 1, 1}, {64, 1, 1}, Arguments() << to, {1, 1, 1}, threads);
    INFO(text_of(r));
    REQUIRE(r.end == FunctionalEnd::finished);
    std::string expected;
    for (int cta = 0; cta < 40; ++cta)
      for (int lane = 0; lane < 2; ++lane)
        expected += "CTA " + std::to_string(cta) + " lane " + std::to_string(lane) + "\n";
    CHECK(p.printed == expected);
    CHECK(p.memory.at<uint32_t>(to) == 2);
  }
}

TEST_CASE("a failed assertion ends the launch with its expression, file and line") {
  FunctionalProgram p(R"(
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);
.global .align 1 .b8 message[6] = {110, 32, 62, 32, 48, 0};
.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
.global .align 1 .b8 name[2] = {107, 0};
.entry k() {
	.reg .b64 %rd<4>; .reg .b32 %r; .reg .pred %p;
	mov.u32 %r, %tid.x;
	setp.ne.u32 %p, %r, 9;
	@%p bra END;
	mov.u64 %rd1, message; mov.u64 %rd2, file; mov.u64 %rd3, name;
	{
	.param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
	st.param.b64 [a], %rd1; st.param.b64 [b], %rd2; st.param.b32 [c], 12; st.param.b64 [d], %rd3; st.param.b64 [e], 1;
	call.uni __assertfail, (a, b, c, d, e);
	}
END:
	ret;
})");
  const FunctionalResult r = p.run({1, 1, 1}, {32, 1, 1}, {});
  CHECK(r.end == FunctionalEnd::assertion);
  CHECK(r.check == "TR2");
  CHECK(r.lane == 9);
  INFO(text_of(r));
  CHECK(r.text.find("assertion 'n > 0' failed: a.cu:12, k") != std::string::npos);
}

namespace {

const std::string kVariables = R"(
.global .align 4 .u32 count = 5;
.global .align 4 .b8 zeros[8];
.const .align 4 .u32 step[2] = {10, 20};
.global .align 8 .u64 table[2] = {count, generic(zeros)+4};
.entry k(.param .u64 to) {
	.reg .b32 %r<6>; .reg .b64 %rd<6>;
	ld.global.u32 %r1, [count];
	ld.const.u32 %r2, [step+4];
	add.u32 %r1, %r1, %r2;
	st.global.u32 [count], %r1;
	mov.u64 %rd1, step;
	cvta.const.u64 %rd1, %rd1;
	ld.u32 %r3, [%rd1];
	ld.global.v2.u64 {%rd2, %rd3}, [table];
	st.u32 [%rd3], %r3;
	ld.global.u32 %r4, [zeros+4];
	ld.u32 %r5, [%rd2];
	add.u32 %r4, %r4, %r5;
	ld.param.u64 %rd4, [to];
	st.global.u32 [%rd4], %r4;
	ret;
})";

}  // namespace

TEST_CASE(
    "variables of the module start as they are initialised, addresses in them too, and last as long as their "
    "memory") {
  FunctionalProgram p(kVariables);
  const uint64_t to = p.memory.allocate(4);
  for (int launch = 0; launch < 2; ++launch) {  // each with variables of its own
    const FunctionalResult r = p.run({1, 1, 1}, {1, 1, 1}, Arguments() << to);
    INFO(text_of(r));
    REQUIRE(r.end == FunctionalEnd::finished);
    CHECK(p.memory.at<uint32_t>(to) == 25 + 10);
  }
  const uint64_t base = p.memory.allocate(256);
  const VariableLayout layout = lay_out_variables(p.module, base);
  const auto all = variables_with_address(p.module);
  REQUIRE(all.size() == 4);
  REQUIRE(layout.bytes <= 256);
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<uint8_t> bytes = initial_bytes(p.module, *all[i], layout.addresses);
    std::memcpy(&p.memory.at<uint8_t>(layout.addresses[i]), bytes.data(), bytes.size());
  }
  p.variables = layout.addresses;
  for (uint32_t launch = 1; launch <= 3; ++launch) {
    const FunctionalResult r = p.run({1, 1, 1}, {1, 1, 1}, Arguments() << to);
    INFO(text_of(r));
    REQUIRE(r.end == FunctionalEnd::finished);
    CHECK(p.memory.at<uint32_t>(to) == 5 + 20 * launch + 10);
    CHECK(p.memory.at<uint32_t>(layout.addresses[0]) == 5 + 20 * launch);
  }
}
