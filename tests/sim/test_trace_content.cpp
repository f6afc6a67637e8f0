// SPDX-License-Identifier: Apache-2.0
// What a recorded run lets a reader find out: who ended each wait, what is in tensor memory, what was found.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "catch.h"
#include "paths.h"
#include "sim/program.h"
#include "sim/text.h"
#include "traces/format/pftrace.h"

namespace sm100::sim {
namespace {

using namespace traces;

/// Runs a scenario of the project and reads its trace; `exit_code` is what the run must return.
Trace traced(const std::string& scenario, int exit_code = 0, std::string* printed = nullptr,
             const std::string& more = "") {
  ScratchDirectory scratch;
  const Ran ran =
      run(scratch, "run " + scenario_dir() + "/" + scenario + ".toml --data none --trace run.pftrace " + more);
  CAPTURE(scenario, ran.out, ran.err);
  REQUIRE(ran.exit_code == exit_code);
  if (printed) *printed = ran.out;
  return read_pftrace(scratch / "run.pftrace");
}

bool is_role(const Trace& trace, TrackId id) {
  return id < trace.tracks.size() && trace.tracks[id].kind == TrackKind::role;
}
bool is_unit(const Trace& trace, TrackId id) {
  return id < trace.tracks.size() && trace.tracks[id].kind == TrackKind::unit;
}

/// The spans in which flows begin, by track and flow: multicast deliveries each have one of their own.
std::map<std::pair<TrackId, uint64_t>, const Span*> spans_by_flow(const Trace& trace) {
  std::map<std::pair<TrackId, uint64_t>, const Span*> found;
  for (const Span& span : trace.spans)
    if (span.flow_out != 0) found[{span.track, span.flow_out}] = &span;
  return found;
}

/// First begin and last end of the spans of each track.
std::vector<std::pair<uint64_t, uint64_t>> extents(const Trace& trace) {
  std::vector<std::pair<uint64_t, uint64_t>> extents(trace.tracks.size(), {UINT64_MAX, 0});
  for (const Span& span : trace.spans) {
    auto& [first, last] = extents[span.track];
    first = std::min(first, span.begin), last = std::max(last, span.end);
  }
  return extents;
}

std::vector<const Span*> spans_of(const Trace& trace, SpanKind kind) {
  std::vector<const Span*> found;
  for (const Span& span : trace.spans)
    if (span.kind == kind) found.push_back(&span);
  return found;
}

}  // namespace

TEST_CASE("the trace names the span or role that completed each phase, across CTAs too", "[trace-content]") {
  // One CTA, multicast in a cluster, pairs, remote arrivals of the copy kernel, two launches.
  for (const std::string scenario :
       {"01_dense_small", "13_pairs", "smoke/smoke_05", "copy/multicast_4", "18_dependent_launch"}) {
    CAPTURE(scenario);
    const Trace trace = traced(scenario);
    const auto by_flow = spans_by_flow(trace);
    const auto lived = extents(trace);
    size_t by_units = 0, by_roles = 0;
    for (const BarrierEvent& event : trace.barrier_events) {
      if (event.kind != BarrierEventKind::phase_complete) continue;
      CAPTURE(trace.tracks[event.track].name, event.time, event.by, event.flow);
      if (is_role(trace, event.by)) {
        ++by_roles;
        CHECK(lived[event.by].first <= event.time - event.delay);
        CHECK((event.delay > 0) == (trace.tracks[event.by].cta != trace.tracks[event.track].cta));
        CHECK(lived[event.by].second + 100 >= event.time - event.delay);  // a role's last arrival follows its spans
        continue;
      }
      REQUIRE(is_unit(trace, event.by));
      ++by_units;
      const auto span = by_flow.find({event.by, event.flow});
      if (span != by_flow.end()) {
        CHECK(span->second->end <= event.time);
        CHECK(span->second->end + 200 > event.time);  // a commit takes a while, and the way to another CTA
      } else {  // a commit of MMAs that had finished: the flow is that of the role that committed
        CHECK(trace.tracks[event.by].name == "umma");
      }
    }
    CHECK(by_units > 10);
    CHECK(by_roles > 10);
  }
}

TEST_CASE("the trace names who ended the waits that are not for an mbarrier", "[trace-content]") {
  struct Expected {
    std::string scenario;
    std::vector<std::string> reasons;
    std::string more = "";
  };
  for (const Expected& e :
       {Expected{"01_dense_small", {"named barrier 0", "named barrier 1", "cluster barrier", "bulk group"}},
        Expected{"13_pairs", {"named barrier 0", "cluster barrier", "tcgen05.alloc", "tcgen05.dealloc"}},
        Expected{"split_k/splits_2_m256", {"named barrier 4", "locks"}, "--set run.sms=144"},
        Expected{"18_dependent_launch", {"griddepcontrol.wait"}}}) {
    CAPTURE(e.scenario);
    const Trace trace = traced(e.scenario, 0, nullptr, e.more);
    const auto by_flow = spans_by_flow(trace);
    std::set<std::string> seen;
    for (const Wakeup& wakeup : trace.wakeups) {
      const std::string& reason = trace.names[size_t(wakeup.reason)];
      seen.insert(reason);
      CAPTURE(reason, wakeup.begin, wakeup.end);
      CHECK(is_role(trace, wakeup.track));
      if (reason == "griddepcontrol.wait") continue;  // a whole grid ended it
      CHECK(wakeup.caused <= wakeup.end);
      // The cluster barrier opens a while after the last arrival, also of the warp that waits; a lock's word is on
      // its way while its poll begins.
      if (reason != "cluster barrier" && reason != "locks") CHECK(wakeup.caused >= wakeup.begin);
      if (reason != "cluster barrier") CHECK(wakeup.by != wakeup.track);
      if (reason != "bulk group") {
        CHECK(is_role(trace, wakeup.by));
        continue;
      }
      const auto store = by_flow.find({wakeup.by, wakeup.flow});
      REQUIRE(store != by_flow.end());
      CHECK(store->second->kind == SpanKind::tma_store);
      CHECK(store->second->end <= wakeup.end);
    }
    for (const std::string& reason : e.reasons) {
      CAPTURE(reason);
      CHECK(seen.count(reason) == 1);
    }
  }
}

TEST_CASE("the trace shows what is in tensor memory", "[trace-content]") {
  const Trace trace = traced("01_dense_small");
  const auto allocations = spans_of(trace, SpanKind::tmem_alloc);
  CHECK(allocations.size() == 4);  // CTAs
  for (const Span* span : allocations) {
    CHECK(trace.tracks[span->track].name == "tmem");
    CHECK(span->args.column == 0);
    CHECK(span->args.columns == 512);
  }
  // 128 x 128 accumulators: each MMA group writes one of the stages, the epilogue reads it in 4 strips of 32
  // columns.
  std::map<int, int> written, read;
  for (const Span* span : spans_of(trace, SpanKind::umma)) {
    CHECK(span->args.columns == 128);
    ++written[span->args.column];
  }
  for (const Span* span : spans_of(trace, SpanKind::tmem_read)) {
    CHECK(span->args.columns == 32);
    CHECK(span->end > span->begin);
    ++read[span->args.column / 128 * 128];
  }
  CHECK(written.size() == 2);
  for (const auto& [column, groups] : written) {
    CAPTURE(column);
    CHECK(groups == 128);        // 8 tiles of 16 k tiles
    CHECK(read[column] == 256);  // 8 tiles, 4 strips, 4 warps, 2 halves of 16 lanes
  }
  CHECK(spans_of(trace, SpanKind::tmem_write).empty());
  CHECK_FALSE(spans_of(traced("split_k/splits_2_m128"), SpanKind::tmem_write).empty());
}

TEST_CASE("spans say which tensor, box, CTAs and line of the role, CTAs their cluster and rank",
          "[trace-content]") {
  const Trace trace = traced("smoke/smoke_02");  // a cluster of 4 x 4, all loads multicast
  const auto word = [&](int16_t index) { return index < 0 ? std::string() : trace.names.at(size_t(index)); };
  std::set<int> ranks;
  for (const Track& track : trace.tracks)
    if (track.kind == TrackKind::cta && track.cta < 16) {
      CHECK(track.cluster == 0);
      ranks.insert(track.rank);
    }
  CHECK(ranks.size() == 16);
  CHECK(*ranks.rbegin() == 15);

  // A multicast copy lands in every CTA of its mask, each time with the same box.
  std::map<uint64_t, std::vector<const Span*>> copies;  // by the span that issued them
  for (const Span* span : spans_of(trace, SpanKind::tma_load)) {
    CHECK((word(span->args.operand) == "A" || word(span->args.operand) == "B"));
    CHECK(span->args.dimensions >= 2);
    CHECK(span->args.coordinates[0] % 8 == 0);
    CHECK(span->args.multicast != 0);
    CHECK_THAT(word(span->args.line), Catch::StartsWith("load_warp.h:"));
    copies[span->flow_in].push_back(span);
  }
  REQUIRE(copies.size() > 16);
  for (const auto& [issue, spans] : copies) {
    std::map<std::pair<int16_t, std::array<int32_t, 5>>, std::set<TrackId>> landed;
    for (const Span* span : spans) landed[{span->args.operand, span->args.coordinates}].insert(span->track);
    CHECK(landed.size() >= 2);  // a slice of A and one of B
    for (const auto& [box, tracks] : landed) CHECK(tracks.size() == 4);
    for (const Span* span : spans) CHECK(std::popcount(span->args.multicast) == 4);
  }
  for (const Span* span : spans_of(trace, SpanKind::umma)) {
    CHECK_THAT(word(span->args.line), Catch::StartsWith("mma_warp.h:"));
    CHECK(span->args.operand == kNoName);
  }
  for (const Span* span : spans_of(trace, SpanKind::tma_store)) CHECK(word(span->args.operand) == "C");
  size_t waits = 0;
  for (const Span* span : spans_of(trace, SpanKind::wait)) waits += span->args.line != kNoName;
  CHECK(waits == spans_of(trace, SpanKind::wait).size());
}

TEST_CASE("the trace of a run that hangs holds the hang on the role that it names, marks and the open allocation",
          "[trace-content]") {
  std::string printed;
  const Trace trace = traced("bugs/bytes/expect_tx_too_large", 3, &printed);
  REQUIRE(trace.findings.size() == 1);
  const traces::Finding& hang = trace.findings[0];
  CHECK(hang.id == "hang");
  CHECK_FALSE(hang.warning);
  // On the lane of the role that the message names; its marks say the rest.
  CHECK(trace.tracks[hang.track].name == "mma");
  CHECK_THAT(hang.message, Catch::StartsWith("mma (warp 6) can never wake: "));
  CHECK(trace.metadata.outcome == "hang");
  CHECK(trace.metadata.verdict == "findings");
  std::map<traces::FindingMark::What, std::vector<const traces::FindingMark*>> marks;
  for (const traces::FindingMark& mark : hang.marks) marks[mark.what].push_back(&mark);
  using What = traces::FindingMark::What;
  REQUIRE(marks[What::root].size() == 1);
  const traces::FindingMark& root = *marks[What::root][0];
  CHECK(root.track == hang.track);
  CHECK(trace.tracks[root.barrier].name == "input_full[2]");
  // Its words and its cycle are those of the report.
  CHECK_THAT(hang.report, Catch::Contains(root.text.substr(0, root.text.find(';'))));
  CHECK_THAT(hang.report, Catch::Contains(root.text.substr(root.text.find(';') + 2)));
  CHECK_THAT(hang.report, Catch::Contains(root.line));
  CHECK_THAT(root.text, Catch::Contains("since cycle " + grouped(int64_t(root.time)) + ";"));
  // At fault is who has armed the phase, when it did so.
  REQUIRE(marks[What::fault].size() == 1);
  const traces::FindingMark& fault = *marks[What::fault][0];
  CHECK(trace.tracks[fault.track].name == "load");
  const auto armed =
      std::find_if(trace.barrier_events.rbegin(), trace.barrier_events.rend(), [&](const traces::BarrierEvent& e) {
        return e.track == root.barrier && e.kind == traces::BarrierEventKind::expect_tx;
      });
  REQUIRE(armed != trace.barrier_events.rend());
  CHECK(fault.time == armed->time);
  CHECK(marks[What::victim].size() == 6);
  CHECK(hang.message.find('\n') == std::string::npos);
  CHECK_THAT(printed, Catch::StartsWith(hang.report));
  uint64_t last = 0;
  for (const Span& span : trace.spans)
    if (is_role(trace, span.track)) last = std::max(last, span.end);
  CHECK(hang.time == last);  // what is open then is drawn up to there
  CHECK(spans_of(trace, SpanKind::tmem_alloc).size() == 1);
}

TEST_CASE("the trace holds findings and warnings where they happened", "[trace-content]") {
  std::string printed;
  const Trace found = traced("bugs/named_barriers/count_too_small", 4, &printed);
  REQUIRE_FALSE(found.findings.empty());
  CHECK_THAT(printed, Catch::StartsWith(found.findings[0].report));
  CHECK(is_role(found, found.findings[0].track));
  CHECK_FALSE(found.findings[0].warning);
  CHECK(found.metadata.outcome == "findings");

  // A hazard marks both accesses, when and where its report says.
  const Trace raced = traced("bugs/phases/stale_release_parity", 4);
  const auto found_hazard = std::find_if(raced.findings.begin(), raced.findings.end(),
                                         [](const traces::Finding& f) { return f.id == "TM7" && !f.warning; });
  REQUIRE(found_hazard != raced.findings.end());
  const traces::Finding& hazard = *found_hazard;
  REQUIRE(hazard.marks.size() == 2);
  CHECK(hazard.marks[0].what == traces::FindingMark::What::first);
  CHECK(hazard.marks[1].what == traces::FindingMark::What::second);
  CHECK(hazard.marks[1].track == hazard.track);
  CHECK(hazard.marks[1].time == hazard.time);
  for (const traces::FindingMark& mark : hazard.marks) {
    const traces::Track& track = raced.tracks[mark.track];
    CHECK_THAT(hazard.report, Catch::Contains(fmt::format("{} by {} (warp {}) of CTA {} at cycle {}",
                                                          mark.text.substr(0, mark.text.find(", for ")), track.name,
                                                          track.warp, track.cta, grouped(int64_t(mark.time)))));
    CHECK_THAT(hazard.report, Catch::Contains(mark.line));
  }

  const Trace warned = traced("bugs/lanes/every_lane_multiplies", 4);
  const auto warning = std::find_if(warned.findings.begin(), warned.findings.end(),
                                    [](const traces::Finding& f) { return f.warning; });
  REQUIRE(warning != warned.findings.end());
  CHECK(warning->id == "TC12");
  CHECK(warned.tracks[warning->track].name == "mma");
  CHECK_THAT(warning->report, Catch::StartsWith("WARNING TC12 at cycle "));
}

}  // namespace sm100::sim
