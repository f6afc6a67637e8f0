// SPDX-License-Identifier: Apache-2.0
// What a hang report says when another CTA of the cluster is to blame.
#include <regex>

#include "catch.h"
#include "sim/clusters.h"
#include "sim/hang_report.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// The hang report with this file's line numbers made N.
std::string hang_text(const Device& device) {
  const HangReport hang = explain_hang(device.slots(), models::now(), 0, "replay");
  return std::regex_replace(hang.text, std::regex("cpp:[0-9]+"), "cpp:N");
}
}  // namespace

TEST_CASE("a wait that another CTA should have ended: the hang report names that CTA", "[cluster][report]") {
  Clusters c(2, 2, 2);
  c.kernel.barriers.push_back({"input_empty", {kBar}, 1, 2, "mma", "mbarrier.arrive", "load"});
  // The MMA warps of both CTAs release CTA 0's stage; that of CTA 1 forgets to in the second round.
  c.program = [&](SimIsa& isa) {
    if (isa.warpid() == 0) init_barrier(isa, 2);
    cluster_sync(isa);
    const uint32_t rank = isa.cluster_ctarank();
    if (isa.warpid() == 1)
      for (int round = 0; round < 2; ++round) {
        isa.for_each_lane(1000, [](int) {});
        if (rank == 0 || round == 0)
          isa.elected([&] { isa.mbarrier_arrive(isa.mapa(own(isa, kBar), 0), Scope::cluster); });
      }
    if (isa.warpid() == 0 && rank == 0)
      for (uint32_t round = 0; round < 3; ++round)
        isa.mbarrier_try_wait_parity(own(isa, kBar), (round & 1) ^ 1, Scope::cluster);
    cluster_sync(isa);  // nobody leaves before CTA 0 is through
  };
  c.run();
  CHECK(c.violation() == "");
  CHECK(hang_text(*c.device) == R"(HANG at cycle 4,280: 4 warps of CTAs 0-1 can never wake
  load (warp 0) of CTA 0 waits for input_empty[0] parity 1 since cycle 3,452  test_cluster_hangs.cpp:N
     phase 1 misses 1 of 2 arrivals: mbarrier.arrive of mma (warp 1) of CTA 1
  likely cause: mma of CTA 1 has gone on without its mbarrier.arrive on input_empty[0] of CTA 0
  at fault: mma (warp 1) of CTA 1  test_cluster_hangs.cpp:N; it waits for cluster barrier at test_cluster_hangs.cpp:N
  the others:
    mma (warp 1) of CTAs 0-1       waits for cluster barrier            test_cluster_hangs.cpp:N
        misses load (warp 0) of CTA 0
    load (warp 0) of CTA 1         waits for cluster barrier            test_cluster_hangs.cpp:N
        misses load (warp 0) of CTA 0
  last events of input_empty[0] of CTA 0:
    phase 0: 1 arrival at cycle 3,244 by mma (warp 1)  test_cluster_hangs.cpp:N
    phase 0: 1 arrival at cycle 3,364 by mma (warp 1) of CTA 1  test_cluster_hangs.cpp:N
    phase 0: completed at cycle 3,364
    phase 1: 1 arrival at cycle 4,260 by mma (warp 1)  test_cluster_hangs.cpp:N
  replay: replay
)");
}

TEST_CASE("a cluster barrier that another CTA never reaches: the report shows what keeps that CTA",
          "[cluster][report]") {
  Clusters c(2, 2, 2);
  c.program = [&](SimIsa& isa) {
    if (isa.cluster_ctarank() == 1 && isa.warpid() == 1) isa.bar_sync(1, 64);
    cluster_sync(isa);
  };
  c.run();
  CHECK(hang_text(*c.device) == R"(HANG at cycle 1,876: 4 warps of CTAs 0-1 can never wake
  mma (warp 1) of CTA 1 waits for named barrier 1 since cycle 1,866  test_cluster_hangs.cpp:N
     misses 32 of 64 threads: load (warp 0) of CTA 1
  likely cause: these wait for each other: mma of CTA 1 -> named barrier 1 -> load of CTA 1 -> cluster barrier -> mma of CTA 1
  at fault: load (warp 0) of CTA 1; it waits for cluster barrier at test_cluster_hangs.cpp:N
  the others:
    load (warp 0) of CTAs 0-1      waits for cluster barrier            test_cluster_hangs.cpp:N
        misses mma (warp 1) of CTA 1
    mma (warp 1) of CTA 0          waits for cluster barrier            test_cluster_hangs.cpp:N
        misses mma (warp 1) of CTA 1
  replay: replay
)");
}

TEST_CASE("a CTA that exited without its arrival is named as exited", "[cluster][report]") {
  Clusters c(4, 2, 1, 4);
  c.kernel.barriers.push_back({"done", {kBar}, 1, 64, "load", "mbarrier.arrive", "load"});
  c.program = [&](SimIsa& isa) {
    init_barrier(isa, 64);
    cluster_sync(isa);
    const uint32_t rank = isa.cluster_ctarank();
    // Cluster 0 keeps the protocol; in cluster 1 the second CTA's lanes arrive but 31 of them.
    const int lanes = isa.ctaid().x == 3 ? 1 : 32;
    isa.lanes_below(lanes, [&] { isa.mbarrier_arrive(isa.mapa(own(isa, kBar), 0), Scope::cluster); });
    if (rank == 0) isa.mbarrier_try_wait_parity(own(isa, kBar), 0, Scope::cluster);
  };
  c.run();
  CHECK(c.exits.size() == 3);
  CHECK(hang_text(*c.device) == R"(HANG at cycle 2,385: 1 of 1 warps of CTA 2 can never wake
  load (warp 0) of CTA 2 waits for done[0] parity 0 since cycle 2,305  test_cluster_hangs.cpp:N
     phase 0 misses 31 of 64 arrivals: mbarrier.arrive of load (warp 0) of CTA 3 (exited)
  likely cause: load of CTA 3 has exited without its mbarrier.arrive on done[0] of CTA 2
  at fault: load (warp 0) of CTA 3  test_cluster_hangs.cpp:N; it has exited
  last events of done[0] of CTA 2:
    phase 0: 32 arrivals at cycle 2,241 by load (warp 0)  test_cluster_hangs.cpp:N
    phase 0: 1 arrival at cycle 2,361 by load (warp 0) of CTA 3  test_cluster_hangs.cpp:N
  replay: replay
)");
}

TEST_CASE("an arrival of another CTA's warp does not stand in for the own one that is missing",
          "[cluster][report]") {
  Clusters c(2, 2, 2);
  constexpr uint32_t kFull = kBar, kEmpty = kBar + 8;
  c.kernel.barriers.push_back({"input_full", {kFull}, 1, 1, "load", "mbarrier.arrive", "mma"});
  c.kernel.barriers.push_back({"input_empty", {kEmpty}, 1, 2, "mma", "mbarrier.arrive", "load"});
  // Both MMA warps read CTA 0's stage; its own exits without the second release.
  c.program = [&](SimIsa& isa) {
    const bool first = isa.cluster_ctarank() == 0, load = isa.warpid() == 0;
    if (load) init_barrier(isa, 1, kFull), init_barrier(isa, 2, kEmpty);
    cluster_sync(isa);
    for (uint32_t round = 0; first && load && round < 3; ++round) {
      isa.mbarrier_try_wait_parity(own(isa, kEmpty), (round & 1) ^ 1, Scope::cluster);
      isa.elected([&] { isa.mbarrier_arrive(own(isa, kFull), Scope::cta); });
    }
    for (uint32_t round = 0; !load && round < 2; ++round) {
      if (first) isa.mbarrier_try_wait_parity(own(isa, kFull), round, Scope::cluster);
      if (!first) isa.for_each_lane(3000, [](int) {});
      if (!first || round == 0)
        isa.elected([&] { isa.mbarrier_arrive(isa.mapa(own(isa, kEmpty), 0), Scope::cluster); });
    }
    if (load || !first) cluster_sync(isa);
  };
  c.run();
  const std::string text = hang_text(*c.device);
  INFO(text);
  CHECK_THAT(text, Catch::Contains("misses 1 of 2 arrivals: mbarrier.arrive of mma (warp 1) of CTA 0 (exited)\n"));
  CHECK_THAT(text, Catch::Contains("likely cause: mma of CTA 0 has exited without its mbarrier.arrive on "
                                   "input_empty[0] of CTA 0\n"));
}

TEST_CASE("KB-40: a load warp that fetches before it signals the throttle: the report prints the cycle",
          "[report]") {
  Clusters c(1, 1, 2);
  constexpr uint32_t kResponse = kBar, kThrottle = kBar + 8;
  c.kernel.roles[1] = "scheduler";
  c.kernel.barriers.push_back({"clc_full", {kResponse}, 1, 1, "scheduler", "mbarrier.arrive.expect_tx", "load"});
  c.kernel.barriers.push_back({"throttle_full", {kThrottle}, 1, 32, "load", "mbarrier.arrive", "scheduler"});
  c.program = [&](SimIsa& isa) {
    if (isa.warpid() == 0) init_barrier(isa, 1, kResponse), init_barrier(isa, 32, kThrottle);
    cluster_sync(isa);
    if (isa.warpid() == 0) {
      isa.mbarrier_try_wait_parity(own(isa, kResponse), 0, Scope::cta);
      isa.mbarrier_arrive(own(isa, kThrottle), Scope::cta);
    } else {
      isa.mbarrier_try_wait_parity(own(isa, kThrottle), 0, Scope::cta);
      isa.elected([&] { isa.mbarrier_arrive(own(isa, kResponse), Scope::cta); });
    }
  };
  c.run();
  CHECK_THAT(hang_text(*c.device),
             Catch::Contains("likely cause: these wait for each other: load -> clc_full[0] -> "
                             "scheduler -> throttle_full[0] -> load\n"));
}

TEST_CASE("KB-05: a pair's arrival that goes to the own CTA's barrier: the report says where it went", "[report]") {
  Clusters c(2, 2, 2);
  c.kernel.barriers.push_back({"done_full", {kBar}, 1, 64, "mma", "mbarrier.arrive", "load"});
  c.kernel.barriers.push_back({"done_empty", {kBar + 8}, 1, 1, "load", "mbarrier.arrive", "mma"});
  c.program = [&](SimIsa& isa) {
    if (isa.warpid() == 0) init_barrier(isa, 64), init_barrier(isa, 1, kBar + 8);
    cluster_sync(isa);
    const bool leads = isa.cluster_ctarank() == 0;
    for (uint32_t round = 0; isa.warpid() == 1 && round < 2; ++round) {
      isa.mbarrier_try_wait_parity(own(isa, kBar + 8), round ^ 1, Scope::cluster);
      isa.mbarrier_arrive(own(isa, kBar), Scope::cluster);  // CTA 1 should map it to CTA 0
    }
    if (isa.warpid() == 0 && leads) isa.mbarrier_try_wait_parity(own(isa, kBar), 0, Scope::cluster);
    cluster_sync(isa);
  };
  c.run();
  CHECK_THAT(hang_text(*c.device),
             Catch::Contains("likely cause: mma of CTA 1 arrives on done_full[0] of its own CTA, "
                             "where nobody waits; CTA 0 waits for it\n"));
}

namespace {

/// Each CTA of a cluster arms its barrier for a row of itself and of each other, and multicasts one with this mask.
HangReport hang_of_multicast(uint32_t ctas, const std::function<uint16_t(uint32_t rank)>& mask) {
  Clusters c(ctas, ctas, 2);
  c.kernel.barriers.push_back({"input_full", {kBar}, 1, 1, "load", "mbarrier.arrive.expect_tx", "mma"});
  TensorMap map;
  c.before = [&] { map = row_of_words(c.device->gpu.memory().allocate("row", 128, true)); };
  c.program = [&](SimIsa& isa) {
    if (isa.warpid() == 0) init_barrier(isa, 1);
    cluster_sync(isa);
    const uint32_t rank = isa.cluster_ctarank();
    if (isa.warpid() == 0)
      isa.elected([&] {
        isa.mbarrier_arrive_expect_tx(own(isa, kBar), 128 * ctas, Scope::cta);
        isa.cp_async_bulk_tensor_shared_global_multicast(own(isa, kData + 128 * rank), &map, TensorCoords{0},
                                                         own(isa, kBar), CtaMask{mask(rank)});
      });
    if (isa.warpid() == 1) isa.mbarrier_try_wait_parity(own(isa, kBar), 0, Scope::cluster);
    cluster_sync(isa);
  };
  c.run();
  CHECK(c.violation() == "");
  return explain_hang(c.device->slots(), models::now(), 0, "replay");
}

}  // namespace

TEST_CASE("a CTA that is in no mask of its cluster's multicasts misses no copy: the masks are to blame",
          "[cluster][report]") {
  const HangReport hang = hang_of_multicast(2, [](uint32_t) { return uint16_t{0b10}; });
  CAPTURE(hang.text);
  CHECK_THAT(hang.finding.cause,
             Catch::Contains("have reached rank 1 of the cluster's 2 alone: their masks leave out "
                             "CTA 0, rank 0, which misses 256 bytes"));
}

TEST_CASE("multicasts that each leave out the CTA that issues them: the mask is to blame", "[cluster][report]") {
  const HangReport hang = hang_of_multicast(2, [](uint32_t rank) { return uint16_t(1u << (rank ^ 1)); });
  CAPTURE(hang.text);
  CHECK_THAT(hang.finding.cause, Catch::Contains("leaves out the CTA that issues it, in each CTA of the cluster") &&
                                     Catch::Contains("its mask is wrong, and 128 bytes are missing"));
}

TEST_CASE("commits whose masks name their own CTA alone: the mask is to blame, and perhaps the count",
          "[cluster][report]") {
  Clusters c(4, 4, 2);
  c.kernel.barriers.push_back({"input_empty", {kBar}, 1, 3, "mma", "tcgen05.commit", "load"});
  c.program = [&](SimIsa& isa) {
    if (isa.warpid() == 0) init_barrier(isa, 3);
    cluster_sync(isa);
    if (isa.warpid() == 1)
      isa.elected(
          [&] { isa.tcgen05_commit_multicast(1, own(isa, kBar), CtaMask{uint16_t(1u << isa.cluster_ctarank())}); });
    if (isa.warpid() == 0) isa.mbarrier_try_wait_parity(own(isa, kBar), 0, Scope::cluster);
    cluster_sync(isa);
  };
  c.run();
  CHECK(c.violation() == "");
  const HangReport hang = explain_hang(c.device->slots(), models::now(), 0, "replay");
  CAPTURE(hang.text);
  CHECK_THAT(hang.finding.cause,
             Catch::Contains("input_empty[0] lacks arrivals of tcgen05.commit, 2 of them: each commit to it "
                             "by a mask has reached its own CTA alone, of the 4 CTAs"));
  CHECK(hang.finding.fault_role == "mma");
}
