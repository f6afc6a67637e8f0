// SPDX-License-Identifier: Apache-2.0
// GM7: what a bulk store writes is read before the store's group has completed.
#include <fmt/format.h>

#include "catch.h"
#include "scratch_directory.h"
#include "sim/child_process.h"
#include "sim/scenario_files.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// One warp stores 128 bytes of shared memory by a bulk copy, and then `behind` follows.  Of two CTAs the second
/// waits for the first's flag.
RunResult run(const std::string& behind, int ctas = 1) {
  static const ScratchDirectory directory;
  static int number = 0;
  const std::string name = fmt::format("stores{}", number++);
  directory.write(name + ".ptx", fmt::format(R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry stores(.param .u64 to, .param .u64 sum, .param .u64 flag) {{
	.shared .align 128 .b8 strip[256];
	.shared .align 8 .b64 full;
	.reg .b32 %r<8>; .reg .f32 %f<3>; .reg .b64 %rd<8>; .reg .pred %p, %q, %w;
	ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [sum]; ld.param.u64 %rd6, [flag];
	mov.u32 %r1, %tid.x; mov.u32 %r2, strip; mad.lo.u32 %r3, %r1, 4, %r2;
	mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
	setp.eq.u32 %p, %r1, 0; mov.u32 %r4, full;
	@%p mbarrier.init.shared::cta.b64 [%r4], 1;
	st.shared.f32 [%r3], 0f3F800000;
	fence.proxy.async.shared::cta;
	bar.warp.sync -1;
	mov.u32 %r6, %ctaid.x; setp.ne.u32 %q, %r6, 0;
	@%q bra SECOND;
	@%p cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 128;
	cp.async.bulk.commit_group;
{}	bra END;
SECOND:
	ld.acquire.gpu.global.u32 %r5, [%rd6]; setp.eq.u32 %w, %r5, 0;
	@%w bra SECOND;
	bar.warp.sync -1;
	ld.global.f32 %f1, [%rd4];
	st.global.f32 [%rd5], %f1;
END:
	ret;
}}
)",
                                             behind));
  const auto tensor = [](const char* tensor_name, const char* type, const char* contents) {
    return fmt::format("[[problem.tensor]]\nname = \"{}\"\ntype = \"{}\"\nshape = [32]\ncontents = \"{}\"\n",
                       tensor_name, type, contents);
  };
  const auto file = directory.write(
      name + ".toml", fmt::format("kernel = \"ptx\"\nprofile = \"b200\"\n[problem]\nptx = \"{}.ptx\"\nentry = "
                                  "\"stores\"\ngrid = [{}, 1, 1]\n"
                                  "block = [32, 1, 1]\n{}{}{}[[problem.argument]]\naddress = "
                                  "\"to\"\n[[problem.argument]]\naddress = \"sum\"\n"
                                  "[[problem.argument]]\naddress = \"flag\"\n[run]\nsms = {}\n",
                                  name, ctas, tensor("to", "f32", "zeros"), tensor("flag", "u32", "zeros"),
                                  tensor("sum", "f32", "zeros"), ctas));
  return run_in_child(host::load_scenario(file, {}));
}

const std::string kLoad = "\tbar.warp.sync -1;\n\tld.global.f32 %f1, [%rd4];\n\tst.global.f32 [%rd5], %f1;\n";
const std::string kFlag = "\t@%p st.release.gpu.global.u32 [%rd6], 1;\n";
const std::string kBulkLoad =
    "\t@%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 128;\n"
    "\tadd.u32 %r7, %r2, 128;\n"
    "\t@%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r7], [%rd1], 128, [%r4];\n"
    "WAIT:\tmbarrier.try_wait.parity.shared::cta.b64 %w, [%r4], 0;\n\t@!%w bra WAIT;\n";
const std::string kWait = "\tcp.async.bulk.wait_group 0;\n", kWaitRead = "\tcp.async.bulk.wait_group.read 0;\n";

}  // namespace

TEST_CASE("GM7: a load behind wait_group.read may come before the bulk store it reads") {
  for (const std::string& wait : {std::string(), kWaitRead}) {
    const RunResult broken = run(wait + kLoad);
    INFO(broken.report);
    REQUIRE(broken.findings.size() == 1);
    CHECK(broken.findings[0].id == "GM7");
    CHECK(broken.findings[0].message == "warp 0 reads global memory that a bulk copy of warp 0 may still write");
    CHECK(broken.report.find("missing: cp.async.bulk.wait_group 0 (without .read)") != std::string::npos);
  }
  const RunResult whole = run(kWait + kLoad);
  INFO(whole.report);
  CHECK(whole.findings.empty());
}

TEST_CASE("GM7: a bulk load of what a bulk store writes") {
  const RunResult broken = run(kWaitRead + kBulkLoad);
  INFO(broken.report);
  REQUIRE(broken.findings.size() == 1);
  CHECK(broken.findings[0].id == "GM7");
  const RunResult whole = run(kWait + kBulkLoad);
  INFO(whole.report);
  CHECK(whole.findings.empty());
}

TEST_CASE("GM7: a flag that is released before the store has completed") {
  const RunResult broken = run(kWaitRead + kFlag, 2);
  INFO(broken.report);
  REQUIRE(broken.findings.size() == 1);
  CHECK(broken.findings[0].id == "GM7");
  CHECK(broken.report.find("then its release, and an acquire") != std::string::npos);
  const RunResult whole = run(kWait + kFlag, 2);
  INFO(whole.report);
  CHECK(whole.findings.empty());
}
