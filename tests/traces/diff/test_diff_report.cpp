// SPDX-License-Identifier: Apache-2.0
// How a diff reads, whole.

#include <nlohmann/json.hpp>

#include "catch.h"
#include "traces/diff/diff.h"
#include "traces/diff_story.h"

namespace sm100::traces {
namespace {

/// A's CTA 1 issues its third copy into the wrong stage, and CTA 0 reads its second stage 100 ns longer.
Story diverging() {
  Story a = story();
  a.metadata.configuration = R"({"kernel":"matmul","stages":3,"swizzle":64})";
  a.load(1)[issue_of(2)].args.stage = 1;
  StoryEvent& read = a.consumer(0)[4];
  REQUIRE(read.kind == SpanKind::smem_read);
  read.end += 100;
  return a;
}

}  // namespace

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

  steady-state period, ns       median A  median B     A/B    mean A    mean B     A/B
  load load_issue                  600.0     600.0   1.000     600.0     600.0   1.000

  span                         count A count B  median A  median B     A/B     p90 A     p90 B     A/B
  tile                               8       8    2400.0    2400.0   1.000    2520.0    2520.0   1.000
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

TEST_CASE("diff: the whole text, diverging", "[diff]") {
  const Trace a = diverging().record(), b = story().record();
  CHECK(format_diff(diff_traces(a, b), a, b, "a.pftrace", "b.pftrace") ==
        R"(DIFFERENT STRUCTURE: 1 of 4 role tracks diverge
  configuration differs: swizzle: 64, 128
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

  steady-state period, ns       median A  median B     A/B    mean A    mean B     A/B
  load load_issue                  600.0     600.0   1.000     600.0     600.0   1.000

  span                         count A count B  median A  median B     A/B     p90 A     p90 B     A/B
  tile                               8       8    2400.0    2400.0   1.000    2520.0    2520.0   1.000
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
  100.0 %  consumer smem_read: 1 span, A 100 ns longer
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
        "a assignment b barrier_events_compared clock configuration cta_legs divergences events_compared "
        "explained_by kinds "
        "not_compared notes only_in_a "
        "only_in_b pace periods span_a_ns span_b_ns tracks_compared verdict waiting");
  CHECK(j["verdict"] == "diverges");
  CHECK(j["configuration"] == json::array({"swizzle: 64, 128"}));
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
                                      {"mean_a_ns", 600.0},
                                      {"mean_b_ns", 600.0},
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
