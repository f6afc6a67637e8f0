// SPDX-License-Identifier: Apache-2.0
// Named barriers (PTX 9.7.13.1).  The cluster barrier is in test_cluster_net.cpp.
#include "models/cta_barriers.h"

#include "catch.h"
#include "models/fixture.h"

using namespace sm100;
using namespace sm100::models;

namespace {
struct Bench {
  Bench() { barriers.start_cta(); }
  DeviceProfile profile = b200();
  Jitter jitter{std::nullopt, profile};
  RecordingObserver observer;
  CtaBarriers barriers{0, profile, jitter, observer};
  Waiter a, b;
};
}  // namespace

TEST_CASE("a named barrier opens when its count of threads has come, arrivals without wait included",
          "[barriers]") {
  Bench t;
  CHECK_FALSE(t.barriers.arrive(1, 96, nullptr, {}));
  CHECK_FALSE(t.barriers.arrive(1, 96, &t.a, {}));
  CHECK(t.barriers.named(1).arrived == 64);
  CHECK(t.barriers.arrive(1, 96, &t.b, {}));
  CHECK(t.barriers.named(1).generation == 1);
  CHECK(t.barriers.named(1).arrived == 0);
  CHECK(t.observer.violation_id() == "");
}

TEST_CASE("NB4: generations of one thread count with other warps are a warning", "[barriers]") {
  Bench t;
  const auto generation = [&](int first, int second, uint32_t threads) {
    t.barriers.arrive(2, threads, nullptr, {.warp = int8_t(first)});
    t.barriers.arrive(2, threads, nullptr, {.warp = int8_t(second)});
  };
  generation(0, 1, 64);
  generation(1, 0, 64);
  CHECK(t.observer.violation_id() == "");
  SECTION("another pair of warps") {
    generation(2, 3, 64);
    REQUIRE(t.observer.violation_id() == "NB4");
    CHECK(t.observer.violations.back().warning);
  }
  SECTION("another count: a barrier that serves two purposes") {
    t.barriers.arrive(2, 96, nullptr, {.warp = 0});
    generation(2, 3, 96);
    CHECK(t.observer.violation_id() == "");
  }
}

TEST_CASE("named barrier misuse is named", "[barriers]") {
  Bench t;
  SECTION("NB1: id 16") {
    t.barriers.arrive(16, 32, nullptr, {});
    CHECK(t.observer.violation_id() == "NB1");
  }
  SECTION("NB1: 33 threads") {
    t.barriers.arrive(0, 33, nullptr, {});
    CHECK(t.observer.violation_id() == "NB1");
  }
  SECTION("NB2: two counts in one generation") {
    t.barriers.arrive(0, 128, nullptr, {});
    t.barriers.arrive(0, 160, nullptr, {});
    CHECK(t.observer.violation_id() == "NB2");
  }
}
