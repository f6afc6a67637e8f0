// SPDX-License-Identifier: Apache-2.0
// setmaxnreg's pool: what an H200 answered to bench/hardware/semantics_registers.cu, and misuse.
#include "models/register_pool.h"

#include "catch.h"
#include "models/fixture.h"

using namespace sm100;
using namespace sm100::models;

namespace {
struct Bench {
  Bench() { pool.start_cta(12, 168); }
  /// All four warps of a warpgroup; how many are served.
  int inc(int group, int registers) {
    int served = 0;
    for (int w = 4 * group; w < 4 * group + 4; ++w) {
      const Source by{.warp = int8_t(w)};
      served += pool.check(true, registers, by) && pool.increase(registers, waiters[w], by);
    }
    return served;
  }
  void dec(int group, int registers) {
    for (int w = 4 * group; w < 4 * group + 4; ++w) {
      const Source by{.warp = int8_t(w)};
      if (pool.check(false, registers, by)) pool.decrease(registers, by);
    }
  }
  DeviceProfile profile = b200();
  Jitter jitter{std::nullopt, profile};
  RecordingObserver observer;
  RegisterPool pool{0, profile, jitter, observer};
  Waiter waiters[12];
};
}  // namespace

TEST_CASE("setmaxnreg.inc is served from what setmaxnreg.dec has given back, to the last register", "[registers]") {
  Bench t;
  t.dec(0, 24);
  CHECK(t.pool.free(0) == 144);
  CHECK(t.inc(1, 240) == 4);
  CHECK(t.inc(2, 240) == 4);
  CHECK(t.pool.free(0) == 0);
  CHECK(t.pool.held(0) == 24);
  CHECK(t.pool.held(11) == 240);
  CHECK(t.observer.violation_id() == "");
}

TEST_CASE("setmaxnreg.inc waits while the pool has not enough: the first warpgroup is served, the second is not",
          "[registers]") {
  Bench t;
  t.dec(0, 40);
  CHECK(t.inc(1, 240) == 4);
  CHECK(t.inc(2, 240) == 0);
  CHECK(t.pool.wanted(8) == 240);
  CHECK(t.pool.free(0) == 56);
}

TEST_CASE("registers that no CTA has are not in the pool", "[registers]") {
  Bench t;
  t.pool.start_cta(4, 80);
  CHECK(t.inc(0, 160) == 0);
}

TEST_CASE("each partition has its own pool: one warp of each warpgroup", "[registers]") {
  Bench t;
  const Source by{.warp = 0};
  t.pool.decrease(24, by);
  CHECK(t.pool.free(4) == 144);
  CHECK(t.pool.free(5) == 0);
  CHECK(t.inc(1, 232) == 1);
}

TEST_CASE("without a known number of registers every request is served", "[registers]") {
  Bench t;
  t.pool.start_cta(4, 0);
  CHECK_FALSE(t.pool.known());
  CHECK(t.inc(0, 256) == 4);
  CHECK(t.observer.violation_id() == "");
}

TEST_CASE("setmaxnreg misuse is named", "[registers]") {
  Bench t;
  SECTION("RG1: a number that it does not take") { t.dec(0, 20); }
  SECTION("RG1: dec that would add") { t.dec(0, 176); }
  SECTION("RG1: inc that would take away") { t.inc(0, 160); }
  REQUIRE_FALSE(t.observer.violations.empty());
  CHECK(t.observer.violations.front().id == "RG1");
}

TEST_CASE("RG2: the warps of a warpgroup execute the same setmaxnreg", "[registers]") {
  Bench t;
  CHECK(t.pool.check(false, 24, {.warp = 4}));
  CHECK(t.pool.check(false, 40, {.warp = 0}));  // another warpgroup
  CHECK(t.pool.check(false, 32, {.warp = 5}));  // a published kernel does it
  CHECK(t.observer.violation_id() == "RG2");
  CHECK(t.observer.violations.front().warning);
}

TEST_CASE("a warp has whole units of registers: 255 of a thread are 256", "[registers]") {
  Bench t;
  t.pool.start_cta(8, 255);
  CHECK(t.pool.launched_with() == 256);
  CHECK(t.inc(0, 256) == 4);
  CHECK(t.inc(1, 256) == 4);
  CHECK(t.observer.violation_id() == "");
}
