// SPDX-License-Identifier: Apache-2.0
// Entries without asynchronous instructions, run without models: results, barriers, spins, ends.
#include "catch.h"
#include "sim/ptx/functional_launch.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  INFO(part);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

const std::string kThread = R"(
	mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
	mad.lo.u32 %r4, %r2, %r3, %r1;)";

const std::string kVectorAdd = R"(
.entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
	.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<4>; .reg .pred %p<2>;)" +
                               kThread + R"(
	ld.param.u32 %r5, [n];
	setp.ge.u32 %p0, %r4, %r5;
	@%p0 bra END;
	ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];
	mul.wide.u32 %rd4, %r4, 4;
	add.u64 %rd1, %rd1, %rd4; add.u64 %rd2, %rd2, %rd4; add.u64 %rd3, %rd3, %rd4;
	ld.global.f32 %f1, [%rd1];
	ld.global.nc.f32 %f2, [%rd2];
	add.f32 %f3, %f1, %f2;
	st.global.f32 [%rd3], %f3;
END:
	ret;
})";

/// Sums of warps by shuffles, of the CTA in shared memory, of the grid by an atomic.
const std::string kReduction = R"(
.entry sum(.param .u64 from, .param .u64 to, .param .u32 n) {
	.shared .align 4 .b8 part[128];
	.reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .pred %p<4>;)" +
                               kThread + R"(
	ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; ld.param.u32 %r5, [n];
	mov.u32 %r6, 0;
	setp.ge.u32 %p0, %r4, %r5;
	@%p0 bra LOADED;
	mad.wide.u32 %rd3, %r4, 4, %rd1;
	ld.global.u32 %r6, [%rd3];
LOADED:
	mov.u32 %r7, 16;
WARP:
	shfl.sync.down.b32 %r8, %r6, %r7, 31, 0xffffffff;
	add.u32 %r6, %r6, %r8;
	shr.u32 %r7, %r7, 1;
	setp.ne.u32 %p1, %r7, 0;
	@%p1 bra WARP;
	and.b32 %r9, %r1, 31;
	shr.u32 %r10, %r1, 5;
	mov.u32 %r11, part;
	mad.lo.u32 %r12, %r10, 4, %r11;
	setp.eq.u32 %p2, %r9, 0;
	@%p2 st.shared.u32 [%r12], %r6;
	bar.sync 0;
	setp.ne.u32 %p3, %r1, 0;
	@%p3 ret;
	ld.shared.v4.u32 {%r13, %r14, %r15, %r16}, [part];
	add.u32 %r13, %r13, %r14; add.u32 %r15, %r15, %r16; add.u32 %r13, %r13, %r15;
	red.global.add.u32 [%rd2], %r13;
	ret;
})";

}  // namespace

TEST_CASE("FunctionalGrid adds vectors with a ragged end") {
  FunctionalProgram p(kVectorAdd);
  constexpr uint32_t kN = 1000;
  const uint64_t a = p.memory.allocate(4 * kN), b = p.memory.allocate(4 * kN), c = p.memory.allocate(4 * kN);
  for (uint32_t i = 0; i < kN; ++i) p.memory.at<float>(a, i) = float(i), p.memory.at<float>(b, i) = 0.5f;
  const FunctionalResult r = p.run({8, 1, 1}, {128, 1, 1}, Arguments() << a << b << c << kN);
  REQUIRE(r.end == FunctionalEnd::finished);
  int wrong = 0;
  for (uint32_t i = 0; i < kN; ++i) wrong += p.memory.at<float>(c, i) != float(i) + 0.5f;
  CHECK(wrong == 0);
  CHECK(r.warp_instructions == 32 * 19);  // lanes that have nothing to add wait at the end for the others
  CHECK(r.cycles > 0);
}

TEST_CASE("FunctionalGrid names the lane that leaves an allocation, its CTA, the instruction and the line") {
  FunctionalProgram p(kVectorAdd);
  const uint64_t a = p.memory.allocate(4 * 1000);
  const FunctionalResult r = p.run({8, 1, 1}, {128, 1, 1}, Arguments() << a << a << a << 1001u);
  CHECK(r.end == FunctionalEnd::out_of_bounds);
  CHECK(r.check == "GM1");
  CHECK(r.lane == 8);
  CHECK(r.warp == 3);
  CHECK(r.ctaid == Dim3{7, 0, 0});
  has(r.text, "ld.global.f32 at test.ptx:");
  has(r.text, "thread (104, 0, 0) of CTA (7, 0, 0), entry add");
  has(r.text, "outside of every allocation");
  const FunctionalResult odd = p.run({1, 1, 1}, {32, 1, 1}, Arguments() << a + 2 << a << a << 1u);
  CHECK(odd.end == FunctionalEnd::misaligned);
  CHECK(odd.check == "GM2");
  const uint64_t host = 0x7ffc'1234'5600;
  has(p.run({1, 1, 1}, {32, 1, 1}, Arguments() << host << a << a << 1u).text,
      "outside of every allocation; it looks like an address of the host");
}

TEST_CASE("FunctionalGrid reduces with shuffles, shared memory and atomics, on one thread and on several") {
  for (const int threads : {1, 4}) {
    FunctionalProgram p(kReduction);
    constexpr uint32_t kN = 5000;
    const uint64_t from = p.memory.allocate(4 * kN), to = p.memory.allocate(4);
    for (uint32_t i = 0; i < kN; ++i) p.memory.at<uint32_t>(from, i) = i;
    const FunctionalResult r = p.run({40, 1, 1}, {128, 1, 1}, Arguments() << from << to << kN, {1, 1, 1}, threads);
    INFO(r.text);
    CHECK(r.end == FunctionalEnd::finished);
    CHECK(p.memory.at<uint32_t>(to) == kN * (kN - 1) / 2);
  }
}

TEST_CASE("FunctionalGrid: what a launch reads and writes is known to the byte, atomics apart") {
  using models::AccessClass, models::ByteRange;
  models::AccessMap sums, counts;
  FunctionalProgram add(kVectorAdd), reduce(kReduction);
  add.memory.watch = &sums, reduce.memory.watch = &counts;
  constexpr uint32_t kN = 1000;
  const uint64_t a = add.memory.allocate(8 * kN), c = add.memory.allocate(4 * kN);
  for (uint32_t i = 0; i < 2 * kN; ++i) add.memory.at<float>(a, i) = 1;
  CHECK(add.run({8, 1, 1}, {128, 1, 1}, Arguments() << a << a + 4 * kN << c << kN).end == FunctionalEnd::finished);
  CHECK(sums.ranges(AccessClass::read) == std::vector<ByteRange>{{a, a + 8 * kN}});
  CHECK(sums.ranges(AccessClass::write) == std::vector<ByteRange>{{c, c + 4 * kN}});
  CHECK(add.memory.at<float>(c, kN - 1) == 2);
  const uint64_t from = reduce.memory.allocate(4 * kN), to = reduce.memory.allocate(4);
  CHECK(reduce.run({8, 1, 1}, {128, 1, 1}, Arguments() << from << to << kN).end == FunctionalEnd::finished);
  CHECK(counts.ranges(AccessClass::read) == std::vector<ByteRange>{{from, from + 4 * kN}});
  CHECK(counts.ranges(AccessClass::write).empty());
  CHECK(counts.ranges(AccessClass::strong_write) == std::vector<ByteRange>{{to, to + 4}});
}

TEST_CASE("FunctionalGrid: named barriers, arrivals without a wait, and bar.red") {
  // Warp 0 waits for warp 1 at barrier 1; all four count the threads below 40 at barrier 2.
  FunctionalProgram p(R"(
.entry k(.param .u64 to) {
	.shared .align 4 .b8 word[4];
	.reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<6>;
	ld.param.u64 %rd1, [to];
	mov.u32 %r1, %tid.x;
	shr.u32 %r2, %r1, 5;
	setp.eq.u32 %p0, %r2, 0;
	@%p0 bra WAIT;
	setp.ne.u32 %p1, %r2, 1;
	@%p1 bra JOIN;
	st.shared.u32 [word], 77;
	bar.arrive 1, 64;
	bra JOIN;
WAIT:
	bar.sync 1, 64;
JOIN:
	setp.lt.u32 %p2, %r1, 40;
	bar.red.popc.u32 %r3, 2, 128, %p2;
	bar.red.and.pred %p3, 3, %p2;
	bar.red.or.pred %p4, 3, 128, !%p2;
	ld.shared.u32 %r4, [word];
	add.u32 %r3, %r3, %r4;
	selp.u32 %r5, 1000, 0, %p3;
	selp.u32 %r6, 2000, 0, %p4;
	add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r6;
	mad.wide.u32 %rd2, %r1, 4, %rd1;
	st.global.u32 [%rd2], %r3;
	ret;
})");
  const uint64_t to = p.memory.allocate(4 * 128);
  const FunctionalResult r = p.run({1, 1, 1}, {128, 1, 1}, Arguments() << to);
  INFO(r.text);
  REQUIRE(r.end == FunctionalEnd::finished);
  for (uint32_t i = 0; i < 128; ++i) CHECK(p.memory.at<uint32_t>(to, i) == 77 + 40 + 2000);
}

TEST_CASE("FunctionalGrid: a barrier without a count does not wait for warps that have exited") {
  FunctionalProgram p(R"(
.entry k() {
	.reg .b32 %r<2>; .reg .pred %p;
	mov.u32 %r1, %tid.x;
	setp.ge.u32 %p, %r1, 32;
	@%p ret;
	bar.sync 0;
	ret;
})");
  CHECK(p.run({1, 1, 1}, {128, 1, 1}, {}).end == FunctionalEnd::finished);
}

TEST_CASE("FunctionalGrid: a barrier that others do not come to is a deadlock that names who waits where") {
  FunctionalProgram p(R"(
.entry k() {
	.reg .b32 %r<2>; .reg .pred %p;
	mov.u32 %r1, %tid.x;
	setp.ge.u32 %p, %r1, 32;
	@%p bra END;
	bar.sync 1, 96;
END:
	ret;
})");
  const FunctionalResult r = p.run({2, 1, 1}, {64, 1, 1}, {});
  CHECK(r.end == FunctionalEnd::deadlock);
  has(r.text, "CTA (0, 0, 0) of entry k waits for ever: 1 warp at bar.sync at test.ptx:10");
  CHECK(r.text.find("poll") == std::string::npos);
}

TEST_CASE(
    "FunctionalGrid: some lanes of a warp at an .aligned instruction end the launch, at barrier.sync they do not") {
  const auto run = [](const std::string& instruction) {
    FunctionalProgram p(
        ".entry k() {\n\t.reg .b32 %r<4>; .reg .pred %p;\n\tmov.u32 %r1, %tid.x;\n"
        "\tsetp.ge.u32 %p, %r1, 16;\n\t@%p bra OTHER;\n\t" +
        instruction + "\n\tbra END;\nOTHER:\n\t" + instruction + "\nEND:\n\tret;\n}");
    return p.run({1, 1, 1}, {32, 1, 1}, {});
  };
  for (const char* instruction :
       {"bar.sync 0;", "barrier.sync.aligned 0;", "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;"}) {
    const FunctionalResult r = run(instruction);
    INFO(instruction << r.text);
    CHECK(r.end == FunctionalEnd::divergent);
    CHECK(r.check == "TC2");
    has(r.text, "16 of the 32 lanes that have not exited");
    has(r.text, "test.ptx:9");
  }
  CHECK(run("barrier.sync 0, 32;").end == FunctionalEnd::finished);
}

TEST_CASE(
    "FunctionalGrid: CTAs that wait for all others run interleaved, a word that nobody writes is a deadlock") {
  // The first thread of each CTA counts up and spins until as many have come as `wanted`.
  FunctionalProgram p(R"(
.entry k(.param .u64 count, .param .u64 to, .param .u32 wanted) {
	.reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p<3>;
	ld.param.u64 %rd1, [count]; ld.param.u64 %rd2, [to]; ld.param.u32 %r5, [wanted];
	mov.u32 %r1, %tid.x;
	setp.ne.u32 %p0, %r1, 0;
	@%p0 bra MEET;
	red.release.gpu.global.add.u32 [%rd1], 1;
SPIN:
	ld.acquire.gpu.global.u32 %r2, [%rd1];
	setp.lt.u32 %p1, %r2, %r5;
	@%p1 bra SPIN;
MEET:
	bar.sync 0;
	mov.u32 %r3, %ctaid.x;
	mad.wide.u32 %rd3, %r3, 4, %rd2;
	ld.global.u32 %r4, [%rd1];
	st.global.u32 [%rd3], %r4;
	ret;
})");
  constexpr uint32_t kCtas = 500;
  for (const int threads : {1, 3}) {
    const uint64_t count = p.memory.allocate(4), to = p.memory.allocate(4 * kCtas);
    const FunctionalResult r =
        p.run({kCtas, 1, 1}, {64, 1, 1}, Arguments() << count << to << kCtas, {1, 1, 1}, threads);
    INFO(r.text);
    REQUIRE(r.end == FunctionalEnd::finished);
    int wrong = 0;
    for (uint32_t i = 0; i < kCtas; ++i) wrong += p.memory.at<uint32_t>(to, i) != kCtas;
    CHECK(wrong == 0);
  }
  const uint64_t count = p.memory.allocate(4), to = p.memory.allocate(4 * kCtas);
  const FunctionalResult r = p.run({10, 1, 1}, {64, 1, 1}, Arguments() << count << to << 11u);
  CHECK(r.end == FunctionalEnd::deadlock);
  has(r.text, "1 warp at ld.acquire.gpu.global.u32 at test.ptx:");
  has(r.text, "10 of 10 CTAs have been started and nobody writes what they poll");
}

TEST_CASE(
    "FunctionalGrid: each CTA waits for the next one, in a plain loop or in one that also counts and sleeps") {
  FunctionalProgram p(R"(
.entry k(.param .u64 flags, .param .u32 last, .param .u32 counts) {
	.reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p<4>;
	ld.param.u64 %rd1, [flags]; ld.param.u32 %r5, [last]; ld.param.u32 %r6, [counts];
	mov.u32 %r1, %ctaid.x; mov.u32 %r3, 0;
	mad.wide.u32 %rd2, %r1, 4, %rd1;
	setp.eq.u32 %p0, %r1, %r5;
	@%p0 bra WRITE;
	setp.ne.u32 %p2, %r6, 0;
	@%p2 bra COUNT;
SPIN:
	ld.acquire.gpu.global.u32 %r2, [%rd2+4];
	setp.eq.u32 %p1, %r2, 0;
	@%p1 bra SPIN;
	bra WRITE;
COUNT:
	ld.acquire.gpu.global.u32 %r2, [%rd2+4];
	add.u32 %r3, %r3, 1;
	nanosleep.u32 %r3;
	setp.eq.u32 %p1, %r2, 0;
	@%p1 bra COUNT;
WRITE:
	st.release.gpu.global.u32 [%rd2], 1;
	ret;
})");
  for (const uint32_t counts : {0u, 1u})
    for (const uint32_t ctas : {2u, 4u, 12u}) {
      CAPTURE(counts, ctas);
      const uint64_t flags = p.memory.allocate(4 * (ctas + 1));
      const FunctionalResult r =
          p.run({ctas, 1, 1}, {1, 1, 1}, Arguments() << flags << ctas - 1 << counts, {1, 1, 1}, 1);
      INFO(r.text);
      CHECK(r.end == FunctionalEnd::finished);
      CHECK(p.memory.at<uint32_t>(flags, 0) == 1);
    }
}

TEST_CASE("FunctionalGrid: a lane that holds a lock goes on while the others of its warp try to take it") {
  FunctionalProgram p(R"(
.entry k(.param .u64 lock, .param .u64 count) {
	.reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .pred %p;
	ld.param.u64 %rd1, [lock]; ld.param.u64 %rd2, [count];
TRY:
	atom.acquire.gpu.global.cas.b32 %r1, [%rd1], 0, 1;
	setp.ne.u32 %p, %r1, 0;
	@%p bra TRY;
	ld.volatile.global.u32 %r2, [%rd2];
	add.u32 %r2, %r2, 1;
	st.volatile.global.u32 [%rd2], %r2;
	atom.release.gpu.global.exch.b32 %r3, [%rd1], 0;
	ret;
})");
  const uint64_t lock = p.memory.allocate(4), count = p.memory.allocate(4);
  p.limit = 1'000'000;
  const FunctionalResult r = p.run({20, 1, 1}, {64, 1, 1}, Arguments() << lock << count);
  INFO(r.text);
  CHECK(r.end == FunctionalEnd::finished);
  CHECK(p.memory.at<uint32_t>(count) == 20 * 64);
}

TEST_CASE("FunctionalGrid: CTAs of a cluster reach each other's shared memory and meet") {
  // Each CTA adds its rank + 1 to a word of every CTA, by a generic address.
  FunctionalProgram p(R"(
.entry k(.param .u64 to) {
	.shared .align 4 .b8 word[4];
	.reg .b32 %r<9>; .reg .b64 %rd<6>; .reg .pred %p<2>;
	ld.param.u64 %rd1, [to];
	mov.u32 %r1, %cluster_ctarank;
	mov.u32 %r2, %tid.x;
	setp.ne.u32 %p0, %r2, 0;
	@%p0 bra MEET;
	st.shared.u32 [word], 0;
MEET:
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	mov.u64 %rd2, word;
	cvta.shared.u64 %rd2, %rd2;
	mapa.u64 %rd3, %rd2, %r2;
	mul.lo.u32 %r7, %r1, 10000;  // the last one comes late
LATE:
	sub.u32 %r7, %r7, 1;
	setp.gt.s32 %p1, %r7, 0;
	@%p1 bra LATE;
	add.u32 %r3, %r1, 1;
	setp.lt.u32 %p1, %r2, 4;
	@%p1 atom.add.u32 %r4, [%rd3], %r3;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	mov.u32 %r5, %ctaid.x;
	mad.wide.u32 %rd4, %r5, 4, %rd1;
	ld.shared.u32 %r6, [word];
	@!%p0 st.global.u32 [%rd4], %r6;
	ret;
})");
  const uint64_t to = p.memory.allocate(4 * 8);
  const FunctionalResult r = p.run({8, 1, 1}, {64, 1, 1}, Arguments() << to, {4, 1, 1});
  INFO(r.text);
  REQUIRE(r.end == FunctionalEnd::finished);
  for (uint32_t i = 0; i < 8; ++i) CHECK(p.memory.at<uint32_t>(to, i) == 1 + 2 + 3 + 4);
}

TEST_CASE("FunctionalGrid: local memory is each thread's own, by its own and by generic addresses") {
  FunctionalProgram p(R"(
.entry k(.param .u64 to) {
	.local .align 8 .b8 depot[16];
	.reg .b32 %r<6>; .reg .b64 %rd<6>;
	ld.param.u64 %rd1, [to];
	mov.u32 %r1, %tid.x;
	st.local.u32 [depot+4], %r1;
	mov.u64 %rd2, depot;
	cvta.local.u64 %rd2, %rd2;
	ld.u32 %r2, [%rd2+4];
	st.v2.u32 [%rd2+8], {%r2, 5};
	ld.local.v2.u32 {%r3, %r4}, [depot+8];
	add.u32 %r3, %r3, %r4;
	mad.wide.u32 %rd3, %r1, 4, %rd1;
	st.u32 [%rd3], %r3;
	ret;
})");
  const uint64_t to = p.memory.allocate(4 * 48);
  const FunctionalResult r = p.run({1, 1, 1}, {48, 1, 1}, Arguments() << to);
  INFO(r.text);
  REQUIRE(r.end == FunctionalEnd::finished);
  for (uint32_t i = 0; i < 48; ++i) CHECK(p.memory.at<uint32_t>(to, i) == i + 5);
}

TEST_CASE("FunctionalGrid: an access behind shared or local memory is found") {
  const auto check_of = [](const std::string& access) {
    FunctionalProgram p(
        ".entry k() {\n\t.shared .align 16 .b8 s[64]; .local .align 16 .b8 l[64];\n"
        "\t.reg .b32 %r<2>; .reg .b64 %rd<2>;\n\tmov.u64 %rd0, s; mov.u64 %rd1, l;\n\t" +
        access + "\n\tret;\n}");
    const FunctionalResult r = p.run({1, 1, 1}, {32, 1, 1}, {});
    INFO(r.text);
    return r.end == FunctionalEnd::out_of_bounds ? r.check : "";
  };
  CHECK(check_of("ld.shared.u32 %r0, [%rd0+60]; st.local.u32 [%rd1+60], %r0;").empty());
  CHECK(check_of("ld.shared.u32 %r0, [%rd0+64];") == "SM1");
  CHECK(check_of("st.shared.v2.u32 [%rd0+1048576], {%r0, %r0};") == "SM1");
  CHECK(check_of("cvta.shared.u64 %rd0, %rd0; atom.add.u32 %r0, [%rd0+64], 1;") == "SM1");
  CHECK(check_of("st.local.u32 [%rd1+64], %r0;") == "GM1");
  CHECK(check_of("cvta.local.u64 %rd1, %rd1; ld.u32 %r0, [%rd1+64];") == "GM1");
}

TEST_CASE("FunctionalGrid: loads extend as their type says, in fast and in slow accesses") {
  FunctionalProgram p(R"(
.entry k(.param .u64 from, .param .u64 to) {
	.reg .b32 %r<9>; .reg .b64 %rd<9>;
	ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to];
	ld.global.s8 %r1, [%rd1];
	ld.global.u8 %r2, [%rd1];
	ld.relaxed.gpu.global.s16 %r3, [%rd1];
	ld.global.s32 %rd3, [%rd1];
	ld.volatile.global.u32 %rd4, [%rd1];
	st.global.v4.u32 [%rd2], {%r1, %r2, %r3, 0};
	st.global.v2.u64 [%rd2+16], {%rd3, %rd4};
	ret;
})");
  const uint64_t from = p.memory.allocate(16), to = p.memory.allocate(32);
  p.memory.at<uint32_t>(from) = 0x800080f0u;
  REQUIRE(p.run({1, 1, 1}, {1, 1, 1}, Arguments() << from << to).end == FunctionalEnd::finished);
  CHECK(p.memory.at<uint32_t>(to, 0) == 0xfffffff0u);
  CHECK(p.memory.at<uint32_t>(to, 1) == 0xf0u);
  CHECK(p.memory.at<uint32_t>(to, 2) == 0xffff80f0u);
  CHECK(p.memory.at<uint64_t>(to, 2) == 0xffffffff800080f0u);
  CHECK(p.memory.at<uint64_t>(to, 3) == 0x800080f0u);
}

TEST_CASE("FunctionalGrid: what it cannot execute, and traps, end the launch with their place") {
  FunctionalProgram asynchronous(R"(
.entry k() {
	.shared .align 8 .b8 bar[8];
	mbarrier.init.shared.b64 [bar], 1;
	ret;
})");
  FunctionalResult r = asynchronous.run({1, 1, 1}, {32, 1, 1}, {});
  CHECK(r.end == FunctionalEnd::not_implemented);
  has(r.text, "not implemented: mbarrier.init.shared.b64 without models, at test.ptx:7");
  const ptx::Program program = ptx::decode(asynchronous.module, asynchronous.module.entries[0]);
  REQUIRE(functional_obstacle(program));
  CHECK(functional_obstacle(program)->opcode == "mbarrier.init.shared.b64");
  FunctionalProgram trap(".entry k() {\n\ttrap;\n}");
  r = trap.run({1, 1, 1}, {32, 1, 1}, {});
  CHECK(r.end == FunctionalEnd::trap);
  CHECK(r.check == "TR1");
  FunctionalProgram endless(".entry k() {\nL:\n\tbra L;\n}");
  endless.limit = 100'000;
  CHECK(endless.run({1, 1, 1}, {32, 1, 1}, {}).end == FunctionalEnd::limit);
}

TEST_CASE("FunctionalGrid: the first CTA that fails is the one that is reported, whatever the threads") {
  for (const int threads : {1, 2, 4}) {
    FunctionalProgram p(R"(
.entry k(.param .u64 to) {
	.reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .pred %p;
	mov.u32 %r1, %ctaid.x;
	setp.lt.u32 %p, %r1, 20;
	@%p ret;
	setp.ne.u32 %p, %r1, 20;
	@%p bra FAIL;
	mov.u32 %r2, 100000;  // others fail before it
LATE:
	sub.u32 %r2, %r2, 1;
	setp.ne.u32 %p, %r2, 0;
	@%p bra LATE;
FAIL:
	trap;
})");
    const FunctionalResult r = p.run({100, 1, 1}, {32, 1, 1}, Arguments() << uint64_t{0}, {1, 1, 1}, threads);
    CHECK(r.end == FunctionalEnd::trap);
    CHECK(r.ctaid == Dim3{20, 0, 0});
  }
}

TEST_CASE("FunctionalGrid: a CTA finds nothing of the ones that its thread of the host has carried out before") {
  // Registers, predicates, shared and local memory are zeros and the clock begins, whatever others have left.
  FunctionalProgram p(R"(
.entry k(.param .u64 to) {
	.shared .align 16 .b8 tile[256];
	.local .align 8 .b8 depot[8];
	.reg .b32 %r<12>; .reg .b64 %rd<5>; .reg .pred %p<3>;
	mov.u32 %r9, %clock;
	ld.shared.u32 %r1, [tile+252];
	ld.local.u32 %r2, [depot+4];
	or.b32 %r1, %r1, %r2;
	or.b32 %r1, %r1, %r3;
	selp.u32 %r4, 64, 0, %p1;
	or.b32 %r1, %r1, %r4;
	cvt.u32.u64 %r5, %rd4;
	or.b32 %r1, %r1, %r5;
	add.u32 %r1, %r1, %r9;
	mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ntid.x; mov.u32 %r8, %tid.x; mad.lo.u32 %r6, %r6, %r7, %r8;
	ld.param.u64 %rd1, [to]; mad.wide.u32 %rd2, %r6, 4, %rd1;
	st.global.u32 [%rd2], %r1;
	bar.sync 0;
	mov.u32 %r3, 5; setp.ne.u32 %p1, %r3, 4; mov.u64 %rd4, 9;
	st.shared.u32 [tile+252], 3; st.local.u32 [depot+4], 17;
	mov.u32 %r10, %clock;
	add.u32 %r3, %r3, %r10; cvt.u64.u32 %rd4, %r3; @%p1 st.shared.u32 [tile], %r3;
	ret;
})");
  constexpr uint32_t kCtas = 500, kThreads = 80;
  for (const int threads : {1, 3}) {
    const uint64_t to = p.memory.allocate(4 * kCtas * kThreads);
    const FunctionalResult r = p.run({kCtas, 1, 1}, {kThreads, 1, 1}, Arguments() << to, {1, 1, 1}, threads);
    REQUIRE(r.text == "");
    CHECK(r.warp_instructions == uint64_t{kCtas} * 3 * 28);
    int unlike = 0;
    for (uint32_t i = 0; i < kCtas * kThreads; ++i)
      unlike += p.memory.at<uint32_t>(to, i) != p.memory.at<uint32_t>(to, 0);
    CHECK(unlike == 0);
    CHECK(p.memory.at<uint32_t>(to, 0) < 3);  // the clock's
  }
}

TEST_CASE("FunctionalGrid: arrivals at a barrier that a CTA leaves behind are not another CTA's") {
  FunctionalProgram p(R"(
.entry k(.param .u32 waits) {
	.reg .b32 %r<4>; .reg .pred %p<2>;
	ld.param.u32 %r1, [waits]; mov.u32 %r2, %ctaid.x;
	setp.eq.u32 %p1, %r1, %r2;
	@%p1 bra WAIT;
	bar.arrive 1, 64;
	ret;
WAIT:
	bar.sync 1, 64;
	ret;
})");
  const FunctionalResult r = p.run({300, 1, 1}, {32, 1, 1}, Arguments() << 7u, {1, 1, 1}, 1);
  CHECK(r.end == FunctionalEnd::deadlock);
  CHECK(r.ctaid == Dim3{7, 0, 0});
  CHECK(p.run({300, 1, 1}, {32, 1, 1}, Arguments() << 300u, {1, 1, 1}, 2).end == FunctionalEnd::finished);
}

TEST_CASE("FunctionalGrid: of many CTAs that print, some and none, the text is in their order") {
  FunctionalProgram p(R"(
.extern .func (.param .b32 status) vprintf (.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 words[5] = {37, 117, 59, 0, 0};
.entry k() {
	.local .align 8 .b8 depot[8];
	.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
	mov.u32 %r1, %ctaid.x; and.b32 %r2, %r1, 7;
	setp.ne.u32 %p1, %r2, 3;
	@%p1 ret;
	mov.u64 %rd1, depot; cvta.local.u64 %rd1, %rd1; st.u32 [%rd1], %r1;
	mov.u64 %rd2, words; cvta.global.u64 %rd2, %rd2;
	{
	.param .b64 a; st.param.b64 [a], %rd2;
	.param .b64 b; st.param.b64 [b], %rd1;
	.param .b32 s;
	call.uni (s), vprintf, (a, b);
	}
	ret;
})");
  std::string expected;
  for (int i = 3; i < 1000; i += 8) expected += std::to_string(i) + ";";
  for (const int threads : {1, 2, 4}) {
    p.printed.clear();
    const FunctionalResult r = p.run({1000, 1, 1}, {1, 1, 1}, {}, {1, 1, 1}, threads);
    INFO(r.text);
    CHECK(r.end == FunctionalEnd::finished);
    CHECK(p.printed == expected);
  }
}
