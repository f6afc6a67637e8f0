// SPDX-License-Identifier: Apache-2.0
// sm100sim diff as a user runs it, on traces that the simulator wrote.

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "paths.h"
#include "sim/program.h"
#include "traces/format/pftrace.h"

namespace sm100::sim {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Runs a scenario with a trace and without data, and says how it ended.
int simulate(const ScratchDirectory& scratch, const std::string& scenario, const std::string& trace,
             const std::string& more = "") {
  return run(scratch, "run " + scenario_dir() + "/" + scenario + " --data none " + more + " --trace " + trace)
      .exit_code;
}

/// The first divergence between a broken scenario and its sound twin.
struct First {
  json any;   ///< the first divergence of all
  json role;  ///< the first of a role
};

First first_divergence(const std::string& bug) {
  ScratchDirectory scratch;
  REQUIRE(simulate(scratch, "bugs/" + bug + ".toml", "bug.pftrace") == 3);
  REQUIRE(simulate(scratch, "bugs/sound/" + fs::path(bug).filename().string() + ".toml", "sound.pftrace") == 0);
  const Ran ran = run(scratch, "diff bug.pftrace sound.pftrace --json -");
  CHECK(ran.err.empty());
  REQUIRE(ran.exit_code == 1);
  const json j = json::parse(ran.out);
  CHECK(j["verdict"] == "diverges");
  CHECK(j["only_in_a"].empty());
  CHECK(j["only_in_b"].empty());
  REQUIRE_FALSE(j["divergences"].empty());
  const auto role = std::find_if(j["divergences"].begin(), j["divergences"].end(),
                                 [](const json& d) { return d["warp"].get<int>() >= 0; });
  REQUIRE(role != j["divergences"].end());
  return {j["divergences"][0], *role};
}

}  // namespace

TEST_CASE("diff: jitter moves tiles and times, not the story", "[diff]") {
  ScratchDirectory scratch;
  REQUIRE(simulate(scratch, "01_dense_small.toml", "a.pftrace", "--jitter 1") == 0);
  REQUIRE(simulate(scratch, "01_dense_small.toml", "b.pftrace", "--jitter 2") == 0);
  const Ran ran = run(scratch, "diff a.pftrace b.pftrace --json diff.json");
  CHECK(ran.err.empty());
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Catch::StartsWith("SAME STRUCTURE: "));
  const json j = json::parse(read_whole(scratch / "diff.json"));
  CHECK(j["verdict"] == "identical");
  CHECK(j["assignment"]["tiles"] == 16);  // 512 x 512 in tiles of 128 x 128
  CHECK(j["divergences"].empty());
  CHECK(j["not_compared"].empty());
}

TEST_CASE("diff: a run as a profiler with a coarse timer would show it is the same story", "[diff]") {
  ScratchDirectory scratch;
  REQUIRE(simulate(scratch, "01_dense_small.toml", "a.pftrace") == 0);
  traces::Trace b = traces::read_pftrace(scratch / "a.pftrace");
  const double ns_per_cycle = 1e9 / b.metadata.ticks_per_second;
  const auto rounded = [&](uint64_t cycles) { return uint64_t(double(cycles) * ns_per_cycle / 32) * 32; };
  for (traces::Span& span : b.spans) span.begin = rounded(span.begin), span.end = rounded(span.end);
  b.metadata.ticks_per_second = 1e9;
  b.metadata.source = "hardware";
  b.barrier_events.clear();
  traces::write_pftrace(b, scratch / "b.pftrace");
  const Ran ran = run(scratch, "diff a.pftrace b.pftrace --json -");
  CHECK(ran.exit_code == 0);
  const json j = json::parse(ran.out);
  CHECK(j["verdict"] == "identical");
  CHECK(j["not_compared"].empty());
  CHECK(j["assignment"]["dynamic"] == false);
  CHECK(j["tracks_compared"] == 28);  // 4 CTAs of 7 warps
  CHECK(j["clock"]["step_b_ns"] == 32.0);
  CHECK(j["clock"]["scale"].get<double>() == Approx(1).epsilon(0.005));
}

TEST_CASE("diff: a broken run leaves its twin's story at the fault", "[diff]") {
  // The MMA warp does five things before its first k step (setup, its work from CLC, the wait for an accumulator),
  // then per step a wait and an issue; the load warp does two before, then per step a wait and an issue.
  SECTION("too many bytes expected: the MMA warp never gets the stage") {
    // 4 stages: the third use of stage 2 is k step 10.  Its wait is the last that the MMA warp does.
    const auto [fault, d] = first_divergence("bytes/expect_tx_too_large");
    CHECK(fault["role"] == "input_full[2] expect_tx by load (warp 5)");
    CHECK(fault["detail"] == "expect_tx of 49152 in phase 2, expected expect_tx of 32768 in phase 2");
    CHECK(d["role"] == "mma");
    CHECK(d["what"] == "missing");
    CHECK(d["event_a"] == "");
    CHECK(d["event_b"] == "mma_issue stage 2 k 10, tile (0, 0)");
    CHECK(d["index"] == 4 + 2 * 10 + 1);
  }
  SECTION("a stage that is not released: the load warp never gets it back") {
    // The second use of stage 1 is k step 5; the load warp needs the stage again for step 9.
    const auto [fault, d] = first_divergence("arrivals/release_missing");
    CHECK(fault["role"] == "input_empty[1] arrive by umma");
    CHECK(fault["detail"] == "arrive of 1 in phase 1 is missing");
    CHECK(d["role"] == "load");
    CHECK(d["what"] == "missing");
    CHECK(d["event_b"] == "load_issue stage 1 k 9, tile (0, 0)");
    CHECK(d["index"] == 2 + 2 * 9 + 1);
  }
  SECTION("the wrong parity: the load warp does not load anything") {
    const auto [fault, d] = first_divergence("phases/load_initial_parity");
    CHECK(fault == d);  // no barrier sees a wait for the wrong parity
    CHECK(d["role"] == "load");
    CHECK(d["what"] == "missing");
    CHECK(d["event_b"] == "load_issue stage 0 k 0, tile (0, 0)");
    CHECK(d["index"] == 2 + 1);
  }
}

TEST_CASE("diff: a copy kernel whose consumers keep a stage once leaves its twin's story at that arrival",
          "[diff]") {
  const auto [fault, d] = first_divergence("arrivals/copy_release_missing");
  CHECK(fault["role"] == "input_empty[2] arrive by consumer (warp 0)");
  CHECK(fault["detail"] == "arrive of 1 in phase 3 is missing");
  CHECK(d["role"] == "load");
  CHECK(d["event_b"] == "load_issue stage 2 k 2, tile (8, 0)");
}

TEST_CASE("diff: the recorder's costs change the time, not the story", "[diff]") {
  ScratchDirectory scratch;
  REQUIRE(simulate(scratch, "copy/two_stages.toml", "with.pftrace", "--set run.recorder=true") == 0);
  REQUIRE(simulate(scratch, "copy/two_stages.toml", "without.pftrace") == 0);
  const Ran ran = run(scratch, "diff with.pftrace without.pftrace --json -");
  CHECK(ran.exit_code == 0);
  const json j = json::parse(ran.out);
  CHECK(j["verdict"] == "identical");
  CHECK(j["tracks_compared"] == 20);                                   // 4 CTAs of 4 consumer warps and a load warp
  CHECK(j["span_a_ns"].get<double>() > j["span_b_ns"].get<double>());  // recording takes time
}

TEST_CASE("diff: bad input ends in one line", "[diff]") {
  ScratchDirectory scratch;
  REQUIRE(simulate(scratch, "05_single_k_step.toml", "a.pftrace") == 0);
  REQUIRE(simulate(scratch, "copy/two_stages.toml", "copy.pftrace") == 0);
  scratch.write("text.pftrace", "not a trace\n");
  const std::string before = read_whole(scratch / "a.pftrace");
  const size_t files = scratch.files();
  const auto error = [&](const std::string& arguments) {
    const Ran ran = run(scratch, "diff " + arguments);
    CHECK(ran.exit_code == 2);
    CHECK(ran.out.empty());
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK(scratch.files() == files);
    return ran.err;
  };
  CHECK_THAT(error("a.pftrace none.pftrace"), Catch::Contains("none.pftrace"));
  CHECK_THAT(error("text.pftrace a.pftrace --json j.json"), Catch::Contains("text.pftrace"));
  CHECK_THAT(error("a.pftrace copy.pftrace --json a.pftrace"), Catch::Contains("--json"));
  CHECK_THAT(error("copy.pftrace a.pftrace --json ./a.pftrace"), Catch::Contains("--json"));
  CHECK_THAT(error("a.pftrace a.pftrace --json nowhere/j.json"), Catch::Contains("--json"));
  CHECK(error("a.pftrace copy.pftrace --json j.json") ==
        "a.pftrace, copy.pftrace: the traces are of different kernels: \"matmul\" and \"pipeline_copy\"\n");
  CHECK(read_whole(scratch / "a.pftrace") == before);
}

}  // namespace sm100::sim
