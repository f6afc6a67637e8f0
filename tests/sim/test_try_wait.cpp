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
