// SPDX-License-Identifier: Apache-2.0
// Warp programs in clusters of several CTAs: addresses with ranks, remote arrives, the cluster barrier, multicast,
// exits.
#include "catch.h"
#include "sim/clusters.h"

using namespace sm100;
using namespace sm100::sim;
using models::Cycles;

TEST_CASE("an address carries its CTA's rank, and mapa changes the rank alone", "[cluster]") {
  Clusters c(4, 4);
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> seen;
  c.program = [&](SimIsa& isa) {
    seen[isa.ctaid().x] = {isa.dynamic_smem().value, isa.mapa(own(isa, 0x420), 2).value};
  };
  c.run();
  for (uint32_t r = 0; r < 4; ++r) CHECK(seen[r] == std::pair{r << 24 | 0x400, 0x02000420u});
  CHECK(c.violation() == "");
}

TEST_CASE("a remote arrive wakes a waiter of another CTA after the path and the wake-up", "[cluster][timing]") {
  Clusters c(2, 2);
  Cycles arrived = 0, woken = 0;
  c.program = [&](SimIsa& isa) {
    init_barrier(isa, 1);
    cluster_sync(isa);
    if (isa.cluster_ctarank() == 0) {
      isa.elected([&] {
        isa.mbarrier_arrive(isa.mapa(own(isa, kBar), 1), Scope::cluster);
        arrived = models::now();
      });
    } else {
      isa.mbarrier_try_wait_parity(own(isa, kBar), 0, Scope::cluster);
      woken = models::now();
    }
  };
  c.run();
  CHECK(c.violation() == "");
  CHECK(woken == arrived + 120 + 24);
  CHECK(c.exits[0] < arrived + 120);  // fire and forget: the arriving warp has gone on, and out
}

TEST_CASE("lanes arrive each on its own CTA's barrier, once", "[cluster]") {
  Clusters c(4, 4);
  c.program = [&](SimIsa& isa) {
    init_barrier(isa, 4);
    cluster_sync(isa);
    isa.lanes_below(4, [&] { isa.mbarrier_arrive(isa.mapa(own(isa, kBar), isa.laneid()), Scope::cluster); });
    isa.mbarrier_try_wait_parity(own(isa, kBar), 0, Scope::cluster);
  };
  c.run();
  CHECK(c.violation() == "");
  CHECK(c.exits.size() == 4);
}

TEST_CASE("one CTA arms every CTA's barrier and multicasts to all but itself", "[cluster]") {
  Clusters c(3, 3);
  GlobalAddr memory;
  TensorMap map;
  c.before = [&] {
    memory = c.device->gpu.memory().allocate("row", 128, true);
    *reinterpret_cast<uint32_t*>(c.device->gpu.memory().data(memory, 4)) = 4711;
    map = row_of_words(memory);
  };
  std::map<uint32_t, uint32_t> read;
  c.program = [&](SimIsa& isa) {
    init_barrier(isa, 1);
    cluster_sync(isa);
    if (isa.cluster_ctarank() == 1) {
      isa.lanes_below(
          3, [&] { isa.mbarrier_arrive_expect_tx(isa.mapa(own(isa, kBar), isa.laneid()), 128, Scope::cluster); });
      isa.elected([&] {
        isa.cp_async_bulk_tensor_shared_global_multicast(own(isa, kData), &map, TensorCoords{0}, own(isa, kBar),
                                                         CtaMask{0b101});
        isa.cp_async_bulk_tensor_shared_global(own(isa, kData + 128), &map, TensorCoords{0}, own(isa, kBar));
      });
    }
    isa.mbarrier_try_wait_parity(own(isa, kBar), 0, Scope::cluster);
    read[isa.cluster_ctarank()] = isa.ld_shared_u32(own(isa, kData));
    cluster_sync(isa);
  };
  c.run();
  CHECK(c.violation() == "");
  CHECK(read == std::map<uint32_t, uint32_t>{{0, 4711}, {1, 0xffffffff}, {2, 4711}});
}

TEST_CASE("the cluster barrier opens 350 cycles after its last arrival, and exited warps are not waited for",
          "[cluster][timing]") {
  Clusters c(3, 3, 2);
  Cycles last = 0;
  std::vector<Cycles> woken;
  c.program = [&](SimIsa& isa) {
    if (isa.cluster_ctarank() == 2 && isa.warpid() == 1) return;
    if (isa.cluster_ctarank() == 1) isa.for_each_lane(700, [](int) {});
    isa.barrier_cluster_arrive();
    last = std::max(last, models::now());
    isa.barrier_cluster_wait();
    woken.push_back(models::now());
  };
  c.run();
  CHECK(c.violation() == "");
  CHECK(woken == std::vector<Cycles>(5, last + 350));
}

TEST_CASE("clusters run in waves, whole clusters inside a GPC", "[cluster]") {
  Clusters c(16, 4, 1, 10);  // 10 SMs in one GPC: two clusters at a time
  std::map<uint32_t, uint32_t> ranks;
  c.program = [&](SimIsa& isa) {
    cluster_sync(isa);
    isa.for_each_lane(1000, [](int) {});
    ranks[isa.ctaid().x] = isa.cluster_ctarank();
  };
  c.run();
  CHECK(c.exits.size() == 16);
  for (const auto& [cta, rank] : ranks) CHECK(rank == cta % 4);
  CHECK(c.exits[7] < c.exits[8]);
  CHECK(c.device->gpu.ctas_running() == 0);
  CHECK(c.device->slots()[8]->linear_id() == -1);
}

TEST_CASE("MB12: a remote arrive that reaches a CTA after its exit names the arriving line", "[cluster]") {
  Clusters c(2, 2, 2);
  uint32_t line = 0;
  c.kernel.barriers.push_back({"empty", {kBar}, 1, 1, "mma", "mbarrier.arrive", "load"});
  c.program = [&](SimIsa& isa) {
    if (isa.warpid() == 0) init_barrier(isa, 1);
    cluster_sync(isa);
    if (isa.cluster_ctarank() == 0 && isa.warpid() == 1)
      isa.elected([&] {
        const ClusterSmemAddr peer = isa.mapa(own(isa, kBar), 1);
        line = Loc::current().line() + 1;
        isa.mbarrier_arrive(peer, Scope::cluster);
      });
  };
  c.run();
  REQUIRE(c.violation() == "MB12");
  CHECK(c.finding().source.warp == 1);
  CHECK(c.finding().source.cta == 0);
  CHECK(c.finding().source.loc.line() == line);
}

namespace {
/// CTA `asking` of two multicasts a row to CTA 1, and both exit at once.
void exit_under_multicast(Clusters& c, uint32_t asking) {
  TensorMap map;
  c.before = [&] { map = row_of_words(c.device->gpu.memory().allocate("row", 128, true)); };
  c.program = [&](SimIsa& isa) {
    init_barrier(isa, 1);
    cluster_sync(isa);
    if (isa.cluster_ctarank() == asking)
      isa.elected([&] {
        isa.cp_async_bulk_tensor_shared_global_multicast(own(isa, kData), &map, TensorCoords{0}, own(isa, kBar),
                                                         CtaMask{0b10});
      });
  };
  c.run();
}
}  // namespace

TEST_CASE("MB12: a CTA exits before a box lands that another CTA multicasts to it", "[cluster]") {
  Clusters c(2, 2);
  exit_under_multicast(c, 0);
  REQUIRE(c.violation() == "MB12");
  CHECK(c.finding().source.cta == 0);
  CHECK(c.finding().message.rfind("multicast tensor load reaches CTA rank 1 of the cluster", 0) == 0);
}

TEST_CASE("TM9: a CTA exits before a box lands that it multicasts to itself", "[cluster]") {
  Clusters c(2, 2);
  exit_under_multicast(c, 1);
  CHECK(c.violation() == "TM9");
}

namespace {
std::string violation_of(std::function<void(SimIsa&)> program) {
  Clusters c(2, 2);
  c.program = [&](SimIsa& isa) {
    if (isa.cluster_ctarank() == 1) program(isa);
    cluster_sync(isa);
  };
  c.run();
  return c.violation();
}
}  // namespace

TEST_CASE("CR1: mapa to rank 2 of 2", "[cluster]") {
  CHECK(violation_of([](SimIsa& isa) { isa.mapa(own(isa, kBar), 2); }) == "CR1");
}

TEST_CASE("CR1: 32 lanes map 32 ranks of 2", "[cluster]") {
  CHECK(violation_of([](SimIsa& isa) { isa.mapa(own(isa, kBar), isa.laneid()); }) == "CR1");
}

TEST_CASE("MB3: a shared::cta access of rank 1 at an address without its rank", "[cluster]") {
  CHECK(violation_of([](SimIsa& isa) { isa.ld_shared_u32({kBar}); }) == "MB3");
}

TEST_CASE("MB1: a remote arrive on a barrier that nobody has initialised", "[cluster]") {
  CHECK(violation_of([](SimIsa& isa) {
          isa.mbarrier_arrive(isa.mapa(own(isa, kBar), 0), Scope::cluster);
          isa.for_each_lane(600, [](int) {});  // until it has landed
        }) == "MB1");
}

TEST_CASE("TC8: cta_group 2 in a cluster of one", "[cluster][pair]") {
  Clusters c(2, 1);
  c.program = [&](SimIsa& isa) { isa.tcgen05_alloc(own(isa, kData), 32, 2); };
  c.run();
  CHECK(c.violation() == "TC8");
}

TEST_CASE("TC8: a tensor load that signals a peer which the cluster does not have", "[cluster][pair]") {
  Clusters c(1, 1);
  GlobalAddr row;
  c.before = [&] { row = c.device->gpu.memory().allocate("row", 128, true); };
  c.program = [&](SimIsa& isa) {
    const TensorMap map = row_of_words(row);
    init_barrier(isa, 1);
    isa.elected([&] {
      const SmemAddr peers{1u << kClusterRankShift | kBar};
      isa.cp_async_bulk_tensor_shared_global(own(isa, kData), &map, TensorCoords{0}, peers, 2);
    });
  };
  c.run();
  REQUIRE(c.violation() == "TC8");
  CHECK(c.finding().message ==
        "tensor load.cta_group::2 into CTA rank 0 signals its peer, rank 1, in a cluster of 1: it has no peer");
}

TEST_CASE("TC8: both groups in one kernel", "[cluster][pair]") {
  Clusters c(2, 2);
  c.program = [&](SimIsa& isa) {
    isa.tcgen05_alloc(own(isa, kData), 32, 2);
    isa.tcgen05_relinquish_alloc_permit(1);
  };
  c.run();
  CHECK(c.violation() == "TC8");
}

TEST_CASE("TC2: what all 32 lanes must execute together", "[cluster]") {
  const auto in_four_lanes = [](std::function<void(SimIsa&)> body) {
    return violation_of([=](SimIsa& isa) { isa.lanes_below(4, [&] { body(isa); }); });
  };
  CHECK(in_four_lanes([](SimIsa& isa) { isa.elected([] {}); }) == "TC2");
}

TEST_CASE("TC2: bar.warp.sync by one lane", "[cluster]") {
  CHECK(violation_of([](SimIsa& isa) { isa.elected([&] { isa.bar_warp_sync(); }); }) == "TC2");
}

TEST_CASE("TC2: bar.sync by one lane", "[cluster]") {
  CHECK(violation_of([](SimIsa& isa) { isa.elected([&] { isa.bar_sync(1, 32); }); }) == "TC2");
}

TEST_CASE("NB3: a warp arrives twice at a named barrier in one generation", "[cluster]") {
  CHECK(violation_of([](SimIsa& isa) { isa.bar_arrive(1, 96), isa.bar_arrive(1, 96); }) == "NB3");
}

TEST_CASE("CB2: barrier.cluster.wait without an arrive", "[cluster]") {
  CHECK(violation_of([](SimIsa& isa) { isa.barrier_cluster_wait(); }) == "CB2");
}

TEST_CASE("who has passed the cluster barrier sees the arrivals made before it", "[cluster]") {
  Clusters c(2, 2);
  bool complete = false;
  c.program = [&](SimIsa& isa) {
    init_barrier(isa, 1);
    cluster_sync(isa);
    if (isa.cluster_ctarank() == 0)
      isa.elected([&] { isa.mbarrier_arrive(isa.mapa(own(isa, kBar), 1), Scope::cluster); });
    cluster_sync(isa);  // and then both exit
    if (isa.cluster_ctarank() == 1) complete = c.device->gpu.cta(1).mbarrier.test_parity(kBar, 0, {});
  };
  c.run();
  CHECK(c.violation() == "");
  CHECK(complete);
}
