// SPDX-License-Identifier: Apache-2.0
// SM4: loads of shared memory that nobody has written, as in a kernel that multiplies zeros by factors which it has
// not loaded.
#include <fmt/format.h>

#include "catch.h"
#include "scratch_directory.h"
#include "sim/child_process.h"
#include "sim/scenario_files.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// Each lane adds its input to zero times its word.
constexpr const char* kMultiplied = R"(	ld.shared.f32 %f1, [%r2];
	ld.global.f32 %f2, [%rd4];
	fma.rn.f32 %f3, %f1, 0f00000000, %f2;
	st.global.f32 [%rd5], %f3;
)";
/// One lane has the copy engine store all words.
constexpr const char* kStored = R"(	mov.u32 %r3, factors;
	fence.proxy.async.shared::cta;
	bar.warp.sync -1;
	setp.eq.u32 %p, %r1, 0;
	@%p cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r3], 128;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
)";

/// A lane stores its word of shared memory, if it is below `stored`; then follows `use`.
RunResult run(int stored, bool checked, const std::string& data = "full", const char* use = kMultiplied) {
  static const ScratchDirectory directory;
  static int number = 0;
  const std::string name = fmt::format("unwritten{}", number++);
  directory.write(name + ".ptx", fmt::format(R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry scaled(.param .u64 from, .param .u64 to) {{
	.shared .align 4 .b8 factors[128];
	.reg .b32 %r<6>; .reg .f32 %f<5>; .reg .b64 %rd<6>; .reg .pred %p;
	ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to];
	mov.u32 %r1, %tid.x; mov.u32 %r2, factors; mad.lo.u32 %r2, %r1, 4, %r2;
	mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
	setp.lt.u32 %p, %r1, {};
	@%p st.shared.u32 [%r2], 0xffffffff;
	@%p st.shared.f32 [%r2], 0f3F800000;
	bar.warp.sync -1;
{}	ret;
}}
)",
                                             stored, use));
  const auto tensor = [](const char* tensor_name, const char* contents) {
    return fmt::format("[[problem.tensor]]\nname = \"{}\"\ntype = \"f32\"\nshape = [32]\ncontents = \"{}\"\n",
                       tensor_name, contents);
  };
  const auto file = directory.write(
      name + ".toml", fmt::format("kernel = \"ptx\"\nprofile = \"b200\"\n[problem]\nptx = \"{}.ptx\"\nentry = "
                                  "\"scaled\"\ngrid = [1, 1, 1]\n"
                                  "block = [32, 1, 1]\n{}{}[[problem.argument]]\naddress = "
                                  "\"ones\"\n[[problem.argument]]\naddress = \"sum\"\n{}"
                                  "[run]\nsms = 1\ndata = \"{}\"\n",
                                  name, tensor("ones", "ones"), tensor("sum", "unwritten"),
                                  checked ? "[problem.check]\nreference = [\"ones\", \"sum\"]\n" : "", data));
  return run_in_child(host::load_scenario(file, {}));
}

}  // namespace

TEST_CASE("SM4: a load of shared memory that nobody has written is a finding where the output is NaN") {
  const RunResult broken = run(16, true);
  INFO(broken.report);
  REQUIRE(broken.findings.size() == 1);
  CHECK(broken.findings[0].id == "SM4");
  CHECK(broken.findings[0].message.find(
            "loads shared memory that nobody has written since the CTA's start: 4 bytes at") != std::string::npos);
  CHECK(broken.findings[0].location.find(".ptx:14") != std::string::npos);
}

TEST_CASE("what somebody has written is no SM4, whatever was there before") {
  const RunResult sound = run(32, true);
  INFO(sound.report);
  CHECK(sound.outcome == Outcome::pass);
  CHECK(sound.findings.empty());
  CHECK(sound.warnings.empty());
}

TEST_CASE("a run whose output nobody compares lists what it has read that nobody had written") {
  const RunResult open = run(16, false);
  INFO(open.report);
  CHECK(open.findings.empty());
  REQUIRE(open.suspects.size() == 1);
  CHECK(open.suspects[0].starts_with("SM4: "));
  CHECK(run(32, false).suspects.empty());
}

TEST_CASE("SM4: what the copy engine stores that nobody has written") {
  const RunResult broken = run(24, true, "full", kStored);
  INFO(broken.report);
  REQUIRE(broken.findings.size() == 1);
  CHECK(broken.findings[0].id == "SM4");
  CHECK(broken.findings[0].message.find("a bulk copy of ") != std::string::npos);
  CHECK(broken.findings[0].message.find("32 of the 128 bytes") != std::string::npos);
  const RunResult sound = run(32, true, "full", kStored);
  INFO(sound.report);
  CHECK(sound.outcome == Outcome::pass);
  CHECK(sound.warnings.empty());
  // Atomics write, too.
  const std::string with_atomics = std::string("\t@!%p atom.shared.exch.b32 %r4, [%r2], 0x3f800000;\n") + kStored;
  const RunResult atomics = run(24, true, "full", with_atomics.c_str());
  INFO(atomics.report);
  CHECK(atomics.outcome == Outcome::pass);
  CHECK(atomics.warnings.empty());
  CHECK(run(24, false, "full", with_atomics.c_str()).suspects.empty());
  // Without data nobody knows what threads have written.
  CHECK(run(24, false, "none", kStored).suspects.empty());
}
