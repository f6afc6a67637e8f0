// SPDX-License-Identifier: Apache-2.0
// The last accesses to a memory, and what is on its way: the parts of the hazard checker that hold no kernel.
#include "sim/hazards/shadow.h"

#include <vector>

#include "catch.h"
#include "sim/hazards/pending_releases.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// A memory with an accumulator of 100 cells, and a warp that reads half of it.
struct Cells {
  Footprints sets;
  Footprints::Id accumulator = sets.intern_range(0, 100), half = sets.intern_range(50, 100);
  Shadow shadow;
  VectorClock known{};
  int looks = 0;
  std::vector<AccessKind> conflicts{};

  void access(Footprints::Id set, AccessKind kind, bool write, Stamp over) {
    shadow.access(
        sets, set, {.kind = kind, .write = write, .over = over},
        [&](const Access& earlier) {
          ++looks;
          return known.knows(earlier.over) || (kind == earlier.kind && earlier.over.component == over.component);
        },
        [&](const Access& earlier, Footprints::Id) { conflicts.push_back(earlier.kind); });
  }
  void multiply(Clock commit) { access(accumulator, AccessKind::accumulator, true, {1, commit}); }
  void load(Clock number) { access(half, AccessKind::tmem_load, false, {2, number}); }
};

}  // namespace

TEST_CASE("who writes the same again is compared with its last write only", "[hazards]") {
  Cells c;
  c.access(c.sets.intern_range(90, 200), AccessKind::tmem_store, true, {3, 0});
  c.access(c.sets.intern_range(0, 20), AccessKind::tmem_store, true, {3, 0});
  c.multiply(1);
  c.looks = 0;
  c.multiply(1);
  c.multiply(1);
  CHECK(c.looks == 2);
  CHECK(c.conflicts.empty());
}

TEST_CASE("what comes between two writes of the same is compared with the second", "[hazards]") {
  Cells c;
  c.multiply(1);
  c.multiply(1);
  c.known.advance({1, 1});
  c.load(1);
  CHECK(c.conflicts.empty());
  c.multiply(2);  // knows nothing of the load
  CHECK(c.conflicts == std::vector{AccessKind::tmem_load});
}

TEST_CASE("a reader is compared with the last of several writes of the same", "[hazards]") {
  Cells c;
  c.multiply(1);
  c.multiply(2);
  c.multiply(3);
  c.known.advance({1, 2});
  c.load(1);
  CHECK(c.conflicts == std::vector{AccessKind::accumulator});
}

TEST_CASE("a write that was not in order is compared with everything again", "[hazards]") {
  Cells c;
  c.access(c.sets.intern_range(90, 200), AccessKind::tmem_store, true, {3, 5});
  c.multiply(1);
  c.multiply(1);
  CHECK(c.conflicts == std::vector{AccessKind::tmem_store, AccessKind::tmem_store});
}

TEST_CASE("what an arrival on its way releases is there until it has landed everywhere", "[hazards]") {
  PendingReleases releases;
  const auto send = [&](models::Cycles now) {
    Knowledge& released = releases.next(now);
    released.clear();
    released.happened.advance({0, releases.last()});
    return releases.last();
  };
  const auto has = [&](uint32_t number, models::Cycles now) {
    return releases.landed(number, now).happened.of(0) == number;
  };
  std::vector<uint32_t> sent;
  for (int i = 0; i < 100; ++i) sent.push_back(send(0));
  for (const uint32_t number : sent) CHECK(has(number, 10));
  // A multicast's second landing, a while later.
  for (int i = 0; i < 20; ++i) send(20);
  for (const uint32_t number : sent) CHECK(has(number, PendingReleases::kLandsWithin - 1));
}

TEST_CASE("releases that land keep the ring small", "[hazards]") {
  PendingReleases releases;
  for (models::Cycles now = 0; now < 1'000'000; now += 500) {
    releases.next(now);
    releases.landed(releases.last(), now + 100);
  }
  CHECK(releases.size() <= 32);
}
