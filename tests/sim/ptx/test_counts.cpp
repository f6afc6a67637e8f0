// SPDX-License-Identifier: Apache-2.0
// A phase that misses arrivals: whether the count of the init is too high, somebody has not come, a lane of
// somebody, or somebody has arrived elsewhere.  Three warps of a CTA arrive, the first one waits.
#include <fmt/format.h>

#include <algorithm>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "scratch_directory.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

struct Counted {
  int count = 96;
  int cluster = 1;
  std::string arrive = "\tmbarrier.arrive.shared::cta.b64 _, [%r3];\n";
  std::string before{};  ///< of warps that arrive
  std::string waits = "%r2, 0";
  int n = 1000;  ///< the entry's parameter: the text says nothing of it

  std::string text() const {
    return fmt::format(
        R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry counted(.param .u32 n)
.reqntid 128
.reqnctapercluster {cluster}
{{
	.reg .pred %p<8>;
	.reg .b32 %r<10>;
	.shared .align 8 .b64 bar;
	mov.u32 %r1, %tid.x;
	shr.u32 %r2, %r1, 5;
	mov.u32 %r3, bar;
	mov.u32 %r4, %cluster_ctarank;
	ld.param.u32 %r5, [n];
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra READY;
	mbarrier.init.shared::cta.b64 [%r3], {count};
	fence.mbarrier_init.release.cluster;
READY:
	bar.warp.sync 0xffffffff;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	setp.eq.u32 %p2, %r2, 0;
	@%p2 bra WAITS;
{before}{arrive}	bra END;
WAITS:
	setp.ne.u32 %p3, {waits};
	@%p3 bra END;
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r3], 0;
	@!%p4 bra WAIT;
END:
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	ret;
}}
)",
        fmt::arg("cluster", cluster), fmt::arg("count", count), fmt::arg("before", before),
        fmt::arg("arrive", arrive), fmt::arg("waits", waits));
  }
  std::string line_of(const std::string& part) const {
    const std::string all = text();
    const size_t at = all.find(part);
    REQUIRE(at != std::string::npos);
    return fmt::format("k.ptx:{}", 1 + std::count(all.begin(), all.begin() + long(at), '\n'));
  }
  RunResult run() const {
    ScratchDirectory folder;
    folder.write("k.ptx", text());
    return run_in_child(host::load_scenario(folder.write(
        "k.toml",
        fmt::format("kernel = \"ptx\"\nprofile = \"b200\"\n[problem]\nptx = \"k.ptx\"\ngrid = [{0}, 1, 1]\n"
                    "block = [128, 1, 1]\n[[problem.tensor]]\nname = \"out\"\ntype = \"u32\"\nshape = [32]\n"
                    "contents = \"zeros\"\n[[problem.argument]]\nvalue = {1}\n[run]\nsms = {0}\n",
                    cluster, n))));
  }
};

/// The barrier is that of the cluster's first CTA.
constexpr const char* kArriveAtFirst =
    "\tmapa.shared::cluster.u32 %r6, %r3, 0;\n"
    "\tmbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];\n";
constexpr const char* kFirstWaits = "%r4, 0";

const Finding& hang_of(const RunResult& result) {
  INFO(result.report);
  REQUIRE(result.outcome == Outcome::hang);
  return result.findings.front();
}

}  // namespace

TEST_CASE("A count that all can make up completes") {
  CHECK(Counted{}.run().outcome == Outcome::pass);
  CHECK(Counted{.count = 192, .cluster = 2, .arrive = kArriveAtFirst, .waits = kFirstWaits}.run().outcome ==
        Outcome::pass);
}

TEST_CASE("All that may arrive have come: the count is too high, at its init") {
  for (const int more : {1, 2, 40}) {
    const Counted code{.count = 96 + more};
    const RunResult result = code.run();
    const Finding& hang = hang_of(result);
    INFO(result.report);
    CHECK(hang.cause ==
          fmt::format("bar[0] is initialised for {} arrivals a phase; 96 have come, of warp 1 (warp 1) "
                      "of CTA 0, warp 2 (warp 2) of CTA 0, warp 3 (warp 3) of CTA 0, and nobody else "
                      "arrives on it: the count is {} too high, or an arrival is not in the program",
                      96 + more, more));
    CHECK(hang.fault_location == code.line_of("mbarrier.init"));
    CHECK(hang.fault_role == "warp 0");
    CHECK_THAT(result.report, Catch::Contains(fmt::format("misses {} of {} arrivals; all that may arrive have come",
                                                          more, 96 + more)));
  }
}

TEST_CASE("The same of arrivals from all CTAs of a cluster") {
  const Counted code{.count = 193, .cluster = 2, .arrive = kArriveAtFirst, .waits = kFirstWaits};
  const RunResult result = code.run();
  const Finding& hang = hang_of(result);
  INFO(result.report);
  CHECK_THAT(hang.cause,
             Catch::StartsWith("bar[0] of CTA 0 is initialised for 193 arrivals a phase; 192 have come") &&
                 Catch::Contains("warp 3 (warp 3) of CTAs 0-1") && Catch::Contains("the count is 1 too high"));
  CHECK(hang.fault_location == code.line_of("mbarrier.init"));
}

TEST_CASE("A warp that has not come owes its arrivals, not the count") {
  const RunResult result = Counted{.before = "\tsetp.eq.u32 %p5, %r2, %r5;\n\t@%p5 bra END;\n", .n = 3}.run();
  const Finding& hang = hang_of(result);
  INFO(result.report);
  CHECK_THAT(hang.cause, !Catch::Contains("too high"));
  CHECK(hang.fault_role == "warp 3");
}

TEST_CASE("A lane that has not come is its warp's") {
  const RunResult result =
      Counted{.arrive = "\tsetp.ne.u32 %p5, %r1, %r5;\n\t@%p5 mbarrier.arrive.shared::cta.b64 _, [%r3];\n", .n = 77}
          .run();
  const Finding& hang = hang_of(result);
  INFO(result.report);
  CHECK_THAT(hang.cause, !Catch::Contains("too high"));
  CHECK(hang.fault_role == "warp 2");
  CHECK_THAT(result.report, Catch::Contains("misses 1 of 96 arrivals: mbarrier.arrive of warp 2 (warp 2)"));
}

TEST_CASE("One lane of each warp has come where all should: the count is right") {
  const RunResult result = Counted{.arrive =
                                       "\tand.b32 %r7, %r1, 31;\n\tsetp.eq.u32 %p5, %r7, 0;\n"
                                       "\t@%p5 mbarrier.arrive.shared::cta.b64 _, [%r3];\n"}
                               .run();
  INFO(result.report);
  CHECK_THAT(hang_of(result).cause, !Catch::Contains("too high"));
}

TEST_CASE("An arrival in the text that nobody has come to may be what is missing") {
  const Counted code{.count = 192,
                     .arrive =
                         "\tmbarrier.arrive.shared::cta.b64 _, [%r3];\n\tsetp.lt.u32 %p5, %r5, 5;\n\t@!%p5 bra "
                         "END;\n\tmbarrier.arrive.shared::cta.b64 _, [%r3+0];\n"};
  const RunResult result = code.run();
  const Finding& hang = hang_of(result);
  INFO(result.report);
  CHECK_THAT(hang.cause,
             Catch::Contains(fmt::format("the count is 96 too high, or it misses the arrival at {}, which "
                                         "nobody has come to",
                                         code.line_of("[%r3+0]"))));
}

TEST_CASE("Arrivals at the own CTA's barrier, where nobody waits, are no wrong count") {
  const RunResult result = Counted{.count = 192,
                                   .cluster = 2,
                                   .arrive =
                                       "\tmapa.shared::cluster.u32 %r6, %r3, %r4;\n"
                                       "\tmbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];\n",
                                   .waits = kFirstWaits}
                               .run();
  const Finding& hang = hang_of(result);
  INFO(result.report);
  CHECK_THAT(hang.cause, !Catch::Contains("too high"));
  CHECK(hang.fault_cta == 1);
}

TEST_CASE("Each CTA has its own arrivals: the count is too high, or the other's should come, too") {
  const RunResult result = Counted{.count = 192, .cluster = 2}.run();
  INFO(result.report);
  CHECK_THAT(
      hang_of(result).cause,
      Catch::EndsWith("the count is 96 too high, or arrivals of other CTAs of the cluster should come here, too"));
}

TEST_CASE("A CTA whose arrivals all go to itself has too many, the other too few") {
  const auto both = [](const char* first) {
    return fmt::format(
        "\tmapa.shared::cluster.u32 %r6, %r3, {};\n\tmapa.shared::cluster.u32 %r7, %r3, 1;\n"
        "\tmbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];\n"
        "\tmbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r7];\n",
        first);
  };
  CHECK(Counted{.count = 192, .cluster = 2, .arrive = both("0")}.run().outcome == Outcome::pass);
  const RunResult result = Counted{.count = 192, .cluster = 2, .arrive = both("%r4")}.run();
  const Finding& hang = hang_of(result);
  INFO(result.report);
  CHECK_THAT(hang.cause,
             Catch::Contains("of CTA 1 has arrived on bar[0] of its own CTA twice and not on that of CTA 0"));
  CHECK(hang.fault_cta == 1);
}
