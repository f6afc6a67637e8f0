// SPDX-License-Identifier: Apache-2.0
// What `diff` finds when two stories differ in one known way.

#include <stdexcept>

#include "catch.h"
#include "traces/diff/diff.h"
#include "traces/diff_story.h"

namespace sm100::traces {
namespace {

TraceDiff diff(const Story& a, const Story& b) { return diff_traces(a.record(), b.record()); }

/// The line of the context that is marked.
const Divergence::Line& marked(const Divergence& d) {
  size_t at = d.context.size();
  for (size_t i = 0; i < d.context.size(); ++i)
    if (d.context[i].here) {
      REQUIRE(at == d.context.size());  // one only
      at = i;
    }
  REQUIRE(at < d.context.size());
  return d.context[at];
}

/// The only divergence, which must be of CTA 1's load warp.
Divergence only_divergence(const TraceDiff& d) {
  REQUIRE(d.structure.divergences.size() == 1);
  const Divergence& divergence = d.structure.divergences[0];
  CHECK_FALSE(d.structure.identical());
  CHECK(divergence.role == "load");
  CHECK(divergence.cta == 1);
  CHECK(divergence.warp == 4);
  CHECK_FALSE(divergence.by_tile);
  return divergence;
}

std::string error_of(const Story& a, const Story& b) {
  try {
    diff(a, b);
  } catch (const std::runtime_error& error) { return error.what(); }
  return "";
}

}  // namespace

TEST_CASE("diff: a trace is its own twin", "[diff]") {
  const TraceDiff d = diff(story(), story());
  CHECK(d.structure.identical());
  CHECK(d.structure.events_compared == kAllEvents);
  CHECK(d.structure.tracks_compared == 4);
  CHECK(d.structure.tiles == 4);
  CHECK(d.structure.tiles_on_other_ctas == 0);
  CHECK_FALSE(d.structure.dynamic_assignment);
  CHECK_FALSE(d.structure.events_lost);
  CHECK(d.structure.not_compared.empty());
  CHECK(d.configuration.empty());
  CHECK(d.timing.matched == kAllEvents);
  CHECK(d.timing.scale == Approx(1));
  CHECK(d.timing.residual_median_ns == Approx(0).margin(1e-6));
  CHECK(d.timing.explained_by.empty());
}

TEST_CASE("diff: an event that A lacks is missing", "[diff]") {
  Story a = story();
  a.load(1).erase(a.load(1).begin() + long(issue_of(2)));
  const Divergence d = only_divergence(diff(a, story()));
  CHECK(d.what == Divergence::What::missing);
  CHECK(d.index == 6);  // setup, three waits, two issues before it
  CHECK(d.detail == "load_issue stage 2 k 2 16384 bytes, tile (0, 1) is missing");
  CHECK(d.event_a == "wait input_empty stage 0 phase 0, tile (0, 1)");
  CHECK(d.event_b == "load_issue stage 2 k 2 16384 bytes, tile (0, 1)");
  // A goes on with the wait of k 3, which began when the issue of k 2 ended: 100 + 430 + 40.
  CHECK(d.time_ns == 570);
  REQUIRE(d.context.size() == 12);  // six before it, itself, five after
  CHECK(marked(d).a == d.event_a);
  CHECK(marked(d).b == d.event_b);
  CHECK_FALSE(marked(d).same);
  CHECK(d.context[6].here);
  CHECK(d.context[5].same);
  CHECK(d.context[0].a == "setup");
}

TEST_CASE("diff: an event that only A has is extra", "[diff]") {
  Story a = story();
  const StoryEvent again = a.load(1)[issue_of(2)];
  a.load(1).insert(a.load(1).begin() + long(issue_of(2)), again);
  a.load(1)[issue_of(2)].args.bytes = 4096;
  const Divergence d = only_divergence(diff(a, story()));
  CHECK(d.what == Divergence::What::extra);
  CHECK(d.index == 6);
  CHECK(d.detail == "load_issue stage 2 k 2 4096 bytes, tile (0, 1) is not in B");
  CHECK(d.event_b == "load_issue stage 2 k 2 16384 bytes, tile (0, 1)");
  CHECK(d.time_ns == 530);
}

TEST_CASE("diff: a field that differs is named, with what was expected", "[diff]") {
  Story a = story();
  StoryEvent& issue = a.load(1)[issue_of(1)];
  SECTION("stage") {
    issue.args.stage = 2;
    CHECK(only_divergence(diff(a, story())).detail == "stage 2, expected 1");
  }
  SECTION("k") {
    issue.args.k = 3;
    CHECK(only_divergence(diff(a, story())).detail == "k 3, expected 1");
  }
  SECTION("bytes") {
    issue.args.bytes = 8192;
    CHECK(only_divergence(diff(a, story())).detail == "bytes 8192, expected 16384");
  }
  SECTION("kind") {
    issue.kind = SpanKind::store_issue;
    CHECK(only_divergence(diff(a, story())).detail == "store_issue, expected load_issue");
  }
  SECTION("phase of a wait") {
    a.load(1)[issue_of(3) - 1].args.phase = 1;
    CHECK(only_divergence(diff(a, story())).detail == "phase 1, expected 0");
  }
  SECTION("pipeline of a wait") {
    a.load(1)[issue_of(3) - 1].pipeline = "input_full";
    CHECK(only_divergence(diff(a, story())).detail == "pipeline input_full, expected input_empty");
  }
  SECTION("pipeline that one wait lacks") {
    a.load(1)[issue_of(3) - 1].pipeline = "";
    CHECK(only_divergence(diff(a, story())).detail == "pipeline none, expected input_empty");
  }
  SECTION("the tile, by its span") {
    a.load(1)[9].args.tile_n = 2;
    const TraceDiff d = diff(a, story());
    CHECK(only_divergence(d).detail == "tile_n 2, expected 1");
    CHECK(only_divergence(d).index == 1);  // the tile's first event
  }
}

TEST_CASE("diff: two events in the other order", "[diff]") {
  Story a = story();
  std::swap(a.load(1)[issue_of(1)], a.load(1)[issue_of(1) + 1]);
  const Divergence d = only_divergence(diff(a, story()));
  CHECK(d.what == Divergence::What::differs);
  CHECK(d.index == 4);
  CHECK(d.detail ==
        "wait input_empty stage 2, tile (0, 1) before load_issue stage 1 k 1 16384 bytes, tile (0, 1), expected "
        "after");
}

TEST_CASE("diff: a track that ends early", "[diff]") {
  Story a = story();
  a.load(1).resize(issue_of(3) - 1);                                                // ends before the wait of k 3
  a.load(1).push_back({SpanKind::tile, 400, 570, "", {.tile_m = 0, .tile_n = 1}});  // the tile ends with it
  SECTION("in A") {
    const Divergence d = only_divergence(diff(a, story()));
    CHECK(d.what == Divergence::What::missing);
    CHECK(d.index == 7);
    CHECK(d.detail == "A ends here, B goes on with wait input_empty stage 0 phase 0, tile (0, 1)");
    CHECK(d.event_a.empty());
    CHECK(d.time_ns == 570);  // B's
    CHECK(marked(d).a.empty());
  }
  SECTION("in B") {
    const Divergence d = only_divergence(diff(story(), a));
    CHECK(d.what == Divergence::What::extra);
    CHECK(d.detail == "B ends here, A goes on with wait input_empty stage 0 phase 0, tile (0, 1)");
    CHECK(d.event_b.empty());
  }
  SECTION("and a role that has no track") {
    a = story();
    a.roles.pop_back();
    const TraceDiff d = diff(a, story());
    CHECK_FALSE(d.structure.identical());
    CHECK(d.structure.divergences.empty());
    CHECK(d.structure.only_in_b == std::vector<std::string>{"consumer of CTA 1 (warp 0)"});
  }
}

TEST_CASE("diff: a coarse timer does not pull an earlier event into a tile", "[diff]") {
  // Each consumer waits for its work, 20 ns, before the tile's span begins.
  Story a = story();
  for (int cta = 0; cta < 2; ++cta) {
    auto& events = a.consumer(cta);
    const uint64_t first = events[1].begin, second = events[11].begin;
    events.insert(events.begin() + 11, {SpanKind::wait, second - 20, second, "clc_full", {}});
    events.insert(events.begin() + 1, {SpanKind::wait, first - 60, first - 40, "clc_full", {}});
  }
  // The second tile begins at 2820 in CTA 0 and 2920 in CTA 1 (300 + 4 * 600 + 80 + 40).
  Story b = a;
  b.for_each_event(
      [](StoryRole&, StoryEvent& event) { event.begin = event.begin / 64 * 64, event.end = event.end / 64 * 64; });
  REQUIRE(b.consumer(1)[12].begin == b.consumer(1)[12].end);
  const TraceDiff d = diff(a, b);
  for (const Divergence& divergence : d.structure.divergences) UNSCOPED_INFO(divergence.detail);
  CHECK(d.structure.identical());
  CHECK(diff(b, a).structure.identical());
}

TEST_CASE("diff: tiles that other CTAs computed are compared tile by tile", "[diff]") {
  const std::pair<int, int> t0{0, 0}, t1{0, 1}, t2{1, 0}, t3{1, 1};
  // t1 and t2 move to CTA 0, and so begin at another stage of the ring.
  Story a = story({{t0}, {t1, t2, t3}});
  Story b = story({{t0, t1, t2}, {t3}});
  SECTION("the same structure") {
    const TraceDiff d = diff(a, b);
    CHECK(d.structure.identical());
    CHECK(d.structure.dynamic_assignment);
    CHECK(d.structure.tiles == 4);
    CHECK(d.structure.tiles_on_other_ctas == 2);
    CHECK(d.structure.tracks_compared == 8);            // four tiles of two roles
    CHECK(d.structure.events_compared == 4 * (8 + 9));  // setup is outside
    CHECK_THAT(format_diff(d, a.record(), b.record(), "a", "b"),
               Catch::Contains("tile assignment differs: 2 of 4 tiles ran on other CTAs (no divergence)"));
  }
  SECTION("an event that a tile lacks") {
    // t1 is CTA 0's second tile in B, its third issue the seventh of the track.
    b.load(0).erase(b.load(0).begin() + 1 + 9 + 5);
    const TraceDiff d = diff(a, b);
    REQUIRE(d.structure.divergences.size() == 1);
    CHECK(d.structure.divergences[0].by_tile);
    CHECK(d.structure.divergences[0].index == 5);
    CHECK(d.structure.divergences[0].what == Divergence::What::extra);
  }
  SECTION("a stage that is not the next") {
    REQUIRE(b.load(0)[1 + 9 + 5].kind == SpanKind::load_issue);
    b.load(0)[1 + 9 + 5].args.stage = 1;  // is step 6, stage 0
    const TraceDiff d = diff(a, b);
    REQUIRE(d.structure.divergences.size() == 1);
    // Counted from the tile's first use of the ring, step 4 of stage 1: step 6 is two further, stage 1 is none.
    CHECK(d.structure.divergences[0].detail == "stage 2, expected 0");
  }
  SECTION("a phase that is not the next") {
    REQUIRE(b.load(0)[1 + 9 + 4].kind == SpanKind::wait);
    b.load(0)[1 + 9 + 4].args.phase += 1;
    CHECK(diff(a, b).structure.divergences.size() == 1);
  }
  SECTION("a tile that nobody computed") {
    b = story({{t0, t1}, {t3}});
    const TraceDiff d = diff(a, b);
    CHECK(d.structure.only_in_a == std::vector<std::string>{"consumer of tile (1, 0)", "load of tile (1, 0)"});
    CHECK_FALSE(d.structure.identical());
  }
  SECTION("a tile that got lost in the recording") {
    b = story({{t0, t1}, {t3}});
    b.metadata.dropped_events = 20;
    CHECK(diff(a, b).structure.identical());
  }
}

TEST_CASE("diff: lost events are no divergence", "[diff]") {
  Story b = story();
  b.metadata.dropped_events = 4;
  b.load(1).resize(issue_of(2));  // in the middle of a tile, whose span is lost as well
  const auto check = [](const TraceDiff& d) {
    CHECK(d.structure.identical());
    CHECK(d.structure.events_lost);
    CHECK(d.structure.events_compared == kAllEvents - kLoadEvents + 6);
  };
  check(diff(story(), b));
  check(diff(b, story()));
  CHECK_THAT(format_diff(diff(b, story()), b.record(), story().record(), "b", "a"),
             Catch::StartsWith("SAME STRUCTURE: 61 events of 4 role tracks, as far as both traces go (events were "
                               "lost while recording)\n"));
  // What was recorded before the loss must still agree.
  b.load(1)[issue_of(0)].args.stage = 1;
  CHECK(only_divergence(diff(b, story())).detail == "stage 1, expected 0");
}

TEST_CASE("diff: a configuration that differs is listed", "[diff]") {
  Story b = story();
  b.metadata.configuration = R"({"kernel":"matmul","stages":6,"tile":[1,2]})";
  CHECK(diff(story(), b).configuration == std::vector<std::string>{"stages: 3, 6"});
  CHECK(diff(story(), b).structure.identical());
}

TEST_CASE("diff: what makes two traces hard to compare is said", "[diff]") {
  Story a = story(), b = story();
  CHECK(diff(a, b).notes.empty());
  a.metadata.configuration = R"({"kernel":"matmul","stages":3,"cluster":1,"m":64,"recorder":false})";
  b.metadata.configuration = R"({"kernel":"matmul","stages":6,"cluster":2,"m":128,"recorder":false})";
  a.metadata.ticks_per_second = 1.856e9, b.metadata.ticks_per_second = 1.98e9;
  b.metadata.source = "hardware";
  CHECK(diff(a, b).notes ==
        std::vector<std::string>{
            "m, cluster differ: a CTA of A has other work than that of B, which is no divergence to look into",
            "the SM clocks differ: A 1.856 GHz, B 1.980 GHz (run.sm_clock_ghz sets that of a simulation); the "
            "figures "
            "are nanoseconds",
            "A does not charge what recording cost in B (run.recorder = true does)"});
  CHECK(diff(a, b).configuration == std::vector<std::string>{"cluster: 1, 2", "m: 64, 128", "stages: 3, 6"});
  // A trace in nanoseconds has no clock to compare; a simulation that pays for recording has nothing to confess.
  b.metadata.ticks_per_second = 1e9;
  a.metadata.configuration = R"({"kernel":"matmul","recorder":true})";
  CHECK(diff(a, b).notes.empty());
}

TEST_CASE("diff: tile spans around nothing are events", "[diff]") {
  Story a = story();
  for (StoryRole& role : a.roles)  // the consumers as a coarse profiler shows them
    if (role.role == "consumer") std::erase_if(role.events, [](const auto& e) { return e.kind != SpanKind::tile; });
  const TraceDiff same = diff(a, a);
  CHECK(same.structure.identical());
  CHECK(same.structure.events_compared == 2 * kLoadEvents + 4);
  CHECK(same.timing.span_a_ns == 5320);  // to the end of CTA 1's second tile
  Story b = a;
  b.consumer(1).pop_back();
  const StructureDiff short_of_one = diff(b, a).structure;
  REQUIRE(short_of_one.divergences.size() == 1);
  CHECK(short_of_one.divergences[0].role == "consumer");
  CHECK(short_of_one.divergences[0].event_b == "tile, tile (1, 1)");
}

TEST_CASE("diff: what cannot be compared ends in one line", "[diff]") {
  Story b = story();
  b.metadata.configuration = R"({"kernel":"pipeline_copy"})";
  CHECK(error_of(story(), b) == R"(the traces are of different kernels: "matmul" and "pipeline_copy")");
  b = story();
  b.roles.clear();
  CHECK(error_of(story(), b) == "trace B holds no role spans");
  CHECK(error_of(b, story()) == "trace A holds no role spans");
  b = story();
  b.metadata.ticks_per_second = 0;
  CHECK(error_of(story(), b) == "trace B does not say how long a tick is");
}

TEST_CASE("diff: a field that one side never records is reported, not compared", "[diff]") {
  Story b = story();
  b.for_each_event([](StoryRole&, StoryEvent& event) { event.args.bytes = -1; });
  TraceDiff d = diff(story(), b);
  CHECK(d.structure.identical());
  CHECK(d.structure.not_compared == std::vector<std::string>{"bytes of load_issue (B has none)"});
  CHECK(diff(b, story()).structure.not_compared == std::vector<std::string>{"bytes of load_issue (A has none)"});
  // Once is enough to compare it.
  b.load(0)[issue_of(0)].args.bytes = 16384;
  CHECK_FALSE(diff(story(), b).structure.identical());
}

}  // namespace sm100::traces
