// SPDX-License-Identifier: Apache-2.0
// When things happened: clocks, steps of the timer, periods.

#include <cmath>
#include <stdexcept>

#include "catch.h"
#include "traces/diff/diff.h"
#include "traces/diff_story.h"

namespace sm100::traces {
namespace {

TraceDiff diff(const Story& a, const Story& b) { return diff_traces(a.record(), b.record()); }

/// The story as a profiler on hardware tells it: nanoseconds of a slower clock, each CTA begun when it liked, all
/// times rounded down to the 32 ns steps of %globaltimer.
Story as_hardware(Story s, double ns_per_tick) {
  s.metadata.source = "hardware";
  s.metadata.ticks_per_second = 1e9;
  s.for_each_event([&](StoryRole& role, StoryEvent& event) {
    const double offset = role.cta == 0 ? 5000 : 7777;
    const auto rounded = [&](uint64_t ticks) {
      return uint64_t(std::floor((double(ticks) * ns_per_tick + offset) / 32)) * 32;
    };
    event.begin = rounded(event.begin), event.end = rounded(event.end);
  });
  return s;
}

const KindDiff& kind(const TraceDiff& d, SpanKind kind, const std::string& pipeline = "") {
  for (const KindDiff& row : d.timing.kinds)
    if (row.kind == kind && row.pipeline == pipeline) return row;
  throw std::runtime_error("no such kind");
}

}  // namespace

TEST_CASE("diff: a hardware run with a coarse timer is the same story", "[diff]") {
  Story a = story();
  a.metadata.ticks_per_second = 1.856e9;  // the story's numbers are cycles now
  // 1.1 times as long as the simulation says.
  const TraceDiff d = diff(a, as_hardware(a, 1.1 / 1.856));
  CHECK(d.structure.identical());
  CHECK(d.structure.events_compared == kAllEvents);
  CHECK(d.timing.step_a_ns == Approx(10 / 1.856));  // all of the story's times are multiples of ten
  CHECK(d.timing.step_b_ns == Approx(32));
  CHECK(d.timing.scale == Approx(1.1).epsilon(0.01));
  // From the first event of either trace.  CTA 1 began 2,777 ns later than its story says.
  CHECK(d.timing.offset_min_ns == Approx(0).margin(32));
  CHECK(d.timing.offset_max_ns == Approx(2777).margin(32));
  CHECK(d.timing.residual_median_ns < 32);
  // 80 cycles are 47 ns of hardware, 1 or 2 steps; the waits last 520 cycles, 308 ns, 9 or 10 steps.
  CHECK(kind(d, SpanKind::smem_read).limited_by_timer);
  CHECK(kind(d, SpanKind::load_issue).limited_by_timer);
  CHECK_FALSE(kind(d, SpanKind::wait, "input_full").limited_by_timer);
}

TEST_CASE("diff: periods skip the first lap of the ring and the last step", "[diff]") {
  Story b = story();
  b.for_each_event([](StoryRole&, StoryEvent& event) { event.begin *= 2, event.end *= 2; });
  const TraceDiff d = diff(story(), b);
  // Issues begin at 310, 370, 430, 1010, 1610, 2210, 2810, 3410: three distances between the fourth and the
  // seventh.
  REQUIRE(d.timing.periods.size() == 1);
  CHECK(d.timing.periods[0].role == "load");
  CHECK(d.timing.periods[0].kind == SpanKind::load_issue);
  CHECK(d.timing.periods[0].count_a == 6);
  CHECK(d.timing.periods[0].median_a == 600);
  CHECK(d.timing.periods[0].median_b == 1200);
}

TEST_CASE("diff: a kind that one side lacks has no ratio and is not the timer's fault", "[diff]") {
  Story b = story();
  for (int cta = 0; cta < 2; ++cta)
    std::erase_if(b.consumer(cta), [](const StoryEvent& e) { return e.kind == SpanKind::store_issue; });
  const TraceDiff d = diff(b, story());
  CHECK(kind(d, SpanKind::store_issue).count_a == 0);
  CHECK_FALSE(kind(d, SpanKind::store_issue).limited_by_timer);
}

}  // namespace sm100::traces
