// SPDX-License-Identifier: Apache-2.0
// wgmma of PTX on an H200: fragments and descriptors against products, time against the measured laws, misuse.
// One warpgroup multiplies 64 rows: C = A B^T.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "kernels/isa/number_formats.h"
#include "models/numerics/fused_dot.h"
#include "models/wgmma_numerics.h"
#include "scratch_directory.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

struct Multiplied {
  std::string type = "bf16", d = "f32";
  int n = 64, chain = 4, bytes = 2;
  bool a_in_registers = false;
  std::string numerics = "fast";
  int threads = 128;
  // what the text has instead
  std::string fence = "\twgmma.fence.sync.aligned;\n", wait = "\twgmma.wait_group.sync.aligned 0;\n",
              behind_issue{}, descriptor_b{}, skip{};
  bool checked = true;
  std::string profile = "h200";
  int cycles = 0;  ///< between the two clocks of the first warp; the program traps where they are more than 4 off

  int k() const { return chain * 32 / bytes; }
  int registers() const { return d == "f16" ? n / 4 : n / 2; }
  std::string list(const char* name, int count) const {
    std::string all;
    for (int i = 0; i < count; ++i) all += fmt::format("{}{}{}", i ? ", " : "", name, i);
    return all;
  }
  /// The four registers of A for step `step`, from global memory.
  std::string load_fragment(int step) const {
    std::string text;
    for (int r = 0; r < 4; ++r)
      text += fmt::format("\tld.global.b32 %a{}, [%rd10+{}];\n", 4 * step + r,
                          8 * (r & 1) * k() * bytes + 32 * step + 16 * (r >> 1));
    return text;
  }
  std::string mma(int step) const {
    const std::string a = a_in_registers ? fmt::format("{{%a{}, %a{}, %a{}, %a{}}}", 4 * step, 4 * step + 1,
                                                       4 * step + 2, 4 * step + 3)
                                         : fmt::format("%da{}", step);
    const bool half = type == "bf16" || type == "f16", integer = d == "s32";
    return fmt::format("\twgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{} {{{}}}, {}, %db{}, %p{}{};\n", n,
                       32 / bytes, d, type, type, list("%d", registers()), a, step, step == 0 ? 1 : 2,
                       integer ? ""
                       : half  ? (a_in_registers ? ", 1, 1, 0" : ", 1, 1, 0, 0")
                               : ", 1, 1");
  }
  std::string text() const {
    const int a_bytes = 64 * k() * bytes, span = std::min(128, k() * bytes);
    const int code = span == 128 ? 1 : span == 64 ? 2 : 3;
    std::string loads, descriptors, mmas, stores;
    for (int step = 0; step < chain; ++step) {
      if (a_in_registers) loads += load_fragment(step);
      // beyond a span, the next box of 64 rows (A) or n rows (B)
      const int box = step * 32 / span, in_box = step * 32 % span;
      descriptors += fmt::format("\tadd.s64 %da{0}, %rd1, {1};\n\tadd.s64 %db{0}, %rd2, {2};\n", step,
                                 (box * 64 * span + in_box) / 16, (box * n * span + in_box) / 16);
      mmas += mma(step);
    }
    for (int r = 0; r < registers(); ++r) {
      const int half = d == "f16" ? 2 * r : r, size = d == "f16" ? 2 : 4;
      stores += fmt::format("\tst.global.b32 [%rd11+{}], %d{};\n",
                            (8 * (half >> 1 & 1) * n + 8 * (half >> 2) + (half & 1)) * size, r);
    }
    std::string boxes;
    for (int box = 0; box < k() * bytes / span; ++box)
      boxes += fmt::format(
          "\tcp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r20], [%rd5, "
          "{{{0}, 0}}], "
          "[%r3];\n\tcp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r21], "
          "[%rd6, "
          "{{{0}, 0}}], [%r3];\n\tadd.u32 %r20, %r20, {1};\n\tadd.u32 %r21, %r21, {2};\n",
          box * span / bytes, 64 * span, n * span);
    return fmt::format(
        R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry multiply(.param .align 64 .b8 map_a[128], .param .align 64 .b8 map_b[128], .param .u64 a, .param .u64 c, .param .u64 times)
.reqntid {threads}
{{
	.reg .pred %p<8>;
	.reg .b32 %r<32>;
	.reg .b32 %a<{fragments}>;
	.reg .b32 %d<{registers}>;
	.reg .b64 %rd<20>;
	.reg .b64 %da<{chain}>;
	.reg .b64 %db<{chain}>;
	.shared .align 1024 .b8 tiles[{tiles}];
	.shared .align 8 .b64 bar;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, tiles;
	mov.u32 %r3, bar;
	setp.ne.u32 %p0, %r1, 0;
	@%p0 bra READY;
	mbarrier.init.shared::cta.b64 [%r3], 1;
	fence.mbarrier_init.release.cluster;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], {tiles};
	mov.b64 %rd5, map_a;
	cvta.param.u64 %rd5, %rd5;
	mov.b64 %rd6, map_b;
	cvta.param.u64 %rd6, %rd6;
	mov.u32 %r20, %r2;
	add.u32 %r21, %r2, {a_bytes};
{boxes}READY:
	bar.sync 0;
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;
	@!%p3 bra WAIT;
	cvt.u64.u32 %rd1, %r2;
	shr.u64 %rd1, %rd1, 4;
	or.b64 %rd1, %rd1, {fixed:#x};
	add.s64 %rd2, %rd1, {b_start};
	shr.u32 %r4, %r1, 5;
	and.b32 %r5, %r1, 31;
	shr.u32 %r6, %r5, 2;
	and.b32 %r7, %r5, 3;
	shl.b32 %r8, %r4, 4;
	add.u32 %r8, %r8, %r6;
	ld.param.u64 %rd10, [a];
	ld.param.u64 %rd11, [c];
	ld.param.u64 %rd12, [times];
	mul.wide.u32 %rd7, %r8, {row_of_a};
	add.s64 %rd10, %rd10, %rd7;
	mul.wide.u32 %rd7, %r7, 4;
	add.s64 %rd10, %rd10, %rd7;
	mul.wide.u32 %rd7, %r8, {row_of_c};
	add.s64 %rd11, %rd11, %rd7;
	mul.wide.u32 %rd7, %r7, {pair_of_c};
	add.s64 %rd11, %rd11, %rd7;
{loads}	setp.ne.u32 %p1, %r1, %r1;
	setp.eq.u32 %p2, %r1, %r1;
{descriptors}{descriptor_b}{skip}	mov.u64 %rd13, %clock64;
{fence}{mmas}{behind_issue}	wgmma.commit_group.sync.aligned;
{wait}	mov.u64 %rd14, %clock64;
{stores}SKIPPED:
	sub.u64 %rd15, %rd14, %rd13;
{timed}	setp.ne.u32 %p4, %r5, 0;
	@%p4 bra END;
	mul.wide.u32 %rd7, %r4, 8;
	add.s64 %rd12, %rd12, %rd7;
	st.global.u64 [%rd12], %rd15;
END:
	ret;
}}
)",
        fmt::arg("threads", threads), fmt::arg("fragments", 4 * chain), fmt::arg("registers", registers()),
        fmt::arg("chain", chain), fmt::arg("tiles", a_bytes + n * k() * bytes), fmt::arg("a_bytes", a_bytes),
        fmt::arg("boxes", boxes),
        fmt::arg("fixed", uint64_t(8 * span / 16) << 32 | uint64_t(code) << 62 | 1u << 16),
        fmt::arg("b_start", a_bytes / 16), fmt::arg("row_of_a", k() * bytes),
        fmt::arg("row_of_c", n * (d == "f16" ? 2 : 4)), fmt::arg("pair_of_c", d == "f16" ? 4 : 8),
        fmt::arg("loads", loads), fmt::arg("descriptors", descriptors), fmt::arg("descriptor_b", descriptor_b),
        fmt::arg("skip", skip), fmt::arg("fence", fence), fmt::arg("mmas", mmas),
        fmt::arg("behind_issue", behind_issue), fmt::arg("wait", wait), fmt::arg("stores", stores),
        fmt::arg("timed", cycles == 0 ? ""
                                      : fmt::format("\t@%p0 bra UNTIMED;\n\tsub.s64 %rd16, %rd15, {};\n"
                                                    "\tsetp.gt.u64 %p5, %rd16, 8;\n\t@%p5 trap;\nUNTIMED:\n",
                                                    cycles - 4)));
  }
  std::string scenario() const {
    const int span = std::min(128, k() * bytes);
    const auto tensor = [&](const char* name, const std::string& of, int rows, int columns, const char* contents) {
      return fmt::format("[[problem.tensor]]\nname = \"{}\"\ntype = \"{}\"\nshape = [{}, {}]\ncontents = \"{}\"\n",
                         name, of, rows, columns, contents);
    };
    const auto map = [&](const char* name, int rows) {
      return fmt::format("[[problem.argument]]\ntensor_map = \"{}\"\nbox = [{}, {}]\nswizzle = \"{}B\"\n", name,
                         span / bytes, rows, span);
    };
    return fmt::format("kernel = \"ptx\"\nprofile = \"{}\"\n[problem]\nptx = \"k.ptx\"\ngrid = [1, 1, 1]\n",
                       profile) +
           tensor("A", type, 64, k(), "random") + tensor("B", type, n, k(), "random") +
           tensor("C", d == "s32" ? "s32" : d, 64, n, "unwritten") + tensor("times", "u64", 1, 4, "zeros") +
           map("A", 64) + map("B", n) +
           "[[problem.argument]]\naddress = \"A\"\n[[problem.argument]]\naddress = "
           "\"C\"\n[[problem.argument]]\naddress = "
           "\"times\"\n" +
           (checked ? "[problem.check]\nproduct = [\"A\", \"B\", \"C\"]\n" : "") +
           fmt::format("[run]\nsms = 1\nnumerics = \"{}\"\n", numerics);
  }
  RunResult run(const std::vector<std::string>& sets = {}) const {
    ScratchDirectory folder;
    folder.write("k.ptx", text());
    return run_in_child(host::load_scenario(folder.write("k.toml", scenario()), sets));
  }
  std::string line_of(const std::string& part) const {
    const std::string all = text();
    const size_t at = all.find(part);
    REQUIRE(at != std::string::npos);
    return fmt::format("k.ptx:{}", 1 + std::count(all.begin(), all.begin() + long(at), '\n'));
  }
};

/// m64n8k32 of f16, sparse.  A is one where it is given, B[k] is k in each column: D is the sum of the k that the
/// metadata name, 232 in rows 0 to 7 of a warp, 264 in rows 8 to 15.  The program traps where it is not.
struct SparseMultiplied {
  std::string metadata = "0xeeee4444";  ///< of the lanes that count: elements 0 and 1 of each four, or 2 and 3
  std::string opcode = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16";
  std::string selector = "%r8, 1", immediates = ", 1, 1, 0";
  bool a_in_registers = true;
  std::string behind_issue{};
  std::string numerics = "fast", check = "\t@%p3 trap;\n";

  std::string text() const {
    return fmt::format(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry multiply()
.reqntid 128
{{
	.reg .pred %p<8>;
	.reg .b32 %r<32>;
	.reg .f32 %f<16>;
	.reg .b64 %rd<8>;
	.shared .align 1024 .b8 tiles[4096];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, tiles;
	mov.u32 %r7, 0x3c003c00;
	shl.b32 %r3, %r1, 4;
	add.u32 %r3, %r3, %r2;
	st.shared.v4.b32 [%r3], {{%r7, %r7, %r7, %r7}};
	and.b32 %r4, %r1, 15;
	shl.b32 %r5, %r4, 1;
	cvt.rn.f32.u32 %f1, %r5;
	add.f32 %f2, %f1, 0f3F800000;
	cvt.rn.f16x2.f32 %r6, %f2, %f1;
	shr.u32 %r9, %r4, 2;
	shl.b32 %r9, %r9, 7;
	and.b32 %r10, %r4, 3;
	shl.b32 %r10, %r10, 2;
	add.u32 %r9, %r9, %r10;
	shr.u32 %r10, %r1, 4;
	shl.b32 %r10, %r10, 4;
	add.u32 %r9, %r9, %r10;
	add.u32 %r9, %r9, %r2;
	st.shared.b32 [%r9+2048], %r6;
	fence.proxy.async.shared::cta;
	bar.sync 0;
	cvt.u64.u32 %rd1, %r2;
	shr.u64 %rd1, %rd1, 4;
	add.s64 %rd2, %rd1, 128;
	or.b64 %rd1, %rd1, 0x0000000800400000;
	or.b64 %rd2, %rd2, 0x0000000800080000;
	and.b32 %r11, %r1, 2;
	setp.eq.u32 %p1, %r11, 2;
	selp.b32 %r8, {metadata}, 0x99999999, %p1;
	setp.eq.u32 %p2, %r1, %r1;
	mov.f32 %f4, 0f3F800000;
	mov.f32 %f5, 0f3F800000;
	mov.f32 %f6, 0f3F800000;
	mov.f32 %f7, 0f3F800000;
	wgmma.fence.sync.aligned;
	{opcode} {{%f4, %f5, %f6, %f7}}, {a}, %rd2, {selector}, %p2{immediates};
{behind_issue}	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	setp.neu.f32 %p3, %f4, 0f43690000;
	setp.neu.or.f32 %p3, %f5, 0f43690000, %p3;
	setp.neu.or.f32 %p3, %f6, 0f43848000, %p3;
	setp.neu.or.f32 %p3, %f7, 0f43848000, %p3;
{check}	ret;
}}
)",
                       fmt::arg("metadata", metadata), fmt::arg("opcode", opcode),
                       fmt::arg("a", a_in_registers ? "{%r7, %r7, %r7, %r7}" : "%rd1"),
                       fmt::arg("selector", selector), fmt::arg("immediates", immediates),
                       fmt::arg("behind_issue", behind_issue), fmt::arg("check", check));
  }
  RunResult run(const std::vector<std::string>& sets = {}) const {
    ScratchDirectory folder;
    folder.write("k.ptx", text());
    return run_in_child(host::load_scenario(
        folder.write("k.toml", fmt::format("kernel = \"ptx\"\nprofile = \"h200\"\n[problem]\nptx = \"k.ptx\"\n"
                                           "grid = [1, 1, 1]\n[[problem.tensor]]\nname = \"none\"\ntype = "
                                           "\"u8\"\nshape = [16]\ncontents = \"zeros\"\n[run]\nsms = 1\n"
                                           "numerics = \"{}\"\n",
                                           numerics)),
        sets));
  }
};

}  // namespace

TEST_CASE("wgmma multiplies every type, from shared memory and from registers, in both numerics", "[wgmma]") {
  struct Case {
    const char* type;
    const char* d;
    int bytes;
  };
  for (const Case& c :
       {Case{"bf16", "f32", 2}, Case{"f16", "f32", 2}, Case{"f16", "f16", 2}, Case{"tf32", "f32", 4},
        Case{"e4m3", "f32", 1}, Case{"e5m2", "f32", 1}, Case{"e4m3", "f16", 1}})
    for (const bool registers : {false, true})
      for (const char* numerics : {"fast", "b200"}) {
        const Multiplied m{
            .type = c.type, .d = c.d, .n = 48, .bytes = c.bytes, .a_in_registers = registers, .numerics = numerics};
        INFO(c.type << " " << c.d << " " << registers << " " << numerics);
        const RunResult result = m.run();
        INFO(result.report);
        CHECK((result.outcome == Outcome::pass && result.verified));
      }
}

TEST_CASE("wgmma takes every N, and chains beyond a swizzle's span", "[wgmma]") {
  for (const int n : {8, 16, 24, 64, 128, 248, 256}) {
    const Multiplied m{.n = n, .chain = n == 64 ? 8 : 4};
    INFO(n);
    const RunResult result = m.run();
    INFO(result.report);
    CHECK((result.outcome == Outcome::pass && result.verified));
    CHECK(result.findings.empty());
  }
  for (const int chain : {1, 2}) CHECK(Multiplied{.chain = chain}.run().outcome == Outcome::pass);  // 32B, 64B
}

TEST_CASE("wgmma takes the time that was measured on an H200", "[wgmma]") {
  // docs/measurements.md: 55 + N / 2 + (chain - 1) * max(N / 2, 16 + N / 4), A in shared memory
  struct Row {
    int n, chain, cycles;
  };
  for (const Row& row : {Row{8, 1, 59}, Row{16, 1, 63}, Row{64, 1, 87}, Row{128, 1, 119}, Row{256, 1, 183},
                         Row{8, 4, 113}, Row{32, 4, 143}, Row{64, 4, 183}, Row{128, 4, 311}, Row{256, 4, 567}}) {
    const RunResult result = Multiplied{.n = row.n, .chain = row.chain, .cycles = row.cycles}.run();
    INFO(row.n << " " << row.chain);
    INFO(result.report);
    CHECK(result.outcome == Outcome::pass);
  }
  CHECK(Multiplied{.n = 64, .chain = 1, .cycles = 110}.run().outcome == Outcome::findings);  // it does look
}

TEST_CASE("without data wgmma takes as long", "[wgmma]") {
  for (const bool registers : {false, true}) {
    const Multiplied m{.a_in_registers = registers};
    const RunResult full = m.run(), none = m.run({"run.data=none"});
    INFO(none.report);
    CHECK(none.outcome == Outcome::pass);
    CHECK(none.cycles == full.cycles);
  }
}

TEST_CASE("wgmma of 8-bit integers is exact, wraps, and saturates where it says so", "[wgmma]") {
  using namespace models;
  SharedMemory smem;
  smem.start_cta(8192, true);
  constexpr int kN = 16, kK = 32;
  // No swizzle: 8 rows of 16 bytes after each other, column blocks of 16 bytes behind all rows.
  const uint32_t a = kSmemUserBase, b = a + 64 * kK;
  const auto value = [](int i, int j) { return int8_t((i * 37 + j * 101) % 255 - 127); };
  const auto fill = [&](uint32_t at, int rows) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < kK; ++j)
        *smem.data(at + uint32_t(i / 8 * 128 + i % 8 * 16 + j / 16 * 16 * rows + j % 16)) = uint8_t(value(i, j));
  };
  fill(a, 64), fill(b, kN);
  for (const bool saturate : {false, true}) {
    const WgmmaForm form{.n = kN, .a = DataType::s8, .b = DataType::s8, .d = WgmmaD::s32, .saturate = saturate};
    const auto fields = [](uint32_t at, int rows) {
      return decode_wgmma({uint64_t{at >> 4} | uint64_t(rows) << 16 | uint64_t{8} << 32});
    };
    WgmmaOperation op{.form = form, .a = fields(a, 64), .b = fields(b, kN), .scale_d = true};
    std::vector<uint32_t> d[4];
    constexpr int32_t kOld = 0x7fffff00;
    for (size_t w = 0; w < 4; ++w) d[w].assign(32 * kN / 2, uint32_t(kOld)), op.d[w] = d[w].data();
    WgmmaNumerics(Accumulation::fast, smem).execute(op);
    for (int w = 0; w < 4; ++w)
      for (int lane = 0; lane < 32; ++lane)
        for (int r = 0; r < kN / 2; ++r) {
          const WgmmaCell at = wgmma_d_cell(w, lane, r);
          int64_t sum = kOld;
          for (int k = 0; k < kK; ++k) sum += value(at.row, k) * value(at.column, k);
          const int64_t kept = saturate ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX) : int32_t(uint32_t(sum));
          REQUIRE(int32_t(d[w][size_t(lane * kN / 2 + r)]) == kept);
        }
  }
}

TEST_CASE("an accumulator is not touched before wgmma.wait_group", "[wgmma]") {
  const Multiplied reads{.behind_issue = "\tmov.b32 %r30, %d5;\n"};
  const RunResult result = reads.run();
  INFO(result.report);
  REQUIRE(result.warnings.size() == 4);  // of each warp
  CHECK(result.warnings[0].id == "WG1");
  CHECK(result.warnings[0].location == reads.line_of("mov.b32 %r30"));
  CHECK((result.outcome == Outcome::pass && result.verified));  // ptxas waits
  const Multiplied no_wait{.wait = ""};
  const RunResult unwaited = no_wait.run();
  INFO(unwaited.report);
  REQUIRE(!unwaited.warnings.empty());
  CHECK(unwaited.warnings[0].id == "WG1");
}

TEST_CASE("wgmma without wgmma.fence is what ptxas repairs", "[wgmma]") {
  const RunResult result = Multiplied{.fence = ""}.run();
  INFO(result.report);
  REQUIRE(result.warnings.size() == 1);
  CHECK(result.warnings[0].id == "WG3");
  CHECK(result.verified);
}

TEST_CASE("the warps of a warpgroup execute the same wgmma", "[wgmma]") {
  const Multiplied other{.descriptor_b =
                             "\tshr.u32 %r25, %r1, 6;\n\tcvt.u64.u32 %rd17, %r25;\n\tadd.s64 %db1, %db1, %rd17;\n"};
  const RunResult result = other.run();
  INFO(result.report);
  REQUIRE(!result.findings.empty());
  CHECK(result.findings[0].id == "WG2");
  const RunResult three = Multiplied{.threads = 96}.run();
  INFO(three.report);
  REQUIRE(!three.findings.empty());
  CHECK(three.findings[0].id == "WG2");
  // One of them leaves: the others wait for what it drives.
  const RunResult left = Multiplied{.skip = "\tsetp.eq.u32 %p6, %r4, 2;\n\t@%p6 bra END;\n"}.run();
  INFO(left.report);
  REQUIRE(left.outcome == Outcome::hang);
  CHECK_THAT(left.findings.front().cause, Catch::Contains("wgmma.mma_async") && Catch::Contains("warp 2"));
}

TEST_CASE("operands are not overwritten before wgmma.wait_group", "[wgmma]") {
  // A thread stores to B while the MMAs may read it, then the warp waits.
  const RunResult result = Multiplied{.behind_issue = "\tst.shared.b32 [%r2+8192], %r1;\n", .checked = false}.run();
  INFO(result.report);
  REQUIRE(!result.findings.empty());
  CHECK(result.findings[0].id == "TM7");
  CHECK_THAT(result.findings[0].message, Catch::Contains("wgmma"));
}

TEST_CASE("sparse wgmma: the elements of B that the selected lanes' metadata name are multiplied", "[wgmma]") {
  for (const bool registers : {true, false})
    for (const char* numerics : {"fast", "b200"}) {
      const RunResult ran = SparseMultiplied{.immediates = registers ? ", 1, 1, 0" : ", 1, 1, 0, 0",
                                             .a_in_registers = registers,
                                             .numerics = numerics}
                                .run();
      INFO(ran.report);
      CHECK(ran.outcome == Outcome::pass);
      CHECK(ran.findings.empty());
      CHECK(ran.warnings.empty());
    }
}

TEST_CASE("sparse wgmma: other metadata, or other lanes', make another sum", "[wgmma]") {
  CHECK(SparseMultiplied{.metadata = "0xeeee4448"}.run().outcome != Outcome::pass);
  CHECK(SparseMultiplied{.metadata = "0xeee44444"}.run().outcome != Outcome::pass);
  CHECK(SparseMultiplied{.selector = "%r8, 0"}.run().outcome != Outcome::pass);
  CHECK(SparseMultiplied{.immediates = ", -1, 1, 0"}.run().outcome != Outcome::pass);
}

TEST_CASE("sparse wgmma: a form that PTX does not have is said", "[wgmma]") {
  const std::string opcode = "wgmma.mma_async.sp.sync.aligned.";
  const SparseMultiplied forms[] = {
      {.selector = "%r8, 2"},
      {.selector = "%r8, %r1"},
      {.selector = "%r8"},
      {.opcode = opcode + "m64n8k16.f32.f16.f16"},  // K of a dense one
      {.opcode = opcode + "m64n12k32.f32.f16.f16"},
      {.opcode = opcode + "m64n8k32.f32.f16.bf16"},
      {.opcode = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"},  // metadata of a dense one
      {.immediates = ", 1, 1, 0, 0"},                                   // A in registers is K-major
      {.immediates = ""},
      {.opcode = opcode + "m64n8k16.f32.tf32.tf32"},  // K-major both
      {.opcode = opcode + "m64n8k64.f32.e4m3.e4m3", .selector = "%r8, 1", .immediates = ", 1, 1"}};
  for (const SparseMultiplied& form : forms) {
    const RunResult ran = form.run();
    INFO(form.opcode << form.selector << form.immediates << ran.report);
    CHECK_THAT(ran.report, Catch::Contains("not implemented: wgmma.mma_async"));
  }
}

TEST_CASE("sparse wgmma reads 64 bytes of each row of B until the wait", "[wgmma]") {
  // 256 bytes on are the second half of K.
  const RunResult result = SparseMultiplied{.behind_issue = "\tst.shared.b32 [%r2+2304], %r1;\n"}.run();
  INFO(result.report);
  REQUIRE(!result.findings.empty());
  CHECK(result.findings[0].id == "TM7");
  CHECK_THAT(result.findings[0].message, Catch::Contains("wgmma"));
  // A is registers: its place is free.
  CHECK(SparseMultiplied{.behind_issue = "\tst.shared.b32 [%r3], %r1;\n"}.run().outcome == Outcome::pass);
}

TEST_CASE("sparse wgmma without data takes as long", "[wgmma]") {
  const SparseMultiplied unchecked{.check = ""};
  const RunResult full = unchecked.run(), none = unchecked.run({"run.data=none"});
  INFO(none.report);
  CHECK(none.outcome == Outcome::pass);
  CHECK(none.cycles == full.cycles);
}

TEST_CASE("a B200 has no wgmma, an H200 no tcgen05", "[wgmma]") {
  const RunResult result = Multiplied{.profile = "b200"}.run();
  INFO(result.report);
  CHECK_THAT(result.report, Catch::Contains("not implemented: wgmma on NVIDIA B200"));
}

TEST_CASE("wgmma of an H200 adds as measured", "[wgmma][numerics]") {
  using namespace models;
  const auto p2 = [](int e) { return std::ldexp(1.f, e); };
  struct Vector {
    WgmmaSum sum;
    std::vector<float> a;
    float d;
    uint32_t expected;
  };
  const auto times = [](int count, float x) { return std::vector<float>(size_t(count), x); };
  const auto then = [](float first, std::vector<float> rest) {
    rest.insert(rest.begin(), first);
    return rest;
  };
  const WgmmaSum f32 = WgmmaSum::f32, f16 = WgmmaSum::f16, fp8 = WgmmaSum::fp8_f32;
  const float small_d = std::bit_cast<float>(0x2f800001u), largest = std::bit_cast<float>(0x7f7fffffu);
  const std::vector<Vector> vectors = {{f32, then(1, times(7, p2(-26))), 0, 0x3f800000},
                                       {f32, {1, p2(-24), p2(-25), p2(-25)}, 0, 0x3f800001},
                                       {f32, {-1, -p2(-24), -p2(-25)}, 0, 0xbf800000},
                                       {f32, times(4, p2(-25)), 1, 0x3f800001},
                                       {f32, {p2(60), -p2(60), 1}, 0, 0},
                                       {f32, {0}, small_d, 0x2f800001},
                                       {f32, {p2(103)}, largest, 0x7f7fffff},
                                       {f32, {1, -1}, -0.f, 0},
                                       {f32, times(8, p2(-63)), 0, std::bit_cast<uint32_t>(p2(-60))},
                                       {fp8, {1, p2(-13), p2(-13)}, 0, 0x3f800800},
                                       {fp8, then(1, times(4, p2(-14))), 0, 0x3f800000},
                                       {fp8, {0}, 1 + p2(-14), 0x3f800000},
                                       {fp8, {2.25f, p2(-13)}, 0, 0x40100000},
                                       {fp8, {0}, largest, 0x7f7ffc00},
                                       {f16, {1, p2(-11)}, 0, 0x3c00},
                                       {f16, {1, p2(-11), p2(-25)}, 0, 0x3c01},
                                       {f16, {1, p2(-11), p2(-26)}, 0, 0x3c00},
                                       {f16, {65280, 239}, 0, 0x7bff},
                                       {f16, {65280, 240}, 0, 0x7c00}};
  for (const Vector& v : vectors) {
    float a[32] = {}, b[32];
    std::copy(v.a.begin(), v.a.end(), a);
    std::fill(b, b + 32, 1.f);
    CAPTURE(v.a, v.d);
    const uint32_t bits = fused_dot_wgmma(a, b, 32, v.d, true, -126, -126, v.sum);
    CHECK((v.sum == f16 ? cvt_rn_f16_f32(std::bit_cast<float>(bits)) : bits) == v.expected);
  }
}
