// What `diff` says about stories that differ in one known way.  The story's own numbers: a CTA of two tiles has a load
// track of 1 setup + 8 waits + 8 issues and a consumer track of 1 setup + 8 waits + 8 reads + 2 stores.

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "catch.h"
#include "traces/diff.h"
#include "traces/diff_story.h"

namespace sm100::traces {
namespace {

/// Events of one CTA's load and consumer tracks, tile spans not counted.
constexpr size_t kLoadEvents = 17, kConsumerEvents = 19, kAllEvents = 2 * (kLoadEvents + kConsumerEvents);

// Places in a load track: setup, then (wait, issue) of k 0 to 3, the tile span, and the second tile's.
constexpr size_t issue_of(size_t k) { return 2 + 2 * k; }

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

/// The story as a profiler on hardware tells it: nanoseconds of a slower clock, each CTA begun when it liked, all times
/// rounded down to the 32 ns steps of %globaltimer.
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

TEST_CASE("diff: periods skip the first lap of the ring and the last step", "[diff]") {
  Story b = story();
  b.for_each_event([](StoryRole&, StoryEvent& event) { event.begin *= 2, event.end *= 2; });
  const TraceDiff d = diff(story(), b);
  // Issues begin at 310, 370, 430, 1010, 1610, 2210, 2810, 3410: three distances between the fourth and the seventh.
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

TEST_CASE("diff: the whole text, identical", "[diff]") {
  const Trace a = story().record();
  CHECK(format_diff(diff_traces(a, a), a, a, "a.pftrace", "b.pftrace") ==
        R"(SAME STRUCTURE: 72 events of 4 role tracks
  A  a.pftrace: sim, NVIDIA B200, two_roles
  B  b.pftrace: sim, NVIDIA B200, two_roles

timing
  whole          A 5320 ns, B 5320 ns: ratio 1.000
  clocks         B runs 1.000 times as long as A over 72 matched events; CTA offsets 0 to 0 ns
  timer steps    A 10.00 ns, B 10.00 ns

  steady-state period               A ns      B ns     A/B
  load load_issue                  600.0     600.0   1.000

  span                         count A count B  median A  median B     A/B     p90 A     p90 B     A/B
  wait input_full                   16      16     520.0     520.0   1.000     600.0     600.0   1.000
  wait input_empty                  16      16     540.0     540.0   1.000     560.0     560.0   1.000
  smem_read                         16      16      80.0      80.0   1.000      80.0      80.0   1.000
  setup                              4       4     200.0     200.0   1.000     200.0     200.0   1.000
  load_issue                        16      16      40.0      40.0   1.000      40.0      40.0   1.000
  store_issue                        4       4      40.0      40.0   1.000      40.0      40.0   1.000

  waits, share of role time            A         B
  consumer for input_full         80.5 %    80.5 %
  load for input_empty            82.0 %    82.0 %
)");
}

/// A's CTA 1 issues its third copy into the wrong stage, and CTA 0 reads its second stage 100 ns longer.
Story diverging() {
  Story a = story();
  a.metadata.configuration = R"({"kernel":"matmul","stages":4})";
  a.load(1)[issue_of(2)].args.stage = 1;
  StoryEvent& read = a.consumer(0)[4];
  REQUIRE(read.kind == SpanKind::smem_read);
  read.end += 100;
  return a;
}

TEST_CASE("diff: the whole text, diverging", "[diff]") {
  const Trace a = diverging().record(), b = story().record();
  CHECK(format_diff(diff_traces(a, b), a, b, "a.pftrace", "b.pftrace") ==
        R"(DIFFERENT STRUCTURE: 1 of 4 role tracks diverge
  configuration differs: stages: 4, 3
  first divergence, load of CTA 1 (warp 4), event 6: stage 1, expected 2
       A                                                 B
       setup                                           = setup
       wait input_empty stage 0, tile (0, 1)           = wait input_empty stage 0, tile (0, 1)
       load_issue stage 0 k 0 16384 bytes, tile (0, 1) = load_issue stage 0 k 0 16384 bytes, tile (0, 1)
       wait input_empty stage 1, tile (0, 1)           = wait input_empty stage 1, tile (0, 1)
       load_issue stage 1 k 1 16384 bytes, tile (0, 1) = load_issue stage 1 k 1 16384 bytes, tile (0, 1)
       wait input_empty stage 2, tile (0, 1)           = wait input_empty stage 2, tile (0, 1)
    >  load_issue stage 1 k 2 16384 bytes, tile (0, 1) | load_issue stage 2 k 2 16384 bytes, tile (0, 1)
       wait input_empty stage 0 phase 0, tile (0, 1)   = wait input_empty stage 0 phase 0, tile (0, 1)
       load_issue stage 0 k 3 16384 bytes, tile (0, 1) = load_issue stage 0 k 3 16384 bytes, tile (0, 1)
       wait input_empty stage 1 phase 0, tile (1, 1)   = wait input_empty stage 1 phase 0, tile (1, 1)
       load_issue stage 1 k 0 16384 bytes, tile (1, 1) = load_issue stage 1 k 0 16384 bytes, tile (1, 1)
       wait input_empty stage 2 phase 0, tile (1, 1)   = wait input_empty stage 2 phase 0, tile (1, 1)
  A  a.pftrace: sim, NVIDIA B200, two_roles
  B  b.pftrace: sim, NVIDIA B200, two_roles

timing
  whole          A 5320 ns, B 5320 ns: ratio 1.000
  clocks         B runs 1.000 times as long as A over 61 matched events; CTA offsets 0 to 0 ns
  timer steps    A 10.00 ns, B 10.00 ns

  steady-state period               A ns      B ns     A/B
  load load_issue                  600.0     600.0   1.000

  span                         count A count B  median A  median B     A/B     p90 A     p90 B     A/B
  wait input_full                   16      16     520.0     520.0   1.000     600.0     600.0   1.000
  wait input_empty                  16      16     540.0     540.0   1.000     560.0     560.0   1.000
  smem_read                         16      16      80.0      80.0   1.000      80.0      80.0   1.000
  setup                              4       4     200.0     200.0   1.000     200.0     200.0   1.000
  load_issue                        16      16      40.0      40.0   1.000      40.0      40.0   1.000
  store_issue                        4       4      40.0      40.0   1.000      40.0      40.0   1.000

  waits, share of role time            A         B
  consumer for input_full         80.5 %    80.5 %
  load for input_empty            82.0 %    82.0 %

  what differs most
  100.0 %  consumer smem_read: 1 spans, A 100 ns longer
           worst: CTA 0 warp 0, smem_read stage 1 k 1, tile (0, 0): 180 against 80 ns
)");
}

TEST_CASE("diff: the JSON has everything that the text has", "[diff]") {
  using nlohmann::json;
  const auto keys = [](const json& object) {
    std::string text;
    for (const auto& [key, value] : object.items()) text += (text.empty() ? "" : " ") + key;  // sorted
    return text;
  };
  const Trace a = diverging().record(), b = story().record();
  const json j = json::parse(diff_json(diff_traces(a, b), a, b, "a.pftrace", "b.pftrace"));
  CHECK(keys(j) ==
        "a assignment b clock configuration divergences events_compared explained_by kinds not_compared only_in_a "
        "only_in_b periods span_a_ns span_b_ns tracks_compared verdict waiting");
  CHECK(j["verdict"] == "diverges");
  CHECK(j["configuration"] == json::array({"stages: 4, 3"}));
  CHECK(j["a"] == json{{"file", "a.pftrace"},
                       {"source", "sim"},
                       {"device", "NVIDIA B200"},
                       {"scenario", "two_roles"},
                       {"ticks_per_second", 1e9},
                       {"dropped_events", 0}});
  CHECK(j["assignment"] == json{{"dynamic", false}, {"tiles", 4}, {"tiles_on_other_ctas", 0}});
  CHECK(j["events_compared"] == kAllEvents - kLoadEvents + 6);
  CHECK(keys(j["clock"]) ==
        "offset_max_ns offset_median_ns offset_min_ns residual_median_ns scale step_a_ns step_b_ns");
  REQUIRE(j["divergences"].size() == 1);
  const json d = j["divergences"][0];
  CHECK(keys(d) == "by_tile context cta detail event_a event_b index role time_ns warp what");
  CHECK(d["what"] == "differs");
  CHECK(d["detail"] == "stage 1, expected 2");
  CHECK(d["index"] == 6);
  CHECK(d["context"][6] == json{{"a", d["event_a"]}, {"b", d["event_b"]}, {"same", false}, {"here", true}});
  CHECK(keys(j["kinds"][0]) ==
        "count_a count_b kind limited_by_timer median_a_ns median_b_ns p90_a_ns p90_b_ns pipeline");
  CHECK(j["periods"] == json::array({{{"role", "load"},
                                      {"kind", "load_issue"},
                                      {"count_a", 6},
                                      {"count_b", 6},
                                      {"median_a_ns", 600.0},
                                      {"median_b_ns", 600.0},
                                      {"ratio", 1.0}}}));
  CHECK(keys(j["waiting"][0]) == "pipeline role share_a share_b total_a_ns total_b_ns");
  CHECK(j["explained_by"] ==
        json::array({{{"role", "consumer"},
                      {"kind", "smem_read"},
                      {"pipeline", ""},
                      {"count", 1},
                      {"a_minus_b_ns", 100.0},
                      {"share", 1.0},
                      {"worst", "CTA 0 warp 0, smem_read stage 1 k 1, tile (0, 0): 180 against 80 ns"}}}));
  CHECK(json::parse(diff_json(diff_traces(b, b), b, b, "b", "b"))["verdict"] == "identical");
}

}  // namespace sm100::traces
