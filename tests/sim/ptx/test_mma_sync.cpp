// SPDX-License-Identifier: Apache-2.0
// mma.sync, mma.sp and movmatrix in PTX: their registers, and when the sums are there.
#include <fmt/format.h>

#include "catch.h"
#include "functional_launch.h"
#include "run_ptx.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// @param body  of one warp: %r1 is its lane; it ends in a trap where a value is wrong
std::string entry(const std::string& body) {
  return fmt::format(R"(.visible .entry multiplies()
.reqntid 32
{{
	.reg .pred %p<8>;
	.reg .b16 %h<8>;
	.reg .b32 %r<32>;
	.reg .f32 %f<32>;
	mov.u32 %r1, %laneid;
{}
	ret;
}}
)",
                     body);
}

std::string kernel(const std::string& body) {
  return ".version 8.7\n.target sm_100a\n.address_size 64\n" + entry(body);
}

// A holds 2 * row + column in 16 bits of f16, B is the unit matrix: D is A.
constexpr const char* kUnit = R"(	shr.u32 %r2, %r1, 2;
	and.b32 %r3, %r1, 3;
	shl.b32 %r3, %r3, 1;
	shl.b32 %r4, %r2, 1;
	add.u32 %r4, %r4, %r3;
	cvt.rn.f32.u32 %f1, %r4;
	add.f32 %f2, %f1, 0f3F800000;
	add.f32 %f3, %f1, 0f41800000;
	add.f32 %f4, %f2, 0f41800000;
	cvt.rn.f16x2.f32 %r5, %f2, %f1;
	cvt.rn.f16x2.f32 %r6, %f4, %f3;
	setp.eq.u32 %p1, %r2, %r3;
	selp.b32 %r7, 0x3c00, 0, %p1;
	add.u32 %r8, %r3, 1;
	setp.eq.u32 %p1, %r2, %r8;
	selp.b32 %r7, 0x3c000000, %r7, %p1;
	mov.f32 %f5, 0f00000000;
	mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f10,%f11,%f12,%f13}, {%r5,%r6}, {%r7}, {%f5,%f5,%f5,%f5};
	setp.neu.f32 %p1, %f10, %f1;
	setp.neu.or.f32 %p1, %f11, %f2, %p1;
	setp.neu.or.f32 %p1, %f12, %f3, %p1;
	setp.neu.or.f32 %p1, %f13, %f4, %p1;
	@%p1 trap;
)";

/// What the metadata of the lane with %laneid % 4 = 2 are: elements 0 and 1 of each four in rows 0 to 7, 2 and 3 in
/// rows 8 to 15.
constexpr const char* kMetadata = "0xeeee4444";

/// A is one where it is given, B[k] is k in each column: D is the sum of the k that the metadata name, 52 and 68.
/// @param sp  ".sp" or ".sp::ordered_metadata"
std::string sparse(const std::string& sp, const char* metadata = kMetadata, int selector = 2) {
  return fmt::format(R"(	and.b32 %r2, %r1, 3;
	shl.b32 %r3, %r2, 1;
	cvt.rn.f32.u32 %f1, %r3;
	add.f32 %f2, %f1, 0f3F800000;
	add.f32 %f3, %f1, 0f41000000;
	add.f32 %f4, %f2, 0f41000000;
	cvt.rn.f16x2.f32 %r5, %f2, %f1;
	cvt.rn.f16x2.f32 %r6, %f4, %f3;
	mov.u32 %r7, 0x3c003c00;
	setp.eq.u32 %p1, %r2, 2;
	selp.b32 %r8, {}, 0x99999999, %p1;
	mov.f32 %f5, 0f00000000;
	mma{}.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%f10,%f11,%f12,%f13}}, {{%r7,%r7}}, {{%r5,%r6}}, {{%f5,%f5,%f5,%f5}}, %r8, 0x{};
	setp.neu.f32 %p1, %f10, 0f42500000;
	setp.neu.or.f32 %p1, %f11, 0f42500000, %p1;
	setp.neu.or.f32 %p1, %f12, 0f42880000, %p1;
	setp.neu.or.f32 %p1, %f13, 0f42880000, %p1;
	@%p1 trap;
)",
                     metadata, sp, selector);
}

/// Sums, each of which needs the one before, or of `chains` that need nothing of each other.
std::string chain(int chains, int sums) {
  std::string body;
  for (int c = 0; c < 4 * chains; ++c) body += fmt::format("\tmov.f32 %f{}, 0f00000000;\n", c);
  body += "\tmov.u32 %r2, 0x3c003c00;\n";
  for (int i = 0; i < sums; ++i) {
    const int d = 4 * (i % chains);
    body += fmt::format(
        "\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%f{0},%f{1},%f{2},%f{3}}}, {{%r2,%r2,%r2,%r2}}, "
        "{{%r2,%r2}}, {{%f{0},%f{1},%f{2},%f{3}}};\n",
        d, d + 1, d + 2, d + 3);
  }
  for (int c = 0; c < 4 * chains; ++c)  // 16 ones each
    body += fmt::format("\tcvt.rzi.u32.f32 %r3, %f{};\n\tsetp.ne.u32 %p1, %r3, {};\n\t@%p1 trap;\n", c,
                        16 * sums / chains);
  return kernel(body);
}

}  // namespace

TEST_CASE("mma.sync in PTX: A times the unit matrix is A") {
  const RunResult ran = run_ptx(kernel(kUnit));
  INFO(ran.report);
  CHECK(ran.outcome == Outcome::pass);
  CHECK(ran.findings.empty());
}

TEST_CASE("mma.sync without models: the same") {
  FunctionalProgram program(entry(kUnit));
  CHECK(program.run({1, 1, 1}, {32, 1, 1}, {}).end == FunctionalEnd::finished);
  FunctionalProgram wrong(entry(std::string(kUnit) + "\tsetp.neu.f32 %p1, %f10, %f2;\n\t@%p1 trap;\n"));
  CHECK(wrong.run({1, 1, 1}, {32, 1, 1}, {}).end == FunctionalEnd::trap);
}

TEST_CASE("mma.sp in PTX: the elements that the selected lane's metadata name are multiplied") {
  for (const char* const sp : {".sp", ".sp::ordered_metadata"}) {
    const RunResult ran = run_ptx(kernel(sparse(sp)));
    INFO(ran.report);
    CHECK(ran.outcome == Outcome::pass);
    CHECK(ran.findings.empty());
    FunctionalProgram program(entry(sparse(sp)));
    CHECK(program.run({1, 1, 1}, {32, 1, 1}, {}).end == FunctionalEnd::finished);
  }
}

TEST_CASE("mma.sp in PTX: other metadata, or another lane's, make another sum") {
  const auto [metadata, selector] =
      GENERATE(table<const char*, int>({{"0xeeee4448", 2}, {"0xeee44444", 2}, {kMetadata, 1}}));
  CHECK(run_ptx(kernel(sparse(".sp", metadata, selector))).outcome != Outcome::pass);
  FunctionalProgram program(entry(sparse(".sp", metadata, selector)));
  CHECK(program.run({1, 1, 1}, {32, 1, 1}, {}).end == FunctionalEnd::trap);
}

TEST_CASE("mma.sp in PTX: no instruction, or no such selector, is said") {
  for (const std::string& body :
       {sparse(".sp", kMetadata, 4), sparse("", kMetadata), sparse(".sp::unordered", kMetadata)}) {
    const RunResult ran = run_ptx(kernel(body));
    INFO(ran.report);
    CHECK(ran.report.find("not implemented: mma.") != std::string::npos);
  }
}

TEST_CASE("mma.sync in PTX: a chain waits for each sum, sums apart do not") {
  const auto cycles_each = [](int chains) {
    const RunResult few = run_ptx(chain(chains, 16)), many = run_ptx(chain(chains, 64));
    INFO(few.report << many.report);
    CHECK(few.outcome == Outcome::pass);
    CHECK(many.outcome == Outcome::pass);
    return double(many.cycles - few.cycles) / 48;
  };
  // An H200: 24.1 cycles in one chain, 6.4 in eight.
  CHECK(cycles_each(1) == Approx(24.1).margin(0.5));
  CHECK(cycles_each(4) == Approx(6.4).margin(0.5));
}

TEST_CASE("movmatrix in PTX transposes") {
  // Lane 4 r + c / 2 holds 16 r + c and 16 r + c + 1, and gets what is 16 c + r.
  const RunResult ran = run_ptx(kernel(R"(	shr.u32 %r2, %r1, 2;
	and.b32 %r3, %r1, 3;
	shl.b32 %r3, %r3, 1;
	mad.lo.u32 %r4, %r2, 16, %r3;
	mad.lo.u32 %r5, %r4, 65537, 65536;
	movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r5;
	mad.lo.u32 %r7, %r3, 16, %r2;
	mad.lo.u32 %r7, %r7, 65537, 1048576;
	setp.ne.u32 %p1, %r6, %r7;
	@%p1 trap;
)"));
  INFO(ran.report);
  CHECK(ran.outcome == Outcome::pass);
}

TEST_CASE("mma of a form that is not there says so") {
  const RunResult ran = run_ptx(kernel(
      "\tmov.u32 %r2, 0;\n\tmov.f32 %f1, 0f00000000;\n"
      "\tmma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1,%f1,%f1,%f1,%f1,%f1,%f1,%f1}, {%r2,%r2}, {%r2,%r2}, "
      "{%f1,%f1,%f1,%f1,%f1,%f1,%f1,%f1};\n"));
  INFO(ran.report);
  CHECK(ran.report.find("not implemented: mma.sync.aligned.") != std::string::npos);
}
