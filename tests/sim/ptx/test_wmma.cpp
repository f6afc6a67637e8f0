// SPDX-License-Identifier: Apache-2.0
// wmma.load, wmma.mma, wmma.store in PTX: on the models and without them, from global, shared and generic
// addresses.
#include <fmt/format.h>

#include <vector>

#include "catch.h"
#include "functional_launch.h"
#include "kernels/isa/number_formats.h"
#include "run_ptx.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// @param body  of one warp: %r1 is its lane; %rd1 and %r2 the address of 4 KB of shared memory, generic and not
std::string entry(const std::string& body, int threads = 32, const std::string& parameters = "") {
  return fmt::format(R"(.visible .entry multiplies({})
.reqntid {}
{{
	.reg .pred %p<8>;
	.reg .b16 %h<8>;
	.reg .b32 %r<40>, %a<8>, %b<8>, %c<8>, %d<8>;
	.reg .f64 %f<8>;
	.reg .b64 %rd<8>;
	.shared .align 128 .b8 memory[4096];
	mov.u32 %r1, %laneid;
	mov.u32 %r2, memory;
	cvt.u64.u32 %rd1, %r2;
	cvta.shared.u64 %rd1, %rd1;
{}
	ret;
}}
)",
                     parameters, threads, body);
}
std::string kernel(const std::string& body, int threads = 32) {
  return ".version 8.7\n.target sm_100a\n.address_size 64\n" + entry(body, threads);
}

/// Rows 0 to 15 of 16 numbers of f16 at `memory`: element (i, j) is 16 i + j.  A times the unit matrix plus itself
/// comes to 1024 as f32.
/// @param space  ".shared" or "": generic
std::string twice(const std::string& space, const std::string& a_order) {
  const std::string p = space.empty() ? "%rd1" : "%r2";
  const std::string in_row = a_order == "row" ? "row" : "col";
  return fmt::format(R"(	mov.u32 %r3, %r1;
fill:
	cvt.rn.f16.u32 %h1, %r3;
	mad.lo.u32 %r4, %r3, 2, %r2;
	st.shared.b16 [%r4], %h1;
	shr.u32 %r5, %r3, 4;
	and.b32 %r6, %r3, 15;
	setp.eq.u32 %p1, %r5, %r6;
	selp.b16 %h2, 0x3c00, 0, %p1;
	st.shared.b16 [%r4 + 512], %h2;
	cvt.rn.f32.u32 %r7, %r3;
	mad.lo.u32 %r4, %r3, 4, %r2;
	st.shared.b32 [%r4 + 1024], %r7;
	add.u32 %r3, %r3, 32;
	setp.lt.u32 %p1, %r3, 256;
	@%p1 bra fill;
	bar.warp.sync 0xffffffff;
	wmma.load.a.sync.aligned.{1}.m16n16k16{0}.f16 {{%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}}, [{2}];
	wmma.load.b.sync.aligned.col.m16n16k16{0}.f16 {{%b0,%b1,%b2,%b3,%b4,%b5,%b6,%b7}}, [{2} + 512], 16;
	wmma.load.c.sync.aligned.{1}.m16n16k16{0}.f32 {{%c0,%c1,%c2,%c3,%c4,%c5,%c6,%c7}}, [{2} + 1024];
	wmma.mma.sync.aligned.{1}.col.m16n16k16.f32.f32 {{%d0,%d1,%d2,%d3,%d4,%d5,%d6,%d7}}, {{%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}}, {{%b0,%b1,%b2,%b3,%b4,%b5,%b6,%b7}}, {{%c0,%c1,%c2,%c3,%c4,%c5,%c6,%c7}};
	wmma.store.d.sync.aligned.{1}.m16n16k16{0}.f32 [{2} + 2048], {{%d0,%d1,%d2,%d3,%d4,%d5,%d6,%d7}};
	bar.warp.sync 0xffffffff;
	mov.u32 %r3, %r1;
look:
	mad.lo.u32 %r4, %r3, 4, %r2;
	ld.shared.b32 %r7, [%r4 + 2048];
	shl.b32 %r8, %r3, 1;
	cvt.rn.f32.u32 %r8, %r8;
	setp.ne.b32 %p1, %r7, %r8;
	@%p1 trap;
	add.u32 %r3, %r3, 32;
	setp.lt.u32 %p1, %r3, 256;
	@%p1 bra look;
)",
                     space, in_row, p);
}

std::string list(const char* name, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i > 0 ? "," : "", name, i);
  return "{" + text + "}";
}

// ---- any form, from global memory, without models: numbers of bytes

struct Form {
  const char *shape, *ab, *cd;  ///< as wmma.load names the types
  int m, n, k, a_registers, b_registers, d_registers;
  int ab_bits, cd_bits;
  const char* mma;  ///< behind the orders
};
constexpr Form kForms[] = {
    {"m16n16k16", "f16", "f16", 16, 16, 16, 8, 8, 4, 16, 16, "m16n16k16.f16.f16"},
    {"m8n32k16", "f16", "f32", 8, 32, 16, 8, 8, 8, 16, 32, "m8n32k16.f32.f32"},
    {"m8n32k16", "f16", "f16", 8, 32, 16, 8, 8, 4, 16, 16, "m8n32k16.f16.f16"},
    {"m32n8k16", "f16", "f16", 32, 8, 16, 8, 8, 4, 16, 16, "m32n8k16.f16.f16"},
    {"m16n16k16", "bf16", "f32", 16, 16, 16, 4, 4, 8, 16, 32, "m16n16k16.f32.bf16.bf16.f32"},
    {"m8n32k16", "bf16", "f32", 8, 32, 16, 2, 8, 8, 16, 32, "m8n32k16.f32.bf16.bf16.f32"},
    {"m32n8k16", "bf16", "f32", 32, 8, 16, 8, 2, 8, 16, 32, "m32n8k16.f32.bf16.bf16.f32"},
    {"m16n16k8", "tf32", "f32", 16, 16, 8, 4, 4, 8, 32, 32, "m16n16k8.f32.tf32.tf32.f32"},
    {"m16n16k16", "s8", "s32", 16, 16, 16, 2, 2, 8, 8, 32, "m16n16k16.s32.s8.s8.s32"},
    {"m8n32k16", "u8", "s32", 8, 32, 16, 1, 4, 8, 8, 32, "m8n32k16.s32.u8.u8.s32"},
    {"m32n8k16", "s8", "s32", 32, 8, 16, 4, 1, 8, 8, 32, "m32n8k16.s32.s8.s8.s32"},
    {"m8n8k32", "s4", "s32", 8, 8, 32, 1, 1, 2, 4, 32, "m8n8k32.s32.s4.s4.s32"},
    {"m8n8k4", "f64", "f64", 8, 8, 4, 1, 1, 2, 64, 64, "m8n8k4.f64.f64.f64.f64"},
};

uint64_t bits_of(std::string_view type, int value) {
  if (type == "f16") return cvt_rn_f16_f32(float(value));
  if (type == "bf16") return std::bit_cast<uint32_t>(float(value)) >> 16;
  if (type == "tf32" || type == "f32") return std::bit_cast<uint32_t>(float(value));
  if (type == "f64") return std::bit_cast<uint64_t>(double(value));
  return uint32_t(value);
}

/// A matrix in memory, with gaps between its lines.
struct InMemory {
  int rows, columns, bits, stride;
  bool row_major;
  size_t bit(int row, int column) const {
    return size_t(row_major ? row * stride + column : column * stride + row) * size_t(bits);
  }
  size_t bytes() const { return size_t((row_major ? rows : columns) * stride * bits / 8); }
};
InMemory matrix(int rows, int columns, int bits, bool row_major) {
  return {rows, columns, bits, (row_major ? columns : rows) + std::max(16, 128 / bits), row_major};
}
void put(uint8_t* to, size_t bit, int bits, uint64_t value) {
  if (bits < 8)
    to[bit / 8] = uint8_t((to[bit / 8] & ~(15 << bit % 8)) | (value & 15) << bit % 8);
  else
    std::memcpy(to + bit / 8, &value, size_t(bits / 8));
}

void multiply(const Form& f, bool a_row, bool b_row, bool c_row, bool d_row) {
  FunctionalProgram program([&] {
    const auto order = [](bool row) { return row ? "row" : "col"; };
    const std::string wide = f.ab_bits == 64 ? "%f" : "";
    const auto registers = [&](const char* name, int first, int count) {
      if (wide.empty()) return list(name, count);
      std::string text;
      for (int i = 0; i < count; ++i) text += fmt::format("{}%f{}", i > 0 ? "," : "", first + i);
      return "{" + text + "}";
    };
    const std::string a = registers("a", 0, f.a_registers), b = registers("b", 1, f.b_registers),
                      c = registers("c", 2, f.d_registers), d = registers("d", 4, f.d_registers);
    const InMemory ma = matrix(f.m, f.k, f.ab_bits, a_row), mb = matrix(f.k, f.n, f.ab_bits, b_row),
                   mc = matrix(f.m, f.n, f.cd_bits, c_row), md = matrix(f.m, f.n, f.cd_bits, d_row);
    std::string body;
    for (int i = 0; i < 4; ++i) body += fmt::format("\tld.param.u64 %rd{}, [p{}];\n", i + 2, i);
    body += fmt::format("\twmma.load.a.sync.aligned.{}.{}.global.{} {}, [%rd2], {};\n", order(a_row), f.shape, f.ab,
                        a, ma.stride);
    body += fmt::format("\twmma.load.b.sync.aligned.{}.{}.global.{} {}, [%rd3], {};\n", order(b_row), f.shape, f.ab,
                        b, mb.stride);
    body += fmt::format("\twmma.load.c.sync.aligned.{}.{}.{} {}, [%rd4], {};\n", order(c_row), f.shape, f.cd, c,
                        mc.stride);
    body += fmt::format("\twmma.mma.sync.aligned.{}.{}.{} {}, {}, {}, {};\n", order(a_row), order(b_row), f.mma, d,
                        a, b, c);
    body += fmt::format("\tmov.u32 %r3, {};\n\twmma.store.d.sync.aligned.{}.{}.global.{} [%rd5], {}, %r3;\n",
                        md.stride, order(d_row), f.shape, f.cd, d);
    return entry(body, 32, ".param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3");
  }());
  const auto fill = [&](const InMemory& in, std::string_view type, auto&& value) {
    const uint64_t at = program.memory.allocate(in.bytes());
    for (int i = 0; i < in.rows; ++i)
      for (int j = 0; j < in.columns; ++j)
        put(&program.memory.at<uint8_t>(at), in.bit(i, j), in.bits, bits_of(type, value(i, j)));
    return at;
  };
  const auto a = [](int i, int k) { return (5 * i + 3 * k + i * k) % 8; };
  const auto b = [](int k, int j) { return (k + 7 * j + 2 * k * j) % 8; };
  const auto old = [](int i, int j) { return i - 2 * j; };
  const InMemory md = matrix(f.m, f.n, f.cd_bits, d_row);
  Arguments arguments;
  arguments << fill(matrix(f.m, f.k, f.ab_bits, a_row), f.ab, a)
            << fill(matrix(f.k, f.n, f.ab_bits, b_row), f.ab, b)
            << fill(matrix(f.m, f.n, f.cd_bits, c_row), f.cd, old);
  const uint64_t to = program.memory.allocate(md.bytes());
  arguments << to;
  const FunctionalResult ran = program.run({1, 1, 1}, {32, 1, 1}, arguments);
  INFO(ran.text);
  REQUIRE(ran.end == FunctionalEnd::finished);
  for (int i = 0; i < f.m; ++i)
    for (int j = 0; j < f.n; ++j) {
      int sum = old(i, j);
      for (int k = 0; k < f.k; ++k) sum += a(i, k) * b(k, j);
      uint64_t found = 0;
      std::memcpy(&found, &program.memory.at<uint8_t>(to) + md.bit(i, j) / 8, size_t(f.cd_bits / 8));
      INFO("row " << i << ", column " << j);
      REQUIRE(found == bits_of(f.cd, sum));
    }
}

}  // namespace

TEST_CASE("wmma in PTX: A times the unit matrix, and A added, by shared and generic addresses") {
  const std::string space = GENERATE(as<std::string>(), ".shared", "");
  const std::string order = GENERATE(as<std::string>(), "row", "col");
  INFO(space << ' ' << order);
  const RunResult ran = run_ptx(kernel(twice(space, order)));
  INFO(ran.report);
  CHECK(ran.outcome == Outcome::pass);
  CHECK(ran.findings.empty());
  FunctionalProgram program(entry(twice(space, order)));
  CHECK(program.run({1, 1, 1}, {32, 1, 1}, {}).end == FunctionalEnd::finished);
}

TEST_CASE("wmma without models: products of small whole numbers, every form and order") {
  const Form form = GENERATE(from_range(std::begin(kForms), std::end(kForms)));
  INFO(form.mma << ' ' << form.ab);
  const bool packed = form.ab_bits < 8;  // one order
  for (const bool a_row : {true, packed})
    for (const bool b_row : {false, !packed})
      for (const bool c_row : {true, false}) multiply(form, a_row, b_row, c_row, !c_row);
}

// Each word of a tensor is 1: of s4 every eighth element.
TEST_CASE("wmma in PTX: from global memory and back") {
  const std::string body = R"(	ld.param.u64 %rd2, [p];
	cvta.to.global.u64 %rd3, %rd2;
	wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%a0}, [%rd3];
	wmma.load.b.sync.aligned.col.m8n8k32.s4 {%b0}, [%rd2];
	mov.u32 %c0, 3;
	wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%d0,%d1}, {%a0}, {%b0}, {%c0,%c0};
	wmma.store.d.sync.aligned.row.m8n8k32.global.s32 [%rd3 + 32], {%d0,%d1}, 0;
	bar.warp.sync 0xffffffff;
	mad.wide.u32 %rd3, %r1, 4, %rd3;
	ld.global.u32 %r3, [%rd3];
	sub.u32 %r4, %r1, 8;
	setp.lt.u32 %p1, %r4, 8;
	selp.u32 %r5, 7, 1, %p1;
	setp.ne.u32 %p1, %r3, %r5;
	@%p1 trap;
)";
  const std::string text = ".version 8.7\n.target sm_100a\n.address_size 64\n" + entry(body, 32, ".param .u64 p");
  const RunResult ran = run_ptx(text, 1, {"ones"});
  INFO(ran.report);
  CHECK(ran.outcome == Outcome::pass);
  CHECK(ran.findings.empty());
}

TEST_CASE("wmma in PTX: what is not as it must be is said") {
  const auto [body, threads, id] = GENERATE(table<std::string, int, std::string>({
      {"\twmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {%a0,%a1,%a2,%a3}, [%r2 + 8];\n", 32, "SM2"},
      {"\twmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {%a0,%a1,%a2,%a3}, [%r2], 20;\n", 32, "SM2"},
      {"\twmma.load.c.sync.aligned.row.m8n8k4.f64 {%f0,%f1}, [%rd1], 9;\n", 32, "SM2"},
      {"\tmov.u32 %a0, 0;\n\twmma.store.d.sync.aligned.col.m16n16k16.shared.s32 [%r2 + 3584], "
       "{%a0,%a0,%a0,%a0,%a0,%a0,%a0,%a0};\n",
       32, "SM1"},
      {"\twmma.load.b.sync.aligned.col.m16n16k16.shared.s8 {%a0,%a1}, [%r2 + 4000];\n", 32, "SM1"},
      {"\tmov.u64 %rd2, 64;\n\twmma.load.b.sync.aligned.col.m16n16k16.global.s8 {%a0,%a1}, [%rd2];\n", 32, "GM1"},
      {"\tsetp.lt.u32 %p1, %r1, 16;\n\t@%p1 wmma.load.a.sync.aligned.row.m8n8k4.shared.f64 {%f0}, [%r2];\n", 32,
       "TC2"},
      {"\tmov.u32 %a0, 0;\n\tsetp.lt.u32 %p1, %r1, 16;\n\t@%p1 wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 "
       "{%d0,%d1}, {%a0}, {%a0}, {%a0,%a0};\n",
       32, "TC2"},
  }));
  const RunResult ran = run_ptx(kernel(body, threads));
  INFO(body << ran.report);
  REQUIRE(ran.findings.size() == 1);
  CHECK(ran.findings.front().id == id);
}

TEST_CASE("wmma without models: what is not as it must be ends the launch") {
  const auto ends = [](const std::string& body) {
    FunctionalProgram program(entry(body));
    return program.run({1, 1, 1}, {32, 1, 1}, {}).end;
  };
  CHECK(ends("\twmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {%a0,%a1,%a2,%a3}, [%r2 + 8];\n") ==
        FunctionalEnd::misaligned);
  CHECK(ends("\twmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {%a0,%a1,%a2,%a3}, [%r2], 20;\n") ==
        FunctionalEnd::misaligned);
  CHECK(ends("\twmma.load.b.sync.aligned.col.m16n16k16.shared.s8 {%a0,%a1}, [%r2 + 4000];\n") ==
        FunctionalEnd::out_of_bounds);
}

TEST_CASE("wmma in PTX: a race with another warp's store is found") {
  const RunResult ran = run_ptx(kernel(R"(	mov.u32 %r3, %tid.x;
	setp.lt.u32 %p1, %r3, 32;
	@%p1 bra loads;
	st.shared.b32 [%r2 + 128], %r3;
	bra done;
loads:
	wmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {%a0,%a1,%a2,%a3}, [%r2];
done:
)",
                                       64));
  INFO(ran.report);
  REQUIRE(ran.findings.size() == 1);
  CHECK(ran.findings.front().id == "SM3");
}

TEST_CASE("wmma in PTX: a chain waits for each sum") {
  const auto cycles = [](int sums) {
    std::string body = "\tmov.u32 %a0, 0x3c003c00;\n";
    for (int i = 0; i < 8; ++i) body += fmt::format("\tmov.u32 %d{}, 0;\n", i);
    const std::string d = list("d", 8), ones = "{%a0,%a0,%a0,%a0,%a0,%a0,%a0,%a0}";
    for (int i = 0; i < sums; ++i)
      body += fmt::format("\twmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {}, {}, {}, {};\n", d, ones, ones, d);
    for (int i = 0; i < 8; ++i)
      body +=
          fmt::format("\tcvt.rzi.u32.f32 %r3, %d{};\n\tsetp.ne.u32 %p1, %r3, {};\n\t@%p1 trap;\n", i, 16 * sums);
    const RunResult ran = run_ptx(kernel(body));
    INFO(ran.report);
    CHECK(ran.outcome == Outcome::pass);
    return double(ran.cycles);
  };
  // Two m16n8k16 each: the second is issued 6.4 cycles behind the first, whose sum is there after 24.1.
  CHECK((cycles(48) - cycles(16)) / 32 == Approx(30.5).margin(1));
}

TEST_CASE("wmma of a form that is not there says so") {
  const auto [body, name] = GENERATE(table<std::string, std::string>({
      {"\twmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%a0,%a1,%a2,%a3}, [%r2];\n", "wmma.load.a"},
      {"\twmma.load.a.sync.aligned.col.m8n8k32.shared.s4 {%a0}, [%r2];\n", "wmma.load.a"},
      {"\twmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64 {%f0,%f1}, {%f2}, {%f3}, {%f0,%f1};\n",
       "wmma.mma"},
  }));
  const RunResult ran = run_ptx(kernel(body));
  INFO(ran.report);
  CHECK(ran.report.find("not implemented: " + name) != std::string::npos);
}
