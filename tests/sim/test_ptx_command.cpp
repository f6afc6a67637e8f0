// SPDX-License-Identifier: Apache-2.0
// sm100sim ptx --check as a user runs it.

#include <fstream>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "sim/program.h"

namespace sm100::sim {
namespace {

using nlohmann::json;

const char* kKernel = R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry good(.param .u64 a)
{
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
.shared .align 8 .b8 bar[8];
mov.u32 %r1, bar;
W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
@!%p1 bra W;
fence.proxy.async.shared::cta;
ret;
}
.visible .entry bad()
{
.reg .b32 %r<8>;
.loc 1 143 5
frobnicate.b32 %r1, %r2;
frobnicate.b32 %r1, %r2;
txq.width.b32 %r1, %r2;
ret;
}
.file 1 "/src/gemm.cu"
)";

void write(const ScratchDirectory& scratch, const char* name, const std::string& text) {
  std::ofstream(scratch / name) << text;
}

}  // namespace

TEST_CASE("ptx --check: each entry, and the lines of what is not implemented", "[ptx]") {
  ScratchDirectory scratch;
  write(scratch, "k.ptx", kKernel);
  const Ran ran = run(scratch, "ptx --check k.ptx");
  CHECK(ran.err.empty());
  CHECK(ran.exit_code == 0);
  CHECK(ran.out ==
        "good\n  5 instructions, 5 forms, 1 waits for mbarriers, 0 for memory\n"
        "bad\n  4 instructions, 3 forms, 0 waits for mbarriers, 0 for memory\n"
        "  not implemented: frobnicate.b32 at gemm.cu:143 (k.ptx:18), 2 times: no such form of 'frobnicate' is "
        "known\n"
        "  not implemented: txq.width.b32 at gemm.cu:143 (k.ptx:20), 1 time: no such instruction on the "
        "models\n"
        "1 of 2 entries can be looked at in full\n");
}

TEST_CASE("ptx --check: JSON, and one entry alone", "[ptx]") {
  ScratchDirectory scratch;
  write(scratch, "k.ptx", kKernel);
  const Ran ran = run(scratch, "ptx --check k.ptx --entry good --json -");
  REQUIRE(ran.exit_code == 0);
  const json j = json::parse(ran.out);
  CHECK(j["schema"] == "sm100sim.ptx-check");
  REQUIRE(j["entries"].size() == 1);
  CHECK(j["entries"][0]["complete"] == true);
  CHECK(j["entries"][0]["static_shared_bytes"] == 8);
  CHECK(j["entries"][0]["kinds"]["service"] == 2);
}

TEST_CASE("ptx --check: bad input is one line", "[ptx]") {
  ScratchDirectory scratch;
  write(scratch, "k.ptx", kKernel);
  write(scratch, "broken.ptx", ".version 9.0\n.entry k() {\n mov.u32 %r1, 5;\n}\n");
  const auto error = [&](const std::string& arguments) {
    const Ran ran = run(scratch, arguments);
    CHECK(ran.exit_code == 2);
    CHECK(ran.out.empty());
    return ran.err;
  };
  CHECK(error("ptx --check broken.ptx") == "broken.ptx:3:10: '%r1' is not declared in reach\n");
  CHECK(error("ptx --check k.ptx --entry x") == "k.ptx: there is no entry whose name is 'x' or has it\n");
  CHECK(error("ptx --check none.ptx") == "none.ptx: cannot be read\n");
}

TEST_CASE("A launch without a check is not called verified", "[ptx]") {
  ScratchDirectory scratch;
  write(scratch, "k.ptx",
        ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry nothing()\n.reqntid 32\n{\nret;\n}\n");
  write(scratch, "k.toml",
        "kernel = \"ptx\"\nprofile = \"b200\"\n[problem]\nptx = \"k.ptx\"\ngrid = [1, 1, 1]\n"
        "[[problem.tensor]]\nname = \"out\"\ntype = \"u32\"\nshape = [32]\ncontents = \"random\"\n");
  const Ran ran = run(scratch, "run k.toml --json r.json");
  INFO(ran.out << ran.err);
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Catch::Contains("verified     no (there is nothing to compare the output with)"));
  CHECK(json::parse(read_whole(scratch / "r.json"))["verified"].is_null());
}

}  // namespace sm100::sim
