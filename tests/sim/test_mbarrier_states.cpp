// SPDX-License-Identifier: Apache-2.0
// mbarrier instructions beside arrive and the parity waits, in role code under the hazard checker: states,
// arrive_drop, .noComplete, remote forms, bytes by hand, inval.
#include "catch.h"
#include "sim/role_code.h"

namespace sm100::sim {
namespace {

constexpr uint32_t kBar = 0x400, kData = 0x800;

SmemAddr own(RoleIsa& isa, uint32_t offset) { return {isa.cluster_ctarank() << kClusterRankShift | offset}; }
void init(RoleIsa& isa, uint32_t count) {
  isa.elected([&] {
    isa.mbarrier_init(own(isa, kBar), count);
    isa.fence_mbarrier_init();
  });
}
/// One word of shared memory for each lane.
LaneArray<SmemAddr, 1> words(RoleIsa& isa) {
  LaneArray<SmemAddr, 1> all;
  for (int lane = 0; lane < kWarpLanes; ++lane) all[lane][0] = own(isa, kData + 4u * uint32_t(lane));
  return all;
}
LaneArray<uint32_t, 1> value(uint32_t v) {
  LaneArray<uint32_t, 1> all;
  for (auto& lane : all.registers) lane[0] = v;
  return all;
}

/// What a program of one warp says of itself, of two with warps = 2.
std::string ids(std::function<void(RoleIsa&)> program, int warps = 1, uint32_t ctas = 1) {
  return ids_of(diagnosis({.program = std::move(program), .warps = warps, .ctas = ctas, .with_data = true}));
}

}  // namespace

TEST_CASE("a wait by state sleeps until the phase of the arrival is over, and acquires", "[mbarrier]") {
  const auto program = [](bool wait) {
    return [=](RoleIsa& isa) {
      if (isa.warpid() == 0) init(isa, 2);
      isa.bar_sync(0, 64);
      const SmemAddr bar = own(isa, kBar);
      if (isa.warpid() == 0) {
        isa.for_each_lane(300, [](int) {});
        isa.st_shared_b32(words(isa), value(7));
        isa.bar_warp_sync();
        isa.elected([&] { isa.mbarrier_arrive(bar, Scope::cta); });
      } else {
        isa.elected([&] {
          const auto state = isa.mbarrier_arrive_state(bar, 1, Scope::cta);
          must(!isa.mbarrier_test_wait(bar, state, Scope::cta));
          if (wait) {
            must(isa.mbarrier_try_wait(bar, state, Scope::cta));
            must(isa.mbarrier_test_wait(bar, state, Scope::cta));  // once more is no mistake
          } else {
            isa.for_each_lane(2000, [](int) {});
          }
        });
        isa.st_shared_b32(words(isa), value(8));
      }
    };
  };
  CHECK(ids(program(true), 2) == "clean");
  CHECK(ids(program(false), 2) == "finding SM3");
}

TEST_CASE("states of lanes whose arrivals end a phase and begin the next", "[mbarrier]") {
  CHECK(ids([](RoleIsa& isa) {
          init(isa, 24);
          const SmemAddr bar = own(isa, kBar);
          const auto state = isa.mbarrier_arrive_state(bar, 1, Scope::cta);
          must(phase_of(state[23][0]) == 0 && phase_of(state[24][0]) == 1);
          must(!isa.mbarrier_test_wait(bar, state, Scope::cta));  // not of all lanes
          isa.lanes(0xffffff, [&] { must(isa.mbarrier_test_wait(bar, state, Scope::cta)); });
        }) == "clean");
}

TEST_CASE("MB8: a wait by a state that is two phases old", "[mbarrier]") {
  CHECK(ids([](RoleIsa& isa) {
          init(isa, 1);
          isa.elected([&] {
            const SmemAddr bar = own(isa, kBar);
            const auto state = isa.mbarrier_arrive_state(bar, 1, Scope::cta);
            isa.mbarrier_arrive(bar, Scope::cta);
            isa.mbarrier_test_wait(bar, state, Scope::cta);
          });
        }) == "finding MB8");
}

TEST_CASE("pending_count takes states of .noComplete forms: what was pending before", "[mbarrier]") {
  CHECK(ids([](RoleIsa& isa) {
          init(isa, 5);
          isa.elected([&] {
            const SmemAddr bar = own(isa, kBar);
            must(isa.mbarrier_pending_count(isa.mbarrier_arrive_no_complete(bar, 2))[0][0] == 5);
            must(isa.mbarrier_pending_count(isa.mbarrier_arrive_drop_no_complete(bar, 1))[0][0] == 3);
            const auto last = isa.mbarrier_arrive_state(bar, 2, Scope::cta);
            must(isa.mbarrier_test_wait(bar, last, Scope::cta));
            const auto next = isa.mbarrier_arrive_state(bar, 4, Scope::cta);  // one has gone
            must(isa.mbarrier_test_wait(bar, next, Scope::cta));
          });
        }) == "clean");
  CHECK(ids([](RoleIsa& isa) {
          init(isa, 5);
          isa.elected(
              [&] { isa.mbarrier_pending_count(isa.mbarrier_arrive_state(own(isa, kBar), 1, Scope::cta)); });
        }) == "finding MB7");
  CHECK(ids([](RoleIsa& isa) {
          init(isa, 2);
          isa.elected([&] { isa.mbarrier_arrive_no_complete(own(isa, kBar), 2); });
        }) == "finding MB7");
}

TEST_CASE("a warp that leaves with arrive_drop is not waited for again", "[mbarrier]") {
  const auto program = [](bool drops) {
    return [=](RoleIsa& isa) {
      const SmemAddr bar = own(isa, kBar);
      if (isa.warpid() == 0) init(isa, 2);
      isa.bar_sync(0, 64);
      if (isa.warpid() == 1) {
        isa.elected([&] {
          if (drops)
            isa.mbarrier_arrive_drop(bar, 1, Scope::cta);
          else
            isa.mbarrier_arrive(bar, Scope::cta);
        });
        return;
      }
      for (uint32_t phase = 0; phase < 4; ++phase) {
        isa.elected([&] { isa.mbarrier_arrive(bar, Scope::cta); });
        while (!isa.mbarrier_try_wait_parity(bar, phase & 1, Scope::cta)) {}
      }
    };
  };
  CHECK(ids(program(true), 2) == "clean");
  CHECK(ids(program(false), 2) == "hang");
}

TEST_CASE("remote arrivals with counts, drops and bytes", "[mbarrier][cluster]") {
  CHECK(ids(
            [](RoleIsa& isa) {
              init(isa, 4);
              isa.barrier_cluster_arrive();
              isa.barrier_cluster_wait();
              const SmemAddr bar = own(isa, kBar);
              if (isa.cluster_ctarank() == 0) {
                const ClusterSmemAddr there = isa.mapa(bar, 1u);
                isa.elected([&] {
                  isa.mbarrier_arrive(there, 2u, Scope::cluster);
                  isa.mbarrier_arrive_drop(there, 1, Scope::cluster);
                  isa.mbarrier_arrive_drop_expect_tx(there, 32, Scope::cluster);
                  isa.mbarrier_expect_tx(there, 16, Scope::cluster);
                  isa.mbarrier_complete_tx(there, 48, Scope::cluster);
                  isa.mbarrier_arrive(there, 2u, Scope::cluster);
                });
              } else {
                while (!isa.mbarrier_try_wait_parity(bar, 0, Scope::cluster)) {}
                while (!isa.mbarrier_try_wait_parity(bar, 1, Scope::cluster)) {}  // two are left
              }
              isa.barrier_cluster_arrive();
              isa.barrier_cluster_wait();
            },
            1, 2) == "clean");
}

TEST_CASE("inval and init again: phases, waits and order start anew", "[mbarrier]") {
  CHECK(ids(
            [](RoleIsa& isa) {
              const SmemAddr bar = own(isa, kBar);
              for (int life = 0; life < 3; ++life) {
                if (isa.warpid() == 0) init(isa, 1);
                isa.bar_sync(0, 64);
                for (uint32_t phase = 0; phase < 3; ++phase) {
                  if (isa.warpid() == 0) {
                    isa.st_shared_b32(words(isa), value(phase));
                    isa.elected([&] { isa.mbarrier_arrive(bar, Scope::cta); });
                  } else {
                    while (!isa.mbarrier_try_wait_parity(bar, phase & 1, Scope::cta)) {}
                  }
                  isa.bar_sync(0, 64);
                }
                if (isa.warpid() == 1) isa.elected([&] { isa.mbarrier_inval(bar); });
                isa.bar_sync(0, 64);
              }
            },
            2) == "clean");
}

TEST_CASE("order of an mbarrier's second life: data behind a wait that was left out", "[mbarrier][hazards]") {
  const auto program = [](bool wait) {
    return [=](RoleIsa& isa) {
      const SmemAddr bar = own(isa, kBar);
      for (int life = 0; life < 2; ++life) {
        if (isa.warpid() == 0) init(isa, 1);
        isa.bar_sync(0, 64);
        if (isa.warpid() == 0) {
          isa.st_shared_b32(words(isa), value(1));
          isa.elected([&] { isa.mbarrier_arrive(bar, Scope::cta); });
        } else {
          if (wait || life == 0)
            while (!isa.mbarrier_try_wait_parity(bar, 0, Scope::cta)) {}
          isa.for_each_lane(500, [](int) {});
          isa.st_shared_b32(words(isa), value(2));
        }
        isa.bar_sync(0, 64);
        if (isa.warpid() == 1) isa.elected([&] { isa.mbarrier_inval(bar); });
        isa.bar_sync(0, 64);
      }
    };
  };
  CHECK(ids(program(true), 2) == "clean");
  CHECK(ids(program(false), 2) == "finding SM3");
}

TEST_CASE("MB1: use after inval, inval under a waiter", "[mbarrier]") {
  CHECK(ids([](RoleIsa& isa) {
          init(isa, 1);
          isa.elected([&] {
            isa.mbarrier_inval(own(isa, kBar));
            isa.mbarrier_arrive(own(isa, kBar), Scope::cta);
          });
        }) == "finding MB1");
  CHECK(ids(
            [](RoleIsa& isa) {
              if (isa.warpid() == 0) init(isa, 1);
              isa.bar_sync(0, 64);
              if (isa.warpid() == 1)
                isa.mbarrier_try_wait_parity(own(isa, kBar), 0, Scope::cta);
              else
                isa.for_each_lane(500, [](int) {}), isa.elected([&] { isa.mbarrier_inval(own(isa, kBar)); });
            },
            2) == "finding MB1");
}

}  // namespace sm100::sim
