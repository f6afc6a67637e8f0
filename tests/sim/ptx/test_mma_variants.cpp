// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma.sp, .ws and disable-output-lane through PTX: operands in the places where PTX has them.
#include <fmt/format.h>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "kernels/isa/instr_descriptor.h"
#include "scratch_directory.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr uint32_t kSparse = 4;

/// A of ones; B(n, k) is 1 where `b_zero_bit` of its byte offset in the tile is 0: 4 takes every other pair of k
/// away, 512 the upper half of n.  Every thread loads a column of its lane of D.
struct Variant {
  std::string mma = "tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd1, %rd2, %r11, %p7";
  int m = 128, n = 64;
  uint32_t idesc = 0;       ///< more bits of the instruction descriptor
  uint32_t b_zero_bit = 0;  ///< 0: B is all ones
  uint32_t metadata = 0x44444444;
  std::string before;   ///< instructions of the issuing thread before the MMA
  uint32_t column = 0;  ///< that is loaded
  int split = 128;      ///< threads below it see `low`, the others `high`
  float low = 16, high = 16;

  std::string text() const {
    const uint32_t descriptor =
        make_instr_descriptor(MmaKind::f16, DataType::f16, DataType::f16, DataType::f32, m, n).bits | idesc;
    return fmt::format(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry variant(.param .u32 nothing)
.reqntid 128
{{
	.reg .pred %p<16>;
	.reg .b32 %r<64>;
	.reg .b64 %rd<32>;
	.shared .align 1024 .b8 a[8192];
	.shared .align 1024 .b8 b[8192];
	.shared .align 8 .b64 bar;
	.shared .align 4 .b32 slot;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, a;
	mov.u32 %r3, b;
	mov.u32 %r4, bar;
	mov.u32 %r5, slot;
	shr.u32 %r6, %r1, 5;
	setp.eq.u32 %p1, %r6, 0;
	setp.eq.u32 %p2, %r1, 0;
	@%p2 mbarrier.init.shared::cta.b64 [%r4], 1;
	fence.mbarrier_init.release.cluster;
	@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r5], 128;
	@%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
	shl.b32 %r7, %r1, 2;
FILL:
	add.u32 %r8, %r2, %r7;
	st.shared.b32 [%r8], 0x3c003c00;
	and.b32 %r9, %r7, {b_zero_bit};
	setp.eq.u32 %p3, %r9, 0;
	selp.b32 %r9, 0x3c003c00, 0, %p3;
	add.u32 %r8, %r3, %r7;
	st.shared.b32 [%r8], %r9;
	add.u32 %r7, %r7, 512;
	setp.lt.u32 %p4, %r7, 8192;
	@%p4 bra FILL;
	fence.proxy.async;
	bar.sync 0;
	ld.shared.b32 %r10, [%r5];
	shl.b32 %r12, %r6, 21;
	add.u32 %r13, %r10, %r12;
	mov.u32 %r14, {metadata};
	tcgen05.st.sync.aligned.32x32b.x1.b32 [%r13+64], {{%r14}};
	mov.u32 %r14, 0x40a00000;
	tcgen05.st.sync.aligned.32x32b.x1.b32 [%r13+{column}], {{%r14}};
	tcgen05.wait::st.sync.aligned;
	tcgen05.fence::before_thread_sync;
	bar.sync 0;
	tcgen05.fence::after_thread_sync;
	@!%p2 bra WAIT;
	mov.u32 %r11, {idesc};
	shr.u32 %r15, %r2, 4;
	cvt.u64.u32 %rd1, %r15;
	or.b64 %rd1, %rd1, {a_desc};
	shr.u32 %r15, %r3, 4;
	cvt.u64.u32 %rd2, %r15;
	or.b64 %rd2, %rd2, {b_desc};
	setp.ne.u32 %p7, %r1, %r1;
{before}	{mma};
	tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r4];
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r4], 0;
	@!%p3 bra WAIT;
	bar.warp.sync -1;
	tcgen05.fence::after_thread_sync;
	tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r20}}, [%r13+{column}];
	tcgen05.wait::ld.sync.aligned;
	setp.lt.u32 %p5, %r1, {split};
	selp.b32 %r21, {low}, {high}, %p5;
	setp.ne.u32 %p6, %r20, %r21;
	@%p6 trap;
	tcgen05.fence::before_thread_sync;
	bar.sync 0;
	@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 128;
	ret;
}}
)",
                       fmt::arg("b_zero_bit", b_zero_bit), fmt::arg("metadata", metadata),
                       fmt::arg("column", column), fmt::arg("idesc", descriptor), fmt::arg("a_desc", tile(m)),
                       fmt::arg("b_desc", tile(n)), fmt::arg("before", before), fmt::arg("mma", mma),
                       fmt::arg("split", split), fmt::arg("low", as_bits(low)), fmt::arg("high", as_bits(high)));
  }

  /// A K-major descriptor without swizzle and without its address.
  static uint64_t tile(int rows) { return make_smem_descriptor({0}, uint32_t(rows) * 16, 128, Swizzle::none).bits; }

  RunResult run() const {
    const ScratchDirectory folder;
    folder.write("k.ptx", text());
    return run_in_child(host::load_scenario(
        folder.write("k.toml",
                     "kernel = \"ptx\"\nprofile = \"b200\"\n[problem]\nptx = \"k.ptx\"\ngrid = [1, 1, 1]\n"
                     "[[problem.tensor]]\nname = \"unused\"\ntype = \"u32\"\nshape = [4]\ncontents = \"zeros\"\n"
                     "[[problem.argument]]\nvalue = 0\ntype = \"u32\"\n[run]\nsms = 1\n")));
  }
};

void check_passes(const Variant& v) {
  const RunResult ran = v.run();
  INFO(ran.report);
  CHECK(ran.outcome == Outcome::pass);
  CHECK(ran.findings.empty());
}

Finding finding_of(const Variant& v) {
  const RunResult ran = v.run();
  INFO(ran.report);
  REQUIRE(ran.findings.size() == 1);
  return ran.findings[0];
}

const char* const kSp = "tcgen05.mma.sp.cta_group::1.kind::f16 [%r10], %rd1, %rd2, [%r10+64], %r11, %p7";
const char* const kWs = "tcgen05.mma.ws.cta_group::1.kind::f16.collector::b1::fill [%r10], %rd1, %rd2, %r11, %p7";

}  // namespace

TEST_CASE("PTX: the dense MMA that the variants differ from") { check_passes({}); }

TEST_CASE("PTX: tcgen05.mma.sp meets the rows of B that its metadata name") {
  // Half of K stored: 16 products; of each chunk the first two, or the last two.
  check_passes({.mma = kSp, .idesc = kSparse, .b_zero_bit = 4});
  check_passes({.mma = kSp, .idesc = kSparse, .b_zero_bit = 4, .metadata = 0xeeeeeeee, .low = 0, .high = 0});
  // The upper halves of the cells are the rows with r % 16 >= 8: threads 8 to 15 of each 16.
  CHECK(Variant{.mma = kSp, .idesc = kSparse, .b_zero_bit = 4, .metadata = 0xeeee4444}.run().outcome !=
        Outcome::pass);
}

TEST_CASE("PTX: tcgen05.mma.ws has the upper half of N in the upper lanes") {
  check_passes({.mma = kWs, .m = 64, .b_zero_bit = 512, .split = 64, .low = 16, .high = 0});
  check_passes({.mma = kWs, .m = 32, .b_zero_bit = 512, .column = 15, .split = 64, .low = 16, .high = 0});
  // A mask that leaves 4 columns and zeroes 3, from the first on: column 5 is a zero, column 3 is not.
  Variant zeroed{.mma = std::string(kWs) + ", %rd5",
                 .before = "\tmov.u64 %rd5, 0x0003028000000000;\n",
                 .column = 5,
                 .low = 0,
                 .high = 0};
  check_passes(zeroed);
  zeroed.column = 3, zeroed.low = zeroed.high = 16;
  check_passes(zeroed);
}

TEST_CASE("PTX: lanes that disable-output-lane names keep what they have") {
  Variant v{.mma = "tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd1, %rd2, %r11, {%r30, %r31, %r32, %r33}, %p7",
            .before = "\tmov.u32 %r30, 0;\n\tmov.u32 %r31, 0;\n\tmov.u32 %r32, -1;\n\tmov.u32 %r33, -1;\n",
            .split = 64,
            .low = 16,
            .high = 5};
  check_passes(v);
  v.before = "\tmov.u32 %r30, 0;\n\tmov.u32 %r31, 0;\n\tmov.u32 %r32, 0;\n\tmov.u32 %r33, 0;\n";
  v.high = 16;
  check_passes(v);
}

TEST_CASE("PTX: wrong descriptors and operands of .sp and .ws are findings") {
  CHECK(finding_of({.mma = kSp}).message.find("bit 2 (sparse) must be set with .sp") != std::string::npos);
  CHECK(finding_of({.idesc = kSparse}).id == "TC5");
  Variant beyond{.mma = kSp, .idesc = kSparse};
  beyond.mma.replace(beyond.mma.find("+64"), 3, "+200");
  CHECK(finding_of(beyond).message.find("sparsity metadata from columns 200 to 200") != std::string::npos);
  CHECK(finding_of({.mma = kWs, .n = 48}).id == "TC5");
  CHECK(finding_of({.mma = "tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd1, %rd2, %r11, {%r30, %r31}, %p7"}).id ==
        "not-implemented");
  Variant shifted{.mma = std::string(kWs) + ", %rd5", .before = "\tmov.u64 %rd5, 0x0803028000000000;\n"};
  CHECK(finding_of(shifted).id == "not-implemented");
  CHECK(finding_of({.mma = "tcgen05.mma.cta_group::1.kind::f16.ashift [%r10], [%r10+72], %rd2, %r11, %p7"}).id ==
        "not-implemented");
}
