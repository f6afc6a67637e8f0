// Named barriers and the cluster barrier of a one-CTA cluster (reference isa.md 6.1, 6.4).
#include "models/cta_barriers.h"

#include "catch.h"
#include "models/fixture.h"

using namespace sm100;
using namespace sm100::models;

namespace {
struct Bench {
  Bench() { barriers.start_cta(3); }
  DeviceProfile profile = b200();
  Jitter jitter{std::nullopt, profile};
  RecordingObserver observer;
  CtaBarriers barriers{0, profile, jitter, observer};
  Waiter a, b, c;
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

TEST_CASE("the cluster barrier waits for warps that have not exited", "[barriers]") {
  Bench t;
  const uint64_t phase = t.barriers.cluster_arrive(0, {});
  CHECK_FALSE(t.barriers.cluster_wait(phase, t.a));
  t.barriers.cluster_arrive(1, {});
  CHECK_FALSE(t.barriers.cluster_wait(phase, t.b));
  t.barriers.warp_exited(2);  // the third warp returned without arriving: it is not waited for
  CHECK(t.barriers.cluster_wait(phase, t.c));
}

TEST_CASE("a warp that arrives at the cluster barrier and exits stands in for nobody else", "[barriers]") {
  Bench t;
  const uint64_t phase = t.barriers.cluster_arrive(0, {});
  t.barriers.warp_exited(0);
  t.barriers.cluster_arrive(1, {});
  CHECK_FALSE(t.barriers.cluster_wait(phase, t.a));  // warp 2 has not come
  t.barriers.cluster_arrive(2, {});
  CHECK(t.barriers.cluster_wait(phase, t.b));
  CHECK(t.observer.violation_id() == "");
}

TEST_CASE("CB1: one warp arrives twice in a phase of the cluster barrier", "[barriers]") {
  Bench t;
  t.barriers.cluster_arrive(0, {});
  t.barriers.cluster_arrive(0, {});
  CHECK(t.observer.violation_id() == "CB1");
}
