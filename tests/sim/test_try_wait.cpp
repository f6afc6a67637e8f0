// SPDX-License-Identifier: Apache-2.0
// mbarrier.try_wait gives up: at its time limit, and early where a perturbation says so.  A peek at the next stage
// is no wait; a loop that asks again is one.
#include "catch.h"
#include "models/time.h"
#include "sim/role_code.h"

using namespace sm100;
using namespace sm100::sim;
using models::now;

namespace {

constexpr uint32_t kBar = 1024;
const models::Cycles kLimit = 7331;  // 3.95 us at 1.856 GHz

SmemAddr barrier(RoleIsa& isa) { return {isa.cluster_ctarank() << kClusterRankShift | kBar}; }

void set_up(RoleIsa& isa) {
  if (isa.warpid() == 0) isa.lanes(1, [&] { isa.mbarrier_init(barrier(isa), 1); });
  isa.bar_sync(0, 64);
}
bool peek(RoleIsa& isa, uint32_t parity) { return isa.mbarrier_try_wait_parity(barrier(isa), parity, Scope::cta); }
void wait(RoleIsa& isa, uint32_t parity) {
  while (!isa.mbarrier_try_wait_parity(barrier(isa), parity, Scope::cta)) {}
}
/// Warp 0 arrives `late` cycles after the start; warp 1 runs `consumer`.
std::string with_arrival(models::Cycles late, std::function<void(RoleIsa&)> consumer) {
  return diagnosis({.program = [=](RoleIsa& isa) {
    set_up(isa);
    if (isa.warpid() == 1) return consumer(isa);
    isa.for_each_lane(int(late), [](int) {});
    isa.lanes(1, [&] { isa.mbarrier_arrive(barrier(isa), Scope::cta); });
  }});
}

}  // namespace

TEST_CASE("a try_wait that lasts too long returns false at its limit, and the wait for the phase follows",
          "[try_wait]") {
  CHECK(with_arrival(3 * kLimit, [](RoleIsa& isa) {
          const models::Cycles begin = now();
          must(!peek(isa, 0));
          must(now() - begin >= kLimit && now() - begin < kLimit + 200);
          isa.bar_warp_sync();  // it does something else
          wait(isa, 0);
          must(now() - begin >= 3 * kLimit);
        }) == "");
}

TEST_CASE("a peek that finds its phase complete is the wait", "[try_wait]") {
  CHECK(with_arrival(100, [](RoleIsa& isa) { must(peek(isa, 0)); }) == "");
}

TEST_CASE("a peek that was given up has seen no phase: asked for again it is a first wait (no MB8)", "[try_wait]") {
  CHECK(with_arrival(2 * kLimit, [](RoleIsa& isa) {
          must(!peek(isa, 0));
          isa.bar_warp_sync();
          must(peek(isa, 0));
        }) == "");
}

TEST_CASE("a loop of try_waits is one wait, however long it lasts", "[try_wait]") {
  CHECK(with_arrival(10 * kLimit, [](RoleIsa& isa) {
          wait(isa, 0);
          must(now() >= 10 * kLimit && now() < 11 * kLimit);
        }) == "");
}

TEST_CASE("a phase that completes in the very cycle of the limit wakes its warp", "[try_wait]") {
  for (models::Cycles late = kLimit - 100; late < kLimit + 100; ++late) {
    CAPTURE(late);
    CHECK(with_arrival(late, [](RoleIsa& isa) { wait(isa, 0); }) == "");
  }
}

TEST_CASE("a loop that nobody ends is a hang", "[try_wait]") {
  CHECK(diagnosis({.program = [](RoleIsa& isa) {
          set_up(isa);
          if (isa.warpid() == 1) wait(isa, 0);
        }}) == "hang\n");
}

namespace {

/// Asks again and again, doing `between` in each turn.
template <class F>
void spin(RoleIsa& isa, uint32_t parity, F&& between) {
  while (!isa.mbarrier_test_wait_parity(barrier(isa), parity, Scope::cta)) between();
}
/// Warp 1 asks for a phase that nobody completes.
RoleCode endless(int between) {
  return {.program =
              [=](RoleIsa& isa) {
                set_up(isa);
                if (isa.warpid() == 1)
                  spin(isa, 0, [&] {
                    if (between > 0) isa.for_each_lane(between, [](int) {});
                    if (between > 0) isa.bar_warp_sync();
                  });
              },
          .explained = true,
          .barriers = {{"full", {kBar}, 1, 1, "w0", "mbarrier.arrive", "w1"}}};
}

}  // namespace

TEST_CASE("a loop of test_waits that nobody ends is a hang, told as that of try_waits", "[try_wait]") {
  for (const int between : {0, 20}) {
    const std::string text = diagnosis(endless(between));
    CAPTURE(text);
    CHECK_THAT(text, Catch::StartsWith("HANG at cycle "));
    CHECK_THAT(text, Catch::Contains("w1 (warp 1) of CTA 0 waits for full[0] parity 0 since cycle "));
    CHECK_THAT(text, Catch::Contains("  test_try_wait.cpp:"));
    CHECK_THAT(text, Catch::Contains("phase 0 misses 1 of 1 arrivals: mbarrier.arrive of w0 (warp 0)"));
  }
}

TEST_CASE("a loop of test_waits ends with the first that comes after the phase", "[try_wait]") {
  for (const int between : {0, 7}) {
    CAPTURE(between);
    for (int i = 0; i < 18; ++i) {
      const models::Cycles late = (i < 9 ? 1000 : 95'000) + 7 * models::Cycles(i % 9);  // awake, asleep
      CAPTURE(late);
      CHECK(with_arrival(late, [between](RoleIsa& isa) {
              std::vector<models::Cycles> asked;
              spin(isa, 0, [&] {
                asked.push_back(now());
                if (between > 0) isa.for_each_lane(between, [](int) {});
              });
              must(asked.size() >= 2);
              const models::Cycles period = asked[1] - asked[0];
              must((now() - asked[0]) % period == 0);
              must(asked.size() < 1010);
            }) == "");
    }
  }
}

TEST_CASE("a loop of test_waits that gives up goes on", "[try_wait]") {
  for (const int turns : {2, 3, 8, 300}) {
    CAPTURE(turns);
    CHECK(diagnosis({.program = [turns](RoleIsa& isa) {
            set_up(isa);
            if (isa.warpid() != 1) return;
            for (int i = 0; i < turns && !isa.mbarrier_test_wait_parity(barrier(isa), 0, Scope::cta); ++i)
              isa.for_each_lane(5, [](int) {});
            isa.lanes(1, [&] { isa.mbarrier_arrive(barrier(isa), Scope::cta); });
            wait(isa, 0);
          }}) == "");
  }
}

TEST_CASE("a loop of test_waits that does other work does not sleep", "[try_wait]") {
  CHECK(diagnosis({.program = [](RoleIsa& isa) {
          const SmemAddr other = barrier(isa) + 8;
          if (isa.warpid() == 0) isa.lanes(1, [&] { isa.mbarrier_init(other, 10); });
          set_up(isa);
          if (isa.warpid() == 1) {
            int turns = 0;
            spin(isa, 0, [&] {
              if (++turns <= 10) isa.lanes(1, [&] { isa.mbarrier_arrive(other, Scope::cta); });
            });
            return must(turns >= 10);
          }
          while (!isa.mbarrier_try_wait_parity(other, 0, Scope::cta)) {}  // ten turns of the other
          isa.lanes(1, [&] { isa.mbarrier_arrive(barrier(isa), Scope::cta); });
        }}) == "");
}

TEST_CASE("MB8: what is said of a wait that repeats a phase is true after peeks for the next one", "[try_wait]") {
  const std::string text = with_arrival(100, [](RoleIsa& isa) {
    wait(isa, 0);
    for (int i = 0; i < 2; ++i) {
      must(!peek(isa, 1));  // given up at the limit
      isa.bar_warp_sync();
    }
    must(peek(isa, 0));
  });
  CHECK(text ==
        "warning MB8: mbarrier.try_wait.parity on mbarrier at 0x400 passes at once on phase 0, which the warp has "
        "already seen: parity 0 once more\n");
}

TEST_CASE("what a peek has not seen is not acquired: the read behind it is a hazard", "[try_wait]") {
  const auto reader = [](bool waits) {
    return diagnosis({.program =
                          [=](RoleIsa& isa) {
                            set_up(isa);
                            LaneArray<SmemAddr, 1> at;
                            for (int lane = 0; lane < kWarpLanes; ++lane)
                              at[lane][0] = {2048u + 16 * uint32_t(lane)};
                            LaneArray<uint32_t, 4> values{};
                            if (isa.warpid() == 0) {
                              isa.for_each_lane(2 * int(kLimit), [](int) {});
                              isa.st_shared_v4(at, values);
                              isa.bar_warp_sync();  // one lane arrives for all
                              isa.lanes(1, [&] { isa.mbarrier_arrive(barrier(isa), Scope::cta); });
                            } else {
                              must(!peek(isa, 0));
                              isa.bar_warp_sync();
                              if (waits) wait(isa, 0);
                              isa.ld_shared_v4(at);
                            }
                          },
                      .with_data = true});
  };
  CHECK(ids_of(reader(true)) == "clean");
  CHECK(ids_of(reader(false)) != "clean");
}
