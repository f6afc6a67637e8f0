// SPDX-License-Identifier: Apache-2.0
// What a seed delays depends on the point's name alone, and a list of delays replays it.
#include <algorithm>

#include "catch.h"
#include "models/cluster_bench.h"
#include "models/umma.h"

using namespace sm100;
using namespace sm100::models;

namespace {

const Source kLoad{.warp = 5, .cta = 2}, kMma{.warp = 6, .cta = 2};

/// Delays of the first points of a site.
std::vector<Cycles> first(Jitter& jitter, JitterSite site, const Source& source, int count = 100) {
  std::vector<Cycles> cycles;
  for (int i = 0; i < count; ++i) cycles.push_back(jitter.delay(site, source));
  return cycles;
}

}  // namespace

TEST_CASE("jitter: without a seed and a list nothing is late", "[jitter]") {
  const DeviceProfile profile = b200();
  Jitter jitter(std::nullopt, profile);
  for (const Cycles late : first(jitter, JitterSite::tma_load, kLoad)) CHECK(late == 0);
  CHECK(jitter.replayed().empty());
}

TEST_CASE("jitter: a point's delay is the same whatever else is drawn", "[jitter]") {
  const DeviceProfile profile = b200();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Jitter alone(seed, profile), among(seed, profile);
    const auto expected = first(alone, JitterSite::tma_load, kLoad, 50);
    std::vector<Cycles> mixed;
    for (int i = 0; i < 50; ++i) {
      first(among, JitterSite::tma_load, kMma, i % 3);
      first(among, JitterSite::warp_issue, kLoad, i % 7);
      among.delay(JitterSite::tma_delivery, kLoad, {.to = i % 2, .barrier = 0});
      mixed.push_back(among.delay(JitterSite::tma_load, kLoad));
    }
    CHECK(mixed == expected);
  }
}

TEST_CASE("jitter: delays stay within the profile's bounds, differ between seeds and reach far", "[jitter]") {
  const DeviceProfile profile = b200();
  const struct {
    JitterSite site;
    int bound;
  } sites[] = {{JitterSite::tma_load, profile.jitter.async_cycles},
               {JitterSite::wake_up, profile.jitter.wakeup_cycles},
               {JitterSite::warp_issue, profile.jitter.issue_cycles},
               {JitterSite::warp_start, profile.jitter.start_cycles}};
  for (const auto& [site, bound] : sites) {
    CAPTURE(row(site).name);
    Cycles longest = 0;
    int seeds_without = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      Jitter jitter(seed, profile);
      const auto cycles = first(jitter, site, kLoad, 400);
      const Cycles most = *std::max_element(cycles.begin(), cycles.end());
      CHECK(most <= Cycles(bound));
      longest = std::max(longest, most);
      seeds_without += most == 0;
    }
    CHECK(longest > Cycles(bound) * 9 / 10);
    CHECK((seeds_without > 0 && seeds_without < 25));  // some seeds leave a place alone
  }
}

TEST_CASE("jitter: what a seed drew replays as a list, and any part of it", "[jitter]") {
  const DeviceProfile profile = b200();
  Jitter seeded(3, profile);
  seeded.record();
  std::vector<Cycles> expected;
  for (int warp = 0; warp < 8; ++warp)
    for (const Cycles late : first(seeded, JitterSite::tma_load, {.warp = int8_t(warp), .cta = 1}))
      expected.push_back(late);
  std::vector<Delay> list = seeded.drawn();
  REQUIRE(list.size() > 100);
  const auto replay = [&](const std::vector<Delay>& delays) {
    Jitter listed(std::nullopt, profile);
    listed.replay(delays);
    std::vector<Cycles> got;
    for (int warp = 0; warp < 8; ++warp)
      for (const Cycles late : first(listed, JitterSite::tma_load, {.warp = int8_t(warp), .cta = 1}))
        got.push_back(late);
    CHECK(listed.replayed().size() == delays.size());
    return got;
  };
  CHECK(replay(list) == expected);
  const Delay kept = list[42];
  const auto one = replay({kept});
  CHECK(std::count(one.begin(), one.end(), 0u) == std::ptrdiff_t(one.size() - 1));
  CHECK(one[size_t(kept.point.warp) * 100 + kept.point.occurrence] == kept.cycles);
}

TEST_CASE("jitter: names and rows of the sites agree", "[jitter]") {
  for (size_t i = 0; i < kJitterSites.size(); ++i) {
    CAPTURE(i);
    CHECK(!kJitterSites[i].name.empty());
    CHECK((kJitterSites[i].of_warp || !kJitterSites[i].to_rank));
    for (size_t j = 0; j < i; ++j) CHECK(kJitterSites[i].name != kJitterSites[j].name);
  }
  CHECK(row(JitterSite::wake_up).name == "wake-up");
  CHECK(row(JitterSite::cluster_barrier).name == "cluster barrier");
  CHECK(row(JitterSite::cta_start).name == "cta start");
}

TEST_CASE("jitter: a commit that is late holds the later commits of its thread back", "[jitter]") {
  ClusterBench b(1, 1);
  b.jitter.replay({{{JitterSite::umma_commit, 0, 6, -1, 0}, 300}});
  Sm sm("sm", 0, false);
  TensorMemory tmem(0, sm.tensor_memory, b.observer);
  Umma umma(0, sm, Accumulation::fast, b.nodes[0]->smem, tmem, b.nodes[0]->barrier, b.profile, b.jitter,
            b.observer);
  std::vector<std::pair<int, Cycles>> arrived;
  for (int i = 0; i < 3; ++i)
    umma.commit(ClusterBench::kBar, Cycles(10 * i), {.warp = 6, .lane = 0, .cta = 0}, [&arrived, i](const Source&) {
      arrived.push_back({i, now()});
    });
  sc_core::sc_start();
  REQUIRE(arrived.size() == 3);
  for (int i = 0; i < 3; ++i) {
    CHECK(arrived[size_t(i)].first == i);
    CHECK(arrived[size_t(i)].second == 300 + Cycles(b.profile.umma.commit_cycles));
  }
}

TEST_CASE("jitter: a multicast box that is late at one CTA is on time at the others", "[jitter]") {
  ClusterBench b(2, 2);
  b.jitter.replay({{{JitterSite::tma_delivery, 0, 0, 1, 0}, 250}});
  TensorCopy copy = b.box(0, 16);
  copy.source.cta = 0;
  b.observer.events.clear();
  b.net.load_multicast(0, copy, {0b11}, 0);
  sc_core::sc_start();
  Cycles done[2] = {};
  for (const MbarrierEvent& e : b.observer.events)
    if (e.kind == MbarrierEventKind::complete_tx) done[e.slot] = e.time;
  CHECK(done[0] > 0);
  CHECK(done[1] == done[0] + 250);
}
