// Warp programs in clusters of several CTAs: addresses with ranks, remote arrives, multicast, the cluster barrier, exits,
// and what a hang report says when another CTA is to blame.
#include <map>
#include <optional>
#include <regex>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "sim/device.h"
#include "sim/hang_report.h"
#include "sim/sim_isa.h"

using namespace sm100;
using namespace sm100::sim;
using models::Cycles;

namespace {

constexpr uint32_t kBar = 0x400, kData = 0x800;

/// A grid of clusters along x, one program for all warps.
struct Clusters {
  Clusters(uint32_t ctas, uint32_t cluster, int warps = 1, int sms = 18) {
    kernel.grid = {ctas, 1, 1};
    kernel.cluster = {cluster, 1, 1};
    kernel.warps = warps;
    kernel.smem_bytes = 16 * 1024;
    kernel.roles.assign(size_t(warps), "mma");
    kernel.roles[0] = "load";
    kernel.run_warp = [this](Warp& warp) {
      SimIsa isa(warp, profile);
      program(isa);
      exits[isa.ctaid().x] = models::now();
    };
    this->sms = sms;
  }
  void run() {
    device.emplace(
        profile, kernel,
        models::Gpu::Options{
            .sms = sms, .with_data = true, .accumulation = models::Accumulation::fast, .jitter_seed = {}},
        nullptr);
    if (before) before();
    device->launch();
    sc_core::sc_start();
  }
  std::string violation() const {
    const auto& v = device->observer.violations();
    return v.empty() ? "" : v.front().id;
  }
  const models::Violation& finding() const { return device->observer.violations().front(); }

  models::DeviceProfile profile = host::load_profile("b200");
  Kernel kernel;
  int sms;
  std::function<void(SimIsa&)> program;
  std::function<void()> before;  ///< after the device is there
  std::optional<Device> device;
  std::map<uint32_t, Cycles> exits;  ///< by ctaid.x
};

/// Address of shared-memory offset `offset` as the CTA sees it.
SmemAddr own(SimIsa& isa, uint32_t offset) { return {isa.cluster_ctarank() << kClusterRankShift | offset}; }

void init_barrier(SimIsa& isa, uint32_t count, uint32_t offset = kBar) {
  isa.elected([&] { isa.mbarrier_init(own(isa, offset), count); });
}
void cluster_sync(SimIsa& isa) {
  isa.barrier_cluster_arrive();
  isa.barrier_cluster_wait();
}

TensorMap row_of_words(GlobalAddr address) {
  TensorMapFields f;
  f.data_type = TensorMapDataType::uint32;
  f.rank = 1;
  f.global_address = address.value;
  f.global_dim[0] = f.box_dim[0] = 32;
  f.element_stride[0] = 1;
  return encode(f);
}

/// The hang report with this file's line numbers made N.
std::string hang_text(const Device& device) {
  const HangReport hang = explain_hang(device.slots(), models::now(), 0, "replay");
  return std::regex_replace(hang.text, std::regex("cpp:[0-9]+"), "cpp:N");
}

}  // namespace

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
    passed[isa.cluster_ctarank()] = c.device->gpu.sm(int(isa.cluster_ctarank())).mbarrier.test_parity(kBar, 0, {});
  };
  c.run();
  CHECK(c.violation() == "");
  CHECK(passed == std::map<uint32_t, bool>{{0, false}, {1, true}, {2, false}, {3, true}});
}

TEST_CASE("cta_group 2: a load's signal goes to the pair's CTA with the barrier's parity", "[cluster][pair]") {
  // isa.md 2.6's vector: issued in CTA 1 with mask 0b1010 and a barrier of CTA 0; data in 1 and 3, signals in 0 and 2.
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
        c.device->gpu.sm(int(isa.cluster_ctarank())).mbarrier.find(kBar)->received_bytes;
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

TEST_CASE("TC8: cta_group 2 in a cluster of one", "[cluster][pair]") {
  Clusters c(2, 1);
  c.program = [&](SimIsa& isa) { isa.tcgen05_alloc(own(isa, kData), 32, 2); };
  c.run();
  CHECK(c.violation() == "TC8");
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
    if (isa.cluster_ctarank() == 1) complete = c.device->gpu.sm(1).mbarrier.test_parity(kBar, 0, {});
  };
  c.run();
  CHECK(c.violation() == "");
  CHECK(complete);
}

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
  load (warp 0) of CTA 0 waits for input_empty[0] parity 1 since cycle 3,404  test_clusters.cpp:N
     phase 1 misses 1 of 2 arrivals: mbarrier.arrive of mma (warp 1) of CTA 1
  likely cause: mma of CTA 1 has gone on without its mbarrier.arrive on input_empty[0] of CTA 0
  at fault: mma (warp 1) of CTA 1  test_clusters.cpp:N; it waits for cluster barrier at test_clusters.cpp:N
  the others:
    mma (warp 1) of CTAs 0-1       waits for cluster barrier            test_clusters.cpp:N
        misses load (warp 0) of CTA 0
    load (warp 0) of CTA 1         waits for cluster barrier            test_clusters.cpp:N
        misses load (warp 0) of CTA 0
  last events of input_empty[0] of CTA 0:
    phase 0: 1 arrival at cycle 3,244 by mma (warp 1)  test_clusters.cpp:N
    phase 0: 1 arrival at cycle 3,364 by mma (warp 1) of CTA 1  test_clusters.cpp:N
    phase 0: completed at cycle 3,364
    phase 1: 1 arrival at cycle 4,260 by mma (warp 1)  test_clusters.cpp:N
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
  mma (warp 1) of CTA 1 waits for named barrier 1 since cycle 1,866  test_clusters.cpp:N
     misses 32 of 64 threads: load (warp 0) of CTA 1
  likely cause: these wait for each other: mma of CTA 1 -> named barrier 1 -> load of CTA 1 -> cluster barrier -> mma of CTA 1
  at fault: load (warp 0) of CTA 1; it waits for cluster barrier at test_clusters.cpp:N
  the others:
    load (warp 0) of CTAs 0-1      waits for cluster barrier            test_clusters.cpp:N
        misses mma (warp 1) of CTA 1
    mma (warp 1) of CTA 0          waits for cluster barrier            test_clusters.cpp:N
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
  load (warp 0) of CTA 2 waits for done[0] parity 0 since cycle 2,257  test_clusters.cpp:N
     phase 0 misses 31 of 64 arrivals: mbarrier.arrive of load (warp 0) of CTA 3 (exited)
  likely cause: load of CTA 3 has exited without its mbarrier.arrive on done[0] of CTA 2
  at fault: load (warp 0) of CTA 3  test_clusters.cpp:N; it has exited
  last events of done[0] of CTA 2:
    phase 0: 32 arrivals at cycle 2,241 by load (warp 0)  test_clusters.cpp:N
    phase 0: 1 arrival at cycle 2,361 by load (warp 0) of CTA 3  test_clusters.cpp:N
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

TEST_CASE("cta_group 2: an allocation that waits for the peer's columns goes on when the peer frees them",
          "[cluster][pair]") {
  Clusters c(2, 2);
  c.program = [&](SimIsa& isa) {
    // Both hold all columns; CTA 0 frees its own before it asks for the pair's.
    const uint32_t rank = isa.cluster_ctarank();
    models::TensorMemory& own_tmem = c.device->gpu.sm(int(rank)).tmem;
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
  c.device->gpu.sm(1).tmem.dealloc(TmemAddr::at(0, 0), 512, {});
  sc_core::sc_start();
  CHECK(c.violation() == "");
  CHECK(c.exits.size() == 2);
}
