// SPDX-License-Identifier: Apache-2.0
// Remote arrives, exits and the cluster barrier (PTX 9.7.13.15, barrier.cluster).
#include "models/cluster_net.h"

#include "catch.h"
#include "models/cluster_bench.h"

using namespace sm100;
using namespace sm100::models;

TEST_CASE("ranks count from the cluster's first SM", "[cluster]") {
  ClusterBench b(6, 3);
  CHECK(b.net.rank(2) == 2);
  CHECK(b.net.rank(4) == 1);
  CHECK(b.net.ctas(4) == 3);
}

TEST_CASE("a remote arrive takes effect the profile's cycles later, an own one at once", "[cluster][timing]") {
  ClusterBench b(4, 4);
  Stimulus arrives([&] {
    models::wait(100);
    b.net.arrive(1, b.bar(3), 1, {});
    b.net.arrive(1, b.bar(1), 1, {});
    CHECK(b.nodes[1]->state().phase == 1);
    CHECK(b.nodes[3]->state().phase == 0);
    b.net.arrive_expect_tx(1, b.bar(0), 4096, {});
  });
  sc_core::sc_start();
  CHECK(b.nodes[3]->state().phase == 1);
  CHECK(b.nodes[0]->state().phase == 0);  // 4096 bytes are open
  CHECK(b.nodes[0]->state().expected_bytes == 4096);
  CHECK(b.nodes[2]->state().phase == 0);
  for (const MbarrierEvent& e : b.observer.events)
    if (e.kind != MbarrierEventKind::init && e.slot != 1) CHECK(e.time == 100 + 120);
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("jitter delays remote arrives, and one warp's arrives on one CTA stay in order", "[cluster]") {
  ClusterBench b(2, 2, 1, 7);
  constexpr uint32_t kWide = ClusterBench::kBar + 8;
  b.nodes[1]->barrier.init(kWide, 20, {});
  b.observer.events.clear();
  for (uint32_t bytes = 1; bytes <= 20; ++bytes)
    b.net.arrive_expect_tx(0, {1u << kClusterRankShift | kWide}, bytes, {.warp = 3});
  sc_core::sc_start();
  REQUIRE(b.observer.events.size() == 20);
  for (uint32_t i = 0; i < 20; ++i) CHECK(b.observer.events[i].amount == i + 1);
  CHECK(b.observer.events.front().time >= 120);
  CHECK(b.observer.events.back().time > 120);
  CHECK(b.observer.events.back().time <= 120 + Cycles(b.profile.jitter.async_cycles));
}

TEST_CASE("MB12: an arrive that is on its way when its target exits, with the line of its source", "[cluster]") {
  ClusterBench b(2, 2);
  Source source{.warp = 5, .cta = 0};
  b.net.arrive(0, b.bar(1), 1, source);
  Stimulus exit([&] {
    models::wait(119);
    b.net.cta_exited(1);
  });
  sc_core::sc_start();
  REQUIRE(b.observer.violation_id() == "MB12");
  CHECK(b.observer.violations[0].source.warp == 5);
  CHECK(b.observer.violations[0].time == 120);
  CHECK(b.observer.violations[0].message ==
        "mbarrier.arrive reaches CTA rank 1 of the cluster, shared address 0x400, after that CTA has exited");
  CHECK(b.nodes[1]->state().phase == 0);
}

TEST_CASE("MB12 also when the SM runs another cluster by then, whose barrier stays untouched", "[cluster]") {
  ClusterBench b(2, 2);
  b.net.arrive(0, b.bar(1), 1, {});
  Stimulus exit([&] {
    models::wait(10);
    b.net.cta_exited(1);
    b.net.start_cluster({1}, 1);
  });
  sc_core::sc_start();
  CHECK(b.observer.violation_id() == "MB12");
  CHECK(b.nodes[1]->state().phase == 0);
}

TEST_CASE("CR1: an address with the rank of no CTA of the cluster", "[cluster]") {
  ClusterBench b(4, 2);
  b.net.arrive(0, b.bar(2), 1, {});
  REQUIRE(b.observer.violation_id() == "CR1");
  CHECK(b.observer.violations[0].message == "mbarrier.arrive at 0x02000400: CTA rank 2 in a cluster of 2");
}

TEST_CASE("the cluster barrier of one CTA waits for warps that have not exited", "[cluster]") {
  ClusterBench b(1, 1, 3);
  Waiter w;
  const uint64_t phase = b.net.barrier_arrive(0, 0, {});
  CHECK_FALSE(b.net.barrier_wait(0, phase, w));
  b.net.barrier_arrive(0, 1, {});
  CHECK(b.net.barrier_misses(0) == std::vector<std::pair<uint32_t, int>>{{0, 2}});
  b.net.warp_exited(0, 2);  // the third warp returned without arriving: it is not waited for
  sc_core::sc_start();
  CHECK(sc_core::sc_time_stamp().value() == Cycles(b.profile.cluster.barrier_cycles));
  CHECK(b.net.barrier_wait(0, phase, w));
}

TEST_CASE("a warp that arrives at the cluster barrier and exits stands in for nobody else", "[cluster]") {
  ClusterBench b(1, 1, 3);
  Waiter w;
  const uint64_t phase = b.net.barrier_arrive(0, 0, {});
  b.net.warp_exited(0, 0);
  b.net.barrier_arrive(0, 1, {});
  CHECK_FALSE(b.net.barrier_wait(0, phase, w));  // warp 2 has not come
  b.net.barrier_arrive(0, 2, {});
  sc_core::sc_start();
  CHECK(b.net.barrier_wait(0, phase, w));
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("CB1: one warp arrives twice in a phase of the cluster barrier", "[cluster]") {
  ClusterBench b(2, 2);
  b.net.barrier_arrive(0, 0, {});
  b.net.barrier_arrive(0, 0, {});
  CHECK(b.observer.violation_id() == "CB1");
}

TEST_CASE("the cluster barrier of several CTAs opens barrier_cycles after the last warp of all of them",
          "[cluster][timing]") {
  ClusterBench b(3, 3, 2);
  Waiter w;
  Cycles woken = 0;
  Stimulus waits([&] {
    const uint64_t phase = b.net.barrier_arrive(0, 0, {});
    if (!b.net.barrier_wait(0, phase, w)) models::wait(w.wake);
    woken = now();
    CHECK(b.net.barrier_arrive(0, 0, {}) == phase + 1);  // the next phase begins
  });
  Stimulus others([&] {
    models::wait(50);
    b.net.barrier_arrive(0, 1, {});
    b.net.barrier_arrive(1, 0, {});
    b.net.warp_exited(1, 1);
    b.net.warp_exited(2, 0);
    CHECK(b.net.barrier_misses(0) == std::vector<std::pair<uint32_t, int>>{{2, 1}});
    models::wait(250);
    b.net.barrier_arrive(2, 1, {});
  });
  sc_core::sc_start();
  CHECK(woken == 300 + 350);
  CHECK(b.observer.violation_id() == "");
}
