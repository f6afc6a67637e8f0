// SPDX-License-Identifier: Apache-2.0
// Times of a path or a channel: nobody is served twice at a time, and gaps are had by those who come for them.
#include "models/timetable.h"

#include <algorithm>

#include "catch.h"

using sm100::models::Timetable;

TEST_CASE("requests in the order of time wait for one another", "[timetable]") {
  Timetable t;
  CHECK(t.take(100, 10).begin == Approx(100));
  const Timetable::Slot second = t.take(100, 10);
  CHECK(second.begin >= 100);
  CHECK(second.end <= 100 + 32 + 10);
  double end = 0;
  for (int i = 0; i < 1000; ++i) end = t.take(1000, 25).end;
  CHECK(end == Approx(1000 + 25'000).margin(32));
}

TEST_CASE("a request for an earlier cycle finds what is free before those for later ones", "[timetable]") {
  Timetable t;
  CHECK(t.take(5000, 400).end == Approx(5400));
  CHECK(t.take(200, 100).end == Approx(300));
  // 2,000 cycles of work from cycle 4,000 on go around the 400 that are taken.
  CHECK(t.take(4000, 2000).end == Approx(6400).margin(32));
  CHECK(t.take(4000, 32).end == Approx(6432).margin(33));
  CHECK(t.take(300, 50).end == Approx(350).margin(32));
}

TEST_CASE("what is served fills the time, whatever the order of the requests", "[timetable]") {
  Timetable t;
  double last = 0, begin = 1e18;
  // 512 requests of 12 cycles for cycles between 0 and 2,048, in a scrambled order: three times of what fits.
  for (int i = 0; i < 512; ++i) {
    const Timetable::Slot slot = t.take(double(i * 211 % 512) * 4, 12);
    CHECK(slot.end >= slot.begin + 11.9);
    last = std::max(last, slot.end), begin = std::min(begin, slot.begin);
  }
  CHECK(begin < 40);
  CHECK(last == Approx(512 * 12).margin(64));
}

TEST_CASE("who has asked for a cycle far ahead keeps nobody waiting before", "[timetable]") {
  Timetable t;
  for (const double ahead : {33'000.0, 200'000.0, 2'000'000.0}) t.take(ahead, 1000);
  CHECK(t.take(0, 5).end == Approx(5));
  CHECK(t.take(100, 5).end == Approx(105));
  CHECK(t.take(33'100, 5).end == Approx(34'005).margin(32));
}

TEST_CASE("times far ahead, and long after the last request", "[timetable]") {
  Timetable t;
  t.take(10, 100'000);  // more than it keeps at once
  CHECK(t.take(50'000, 10).end == Approx(100'020).margin(64));
  CHECK(t.take(10'000'000, 10).end == Approx(10'000'010).margin(1));
  CHECK(t.take(10'000'000, 10).end <= 10'000'042);
}
