// SPDX-License-Identifier: Apache-2.0
// What the asynchronous units do across the CTAs of a cluster: CLC, commits, the pairs of cta_group 2.
#include "catch.h"
#include "sim/clusters.h"

using namespace sm100;
using namespace sm100::sim;
using models::Cycles;

TEST_CASE("a CLC response is multicast to every CTA of the cluster, which each add their own place", "[cluster]") {
  Clusters c(6, 2, 1, 2);  // three clusters, room for one
  std::vector<uint32_t> taken;
  c.program = [&](SimIsa& isa) {
    init_barrier(isa, 1);
    cluster_sync(isa);
    uint32_t parity = 0;
    for (bool more = true; more; parity ^= 1) {
      isa.elected([&] { isa.mbarrier_arrive_expect_tx(own(isa, kBar), 16, Scope::cta); });
      cluster_sync(isa);  // both barriers are armed
      if (isa.cluster_ctarank() == 0)
        isa.elected([&] { isa.clusterlaunchcontrol_try_cancel_multicast(own(isa, kData), own(isa, kBar)); });
      isa.mbarrier_try_wait_parity(own(isa, kBar), parity, Scope::cluster);
      const ClcResponse response = isa.ld_shared_b128(own(isa, kData));
      more = isa.clusterlaunchcontrol_query_cancel_is_canceled(response);
      if (more) taken.push_back(isa.clusterlaunchcontrol_query_cancel_get_first_ctaid(response).x);
    }
  };
  c.run();
  CHECK(c.violation() == "");
  CHECK(taken == std::vector<uint32_t>{2, 2, 4, 4});
}

TEST_CASE("a commit is multicast: one arrival at the same offset in every CTA of the mask", "[cluster]") {
  Clusters c(4, 4);
  std::map<uint32_t, bool> passed;
  c.program = [&](SimIsa& isa) {
    init_barrier(isa, 1);
    cluster_sync(isa);
    // A thread without MMAs arrives at once, which is a warning (TC12).
    if (isa.cluster_ctarank() == 1)
      isa.elected([&] { isa.tcgen05_commit_multicast(1, own(isa, kBar), CtaMask{0b1010}); });
    if (isa.cluster_ctarank() % 2 == 1) isa.mbarrier_try_wait_parity(own(isa, kBar), 0, Scope::cluster);
    passed[isa.cluster_ctarank()] = c.device->gpu.cta(int(isa.cluster_ctarank())).mbarrier.test_parity(kBar, 0, {});
  };
  c.run();
  CHECK(c.violation() == "");
  CHECK(passed == std::map<uint32_t, bool>{{0, false}, {1, true}, {2, false}, {3, true}});
}

TEST_CASE("cta_group 2: a load's signal goes to the pair's CTA with the barrier's parity", "[cluster][pair]") {
  // PTX 9.7.9.25's vector: issued in CTA 1 with mask 0b1010 and a barrier of CTA 0; data in 1 and 3, signals in 0
  // and 2.
  Clusters c(4, 4);
  TensorMap map;
  c.before = [&] { map = row_of_words(c.device->gpu.memory().allocate("row", 128, true)); };
  std::map<uint32_t, uint64_t> received;
  c.program = [&](SimIsa& isa) {
    init_barrier(isa, 1);
    cluster_sync(isa);
    if (isa.cluster_ctarank() == 1)
      isa.elected([&] {
        isa.cp_async_bulk_tensor_shared_global_multicast(own(isa, kData), &map, TensorCoords{0}, SmemAddr{kBar},
                                                         CtaMask{0b1010}, 2);
      });
    isa.for_each_lane(3000, [](int) {});
    cluster_sync(isa);
    received[isa.cluster_ctarank()] =
        c.device->gpu.cta(int(isa.cluster_ctarank())).mbarrier.find(kBar)->received_bytes;
  };
  c.run();
  CHECK(received == std::map<uint32_t, uint64_t>{{0, 128}, {1, 0}, {2, 128}, {3, 0}});
}

TEST_CASE("cta_group 2: allocation and deallocation meet the peer's", "[cluster][pair]") {
  Clusters c(2, 2);
  std::map<uint32_t, std::pair<Cycles, Cycles>> done;
  c.program = [&](SimIsa& isa) {
    const uint32_t rank = isa.cluster_ctarank();
    if (rank == 1) isa.for_each_lane(1000, [](int) {});
    isa.tcgen05_alloc(own(isa, kData), 256, 2);
    done[rank].first = models::now();
    const TmemAddr columns{isa.ld_shared_u32(own(isa, kData))};
    if (rank == 0) isa.for_each_lane(2000, [](int) {});
    isa.tcgen05_dealloc(columns, 256, 2);
    done[rank].second = models::now();
  };
  c.run();
  CHECK(c.violation() == "");
  CHECK(done[0].first == done[1].first);
  CHECK(done[1].first > 1000);
  CHECK(done[0].second == done[1].second);
}

TEST_CASE("cta_group 2: an allocation that waits for the peer's columns goes on when the peer frees them",
          "[cluster][pair]") {
  Clusters c(2, 2);
  c.program = [&](SimIsa& isa) {
    // Both hold all columns; CTA 0 frees its own before it asks for the pair's.
    const uint32_t rank = isa.cluster_ctarank();
    models::TensorMemory& own_tmem = c.device->gpu.cta(int(rank)).tmem;
    models::Waiter unused;
    own_tmem.alloc(512, unused, {});
    cluster_sync(isa);
    if (rank == 0) own_tmem.dealloc(TmemAddr::at(0, 0), 512, {});
    if (rank == 0) isa.for_each_lane(500, [](int) {});  // it comes second: it is the one to be woken
    isa.tcgen05_alloc(own(isa, kData), 256, 2);
    isa.tcgen05_dealloc(TmemAddr{isa.ld_shared_u32(own(isa, kData))}, 256, 2);
  };
  c.run();
  // CTA 1 still holds its columns: both wait, and its dealloc wakes them.
  CHECK(c.violation() == "");
  CHECK(c.exits.empty());
  c.device->gpu.cta(1).tmem.dealloc(TmemAddr::at(0, 0), 512, {});
  sc_core::sc_start();
  CHECK(c.violation() == "");
  CHECK(c.exits.size() == 2);
}
