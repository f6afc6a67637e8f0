// SPDX-License-Identifier: Apache-2.0
// Shared memory of other CTAs, in role code under the hazard checker: who may access it, and when what has landed.
#include "catch.h"
#include "sim/role_code.h"

namespace sm100::sim {
namespace {

constexpr uint32_t kBar = 0x400, kData = 0x800, kMore = 0x1000;

SmemAddr own(RoleIsa& isa, uint32_t offset) { return {isa.cluster_ctarank() << kClusterRankShift | offset}; }
void cluster_sync(RoleIsa& isa) { isa.barrier_cluster_arrive(), isa.barrier_cluster_wait(); }
void init(RoleIsa& isa) {
  isa.elected([&] {
    isa.mbarrier_init(own(isa, kBar), 1);
    isa.fence_mbarrier_init();
  });
}
LaneArray<ClusterSmemAddr, 1> there(uint32_t rank, uint32_t offset, uint32_t pitch) {
  LaneArray<ClusterSmemAddr, 1> all;
  for (uint32_t lane = 0; lane < 32; ++lane)
    all[int(lane)][0] = {rank << kClusterRankShift | (offset + lane * pitch)};
  return all;
}
LaneArray<SmemAddr, 1> here(RoleIsa& isa, uint32_t offset, uint32_t pitch) {
  LaneArray<SmemAddr, 1> all;
  for (uint32_t lane = 0; lane < 32; ++lane) all[int(lane)][0] = own(isa, offset + lane * pitch);
  return all;
}
template <int N>
LaneArray<uint32_t, N> counting(uint32_t first) {
  LaneArray<uint32_t, N> all;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < N; ++i) all[lane][i] = first + uint32_t(lane * N + i);
  return all;
}
void idle(RoleIsa& isa) {
  isa.for_each_lane(2000, [](int) {});
}
void wait(RoleIsa& isa) {
  while (!isa.mbarrier_try_wait_parity(own(isa, kBar), 0, Scope::cluster)) {}
}

/// What a program of two CTAs of one warp says of itself.
std::string text(std::function<void(RoleIsa&)> program) {
  return diagnosis({.program = std::move(program), .warps = 1, .ctas = 2, .with_data = true});
}
std::string ids(std::function<void(RoleIsa&)> program) { return ids_of(text(std::move(program))); }

}  // namespace

TEST_CASE("stores and loads of another CTA's shared memory, between cluster barriers", "[dsmem]") {
  CHECK(ids([](RoleIsa& isa) {
          const uint32_t peer = isa.cluster_ctarank() ^ 1;
          isa.st_shared_v4(here(isa, kMore, 16), counting<4>(1000 * isa.cluster_ctarank()));
          cluster_sync(isa);
          isa.st_shared_v4(there(peer, kData, 16), counting<4>(100 + isa.cluster_ctarank()));
          must(isa.ld_shared_b32(there(peer, kMore, 4))[31][0] == 1000 * peer + 31);
          must(isa.ld_shared_v4(there(peer, kMore, 16))[3][2] == 1000 * peer + 14);
          cluster_sync(isa);
          must(isa.ld_shared_v4(here(isa, kData, 16))[31][3] == 100 + peer + 127);
        }) == "clean");
}

TEST_CASE("CR2: a store into a CTA that may not have started", "[dsmem]") {
  const std::string said = text([](RoleIsa& isa) {
    idle(isa);
    if (isa.cluster_ctarank() == 0) isa.st_shared_b32(there(1, kData, 4), counting<1>(0));
    cluster_sync(isa);
  });
  CAPTURE(said);
  CHECK(ids_of(said) == "finding CR2");
  CHECK(said.find("CTA rank 1, which may not have started") != std::string::npos);
}

TEST_CASE("a cluster barrier with .relaxed arrival says that a CTA has started", "[dsmem]") {
  CHECK(ids([](RoleIsa& isa) {
          isa.barrier_cluster_arrive_relaxed();
          isa.barrier_cluster_wait();
          if (isa.cluster_ctarank() == 0) isa.st_shared_b32(there(1, kData, 4), counting<1>(0));
          cluster_sync(isa);
        }) == "clean");
}

TEST_CASE("SM3: a read that nothing orders behind another CTA's store", "[dsmem]") {
  const auto program = [](bool sync) {
    return [=](RoleIsa& isa) {
      isa.st_shared_b32(here(isa, kData, 4), counting<1>(0));
      cluster_sync(isa);
      if (isa.cluster_ctarank() == 0) isa.st_shared_b32(there(1, kData, 4), counting<1>(7));
      if (sync) cluster_sync(isa);
      idle(isa);
      if (isa.cluster_ctarank() == 1) must(isa.ld_shared_v4(here(isa, kData, 0))[0][1] == 8);
      cluster_sync(isa);
    };
  };
  CHECK(ids(program(true)) == "clean");
  CHECK(ids(program(false)) == "finding SM3");
}

TEST_CASE("CR3, MB12: a CTA exits before another has finished with its shared memory", "[dsmem]") {
  const auto program = [](bool sync, bool late) {
    return [=](RoleIsa& isa) {
      cluster_sync(isa);
      if (isa.cluster_ctarank() == 0) {
        if (late) idle(isa);
        isa.ld_shared_b32(there(1, kData, 4));
      } else if (!late) {
        idle(isa);
      }
      if (sync) cluster_sync(isa);
    };
  };
  CHECK(ids(program(true, true)) == "clean");
  CHECK(ids(program(true, false)) == "clean");
  CHECK(ids(program(false, false)) == "finding CR3");  // the numbers are right on this schedule
  CHECK(ids(program(false, true)) == "finding MB12");
}

TEST_CASE("CR3: a CTA exits, and nothing says that others have signalled its barriers before", "[cluster]") {
  enum End { nothing, waits, cluster };
  const auto program = [](End end) {
    return [=](RoleIsa& isa) {
      init(isa);
      cluster_sync(isa);
      if (isa.cluster_ctarank() == 1)
        isa.elected([&] { isa.mbarrier_arrive(isa.mapa(own(isa, kBar), 0), Scope::cluster); });
      else if (end == waits)
        wait(isa);
      else
        idle(isa);
      if (end == cluster) cluster_sync(isa);
    };
  };
  CHECK(ids(program(nothing)) == "finding CR3");  // it has come in time on this schedule
  // Lane 0 arrives while others may still read, and then tells by another barrier that it has.
  const auto told_by_another = [](bool tells) {
    return ids([=](RoleIsa& isa) {
      init(isa);
      isa.elected([&] {
        isa.mbarrier_init(own(isa, kMore), 1);
        isa.fence_mbarrier_init();
      });
      cluster_sync(isa);
      if (isa.cluster_ctarank() == 1) {
        isa.ld_shared_v4(here(isa, kData, 16));
        isa.lanes(1, [&] {
          isa.mbarrier_arrive(isa.mapa(own(isa, kBar), 0), Scope::cluster);
          if (tells) isa.mbarrier_arrive(isa.mapa(own(isa, kMore), 0), Scope::cluster);
        });
      } else if (tells) {
        while (!isa.mbarrier_try_wait_parity(own(isa, kMore), 0, Scope::cluster)) {}
      } else {
        idle(isa);
      }
    });
  };
  CHECK(told_by_another(true).find("CR3") == std::string::npos);
  CHECK(told_by_another(false).find("CR3") != std::string::npos);
  CHECK(ids(program(waits)) == "clean");
  CHECK(ids(program(cluster)) == "clean");
  const std::string told = text(program(nothing));
  CAPTURE(told);
  CHECK_THAT(told,
             Catch::Contains("CTA rank 0 of the cluster exits, and nothing orders the last mbarrier.arrive of "));
}

TEST_CASE("CR3: a CTA exits, and nothing says that others' bytes have come before", "[cluster]") {
  const auto program = [](bool waits) {
    return [=](RoleIsa& isa) {
      init(isa);
      if (isa.cluster_ctarank() == 1)
        isa.elected([&] { isa.mbarrier_arrive_expect_tx(own(isa, kBar), 32 * 16, Scope::cluster); });
      cluster_sync(isa);
      if (isa.cluster_ctarank() == 0)
        isa.st_async_v4(there(1, kData, 16), counting<4>(50), there(1, kBar, 0));
      else if (waits)
        wait(isa);
      else
        idle(isa);
    };
  };
  CHECK(ids(program(true)) == "clean");
  const std::string told = text(program(false));
  CAPTURE(told);
  CHECK_THAT(told, Catch::Contains("CTA rank 1 of the cluster exits, and nothing orders the last copy of "));
}

TEST_CASE("CR3: an early arrival at the cluster barrier does not vouch for what comes behind it", "[cluster]") {
  CHECK(ids([](RoleIsa& isa) {
          init(isa);
          cluster_sync(isa);
          isa.barrier_cluster_arrive();
          if (isa.cluster_ctarank() == 1)
            isa.elected([&] { isa.mbarrier_arrive(isa.mapa(own(isa, kBar), 0), Scope::cluster); });
          else
            idle(isa);
          isa.barrier_cluster_wait();
          if (isa.cluster_ctarank() == 0) idle(isa);
        }) == "finding CR3");
}

TEST_CASE("CR1, SM1, SM2: addresses that name nothing", "[dsmem]") {
  const auto store = [](uint32_t rank, uint32_t offset) {
    return ids([=](RoleIsa& isa) {
      cluster_sync(isa);
      if (isa.cluster_ctarank() == 0)
        isa.elected([&] { isa.st_shared_v4(there(rank, offset, 0), counting<4>(0)); });
      cluster_sync(isa);
    });
  };
  CHECK(store(1, kData) == "clean");
  CHECK(store(2, kData) == "finding CR1");
  CHECK(store(1, kData + 4) == "finding SM2");
  CHECK(store(1, 0x30000) == "finding SM1");
}

namespace {

enum class Awaited { yes, no };
/// Rank 0 stores asynchronously, rank 1 reads or copies on.
auto async_store(Awaited awaited, bool copied_on, bool fence) {
  return [=](RoleIsa& isa) {
    init(isa);
    cluster_sync(isa);
    if (isa.cluster_ctarank() == 0) {
      isa.st_async_v4(there(1, kData, 16), counting<4>(50), there(1, kBar, 0));
    } else {
      isa.elected([&] { isa.mbarrier_arrive_expect_tx(own(isa, kBar), 512, Scope::cluster); });
      if (awaited == Awaited::yes) wait(isa);
      idle(isa);
      if (fence) isa.fence_proxy_async_shared_cta();
      if (copied_on) {
        isa.elected([&] { isa.cp_async_bulk_shared_cluster({kData}, own(isa, kData), 16, {kBar}); });
      } else {
        must(isa.ld_shared_v4(here(isa, kData, 16))[31][3] == 50 + 127);
      }
      if (awaited == Awaited::no) wait(isa);
    }
    if (copied_on && isa.cluster_ctarank() == 0) {
      isa.elected([&] { isa.mbarrier_arrive_expect_tx(own(isa, kBar), 16, Scope::cluster); });
      wait(isa);
    }
    cluster_sync(isa);
  };
}

}  // namespace

TEST_CASE("st.async is over with the phase that counts its bytes", "[dsmem]") {
  CHECK(ids(async_store(Awaited::yes, false, false)) == "clean");
  const std::string said = text(async_store(Awaited::no, false, false));
  CAPTURE(said);
  CHECK(ids_of(said) == "finding SM3");
  CHECK(said.find("st.async by w0") != std::string::npos);
}

TEST_CASE("TM6: what st.async wrote is copied on without a proxy fence", "[dsmem]") {
  CHECK(ids(async_store(Awaited::yes, true, true)) == "clean");
  CHECK(ids(async_store(Awaited::yes, true, false)) == "finding TM6");
}

TEST_CASE("red.async of several lanes and CTAs on one word needs no order among them", "[dsmem]") {
  CHECK(ids([](RoleIsa& isa) {
          init(isa);
          isa.st_shared_b32(here(isa, kData, 4), counting<1>(0));
          if (isa.cluster_ctarank() == 0)
            isa.elected([&] { isa.mbarrier_arrive_expect_tx(own(isa, kBar), 2 * 32 * 4, Scope::cluster); });
          cluster_sync(isa);
          isa.red_async<ReduceOp::add, ReduceType::u32>(there(0, kData, 0), counting<1>(1), there(0, kBar, 0));
          if (isa.cluster_ctarank() == 0) {
            wait(isa);
            must(isa.ld_shared_u32(own(isa, kData)) == 2 * (32 * 33 / 2));
          }
          cluster_sync(isa);
        }) == "clean");
}

namespace {

/// Rank 0 copies 64 bytes into rank 1, which says when they are there; then rank 0 writes the source again.
auto bulk_copy(bool fence, bool awaited, bool handed_back, bool reduces = false) {
  return [=](RoleIsa& isa) {
    init(isa);
    isa.st_shared_b32(here(isa, kData, 4), counting<1>(5));
    isa.st_shared_b32(here(isa, kMore, 4), counting<1>(1));
    if (fence) isa.fence_proxy_async_shared_cta();
    cluster_sync(isa);
    if (isa.cluster_ctarank() == 0) {
      isa.elected([&] {
        const ClusterSmemAddr to{1u << kClusterRankShift | kMore}, bar{1u << kClusterRankShift | kBar};
        if (reduces)
          isa.cp_reduce_async_bulk_shared_cluster<ReduceOp::add, ReduceType::u32>(to, own(isa, kData), 64, bar);
        else
          isa.cp_async_bulk_shared_cluster(to, own(isa, kData), 64, bar);
      });
    } else {
      isa.elected([&] { isa.mbarrier_arrive_expect_tx(own(isa, kBar), 64, Scope::cluster); });
      if (awaited) wait(isa);
      idle(isa);
      if (awaited || handed_back) must(isa.ld_shared_u32(own(isa, kMore + 60)) == (reduces ? 36u : 20u));
    }
    if (handed_back) cluster_sync(isa);
    idle(isa);
    if (isa.cluster_ctarank() == 0) isa.st_shared_b32(here(isa, kData, 4), counting<1>(0));
    cluster_sync(isa);
  };
}

}  // namespace

TEST_CASE("a bulk copy to another CTA: fence before, wait there, and only then the source again", "[dsmem]") {
  CHECK(ids(bulk_copy(true, true, true)) == "clean");
  CHECK(ids(bulk_copy(true, true, true, true)) == "clean");  // 5 + 15 and 1 + 15
  CHECK(ids(bulk_copy(false, true, true)) == "finding TM6");
  CHECK(ids(bulk_copy(true, false, true)) == "finding TM5");
  CHECK(ids(bulk_copy(true, true, false)) == "finding TM8");
}

}  // namespace sm100::sim
