// SPDX-License-Identifier: Apache-2.0
// Delta debugging finds the delays that matter, whatever it is that they break.
#include <algorithm>

#include "catch.h"
#include "sim/explore/minimise.h"

using namespace sm100;
using namespace sm100::sim;
using models::Delay;

namespace {

Delays delays(size_t count, uint64_t cycles = 100) {
  Delays all;
  for (size_t i = 0; i < count; ++i) all.push_back({{models::JitterSite::tma_load, 0, 5, -1, i}, cycles});
  return all;
}

uint64_t cycles_at(const Delays& set, uint64_t occurrence) {
  for (const Delay& d : set)
    if (d.point.occurrence == occurrence) return d.cycles;
  return 0;
}

/// Counts what it is asked for.
struct Oracle {
  std::function<bool(const Delays&)> fails;
  size_t asked = 0;
  Reproduce reproduce() {
    return [this](size_t count, const std::function<Delays(size_t)>& set) {
      std::vector<bool> result;
      for (size_t i = 0; i < count; ++i) result.push_back(fails(set(i))), ++asked;
      return result;
    };
  }
};

std::vector<uint64_t> occurrences(const Delays& set) {
  std::vector<uint64_t> all;
  for (const Delay& d : set) all.push_back(d.point.occurrence);
  return all;
}

}  // namespace

TEST_CASE("minimise: the delays that are needed together are what is left", "[explore]") {
  const std::vector<std::vector<uint64_t>> needed = {{0}, {4999}, {17, 18}, {3, 2500, 4998}, {1, 2, 3, 4, 5, 6}};
  for (const auto& need : needed) {
    Oracle oracle{[&](const Delays& set) {
      return std::all_of(need.begin(), need.end(), [&](uint64_t n) { return cycles_at(set, n) > 0; });
    }};
    CHECK(occurrences(smallest_subset(delays(5000), oracle.reproduce())) == need);
    CAPTURE(oracle.asked, need.size());
    CHECK(oracle.asked < 120 * need.size() + 60);
  }
}

TEST_CASE("minimise: chunks that can go alone but not together", "[explore]") {
  // Either half is enough.
  Oracle oracle{[](const Delays& set) { return cycles_at(set, 10) > 0 || cycles_at(set, 90) > 0; }};
  CHECK(smallest_subset(delays(100), oracle.reproduce()).size() == 1);
}

TEST_CASE("minimise: a failure that needs no delay at all keeps none", "[explore]") {
  Oracle oracle{[](const Delays&) { return true; }};
  CHECK(smallest_subset(delays(37), oracle.reproduce()).empty());
}

TEST_CASE("minimise: without a budget everything stays, and the search ends", "[explore]") {
  Oracle oracle{[](const Delays&) { return false; }};
  CHECK(smallest_subset(delays(3000), oracle.reproduce()).size() == 3000);
  CHECK(shortest_cycles(delays(2), oracle.reproduce()) == delays(2));
}

TEST_CASE("minimise: few long delays in place of many short ones", "[explore]") {
  Oracle oracle{[](const Delays& set) {
    uint64_t sum = 0;
    for (const Delay& d : set) sum += d.cycles;
    return sum >= 350;
  }};
  const auto longest = [](const Delay&) { return uint64_t(400); };
  const Delays few = fewer_but_longer(delays(4), longest, oracle.reproduce());
  REQUIRE(few.size() == 1);
  CHECK(few[0].cycles == 400);
  CHECK(shortest_cycles(few, oracle.reproduce())[0].cycles == 350);
}

TEST_CASE("minimise: cycles shrink to what the failure needs", "[explore]") {
  Oracle oracle{[](const Delays& set) { return cycles_at(set, 0) >= 37 && cycles_at(set, 1) >= 1; }};
  const Delays shrunk = shortest_cycles(delays(2, 412), oracle.reproduce());
  CHECK(shrunk[0].cycles == 37);
  CHECK(shrunk[1].cycles == 1);
}
