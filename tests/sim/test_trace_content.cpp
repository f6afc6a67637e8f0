// What a recorded run lets a reader find out: who ended each wait, what is in tensor memory, what was found.

#include <algorithm>
#include <map>
#include <set>

#include "catch.h"
#include "paths.h"
#include "sim/program.h"
#include "traces/pftrace.h"

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
       {"dense_small", "pairs", "smoke/smoke_05", "copy/multicast_4", "dependent_launch"}) {
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
       {Expected{"dense_small", {"named barrier 0", "named barrier 1", "cluster barrier", "bulk group"}},
        Expected{"pairs", {"named barrier 0", "cluster barrier", "tcgen05.alloc", "tcgen05.dealloc"}},
        Expected{"split_k/splits_2_m256", {"named barrier 4", "locks"}, "--set run.sms=144"},
        Expected{"dependent_launch", {"griddepcontrol.wait"}}}) {
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
      // The cluster barrier opens a while after the last arrival, also of the warp that waits; a lock's word is on its way
      // while its poll begins.
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
  const Trace trace = traced("dense_small");
  const auto allocations = spans_of(trace, SpanKind::tmem_alloc);
  CHECK(allocations.size() == 4);  // CTAs
  for (const Span* span : allocations) {
    CHECK(trace.tracks[span->track].name == "tmem");
    CHECK(span->args.column == 0);
    CHECK(span->args.columns == 512);
  }
  // 128 x 128 accumulators: each MMA group writes one of the stages, the epilogue reads it in 4 strips of 32 columns.
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

TEST_CASE("the trace of a run that hangs holds the hang on the role at fault, and the open allocation",
          "[trace-content]") {
  std::string printed;
  const Trace trace = traced("bugs/expect_tx_too_large", 3, &printed);
  REQUIRE(trace.findings.size() == 1);
  const traces::Finding& hang = trace.findings[0];
  CHECK(hang.id == "hang");
  CHECK_FALSE(hang.warning);
  CHECK(trace.tracks[hang.track].name == "load");
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
  const Trace found = traced("bugs/kb06_count_too_small", 4, &printed);
  REQUIRE_FALSE(found.findings.empty());
  CHECK_THAT(printed, Catch::StartsWith(found.findings[0].report));
  CHECK(is_role(found, found.findings[0].track));
  CHECK_FALSE(found.findings[0].warning);

  const Trace warned = traced("bugs/kb17_every_lane_multiplies", 4);
  const auto warning = std::find_if(warned.findings.begin(), warned.findings.end(),
                                    [](const traces::Finding& f) { return f.warning; });
  REQUIRE(warning != warned.findings.end());
  CHECK(warning->id == "TC12");
  CHECK(warned.tracks[warning->track].name == "mma");
  CHECK_THAT(warning->report, Catch::StartsWith("WARNING TC12 at cycle "));
}

}  // namespace sm100::sim
