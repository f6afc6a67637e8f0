// SPDX-License-Identifier: Apache-2.0
// Several launches of one stream (PTX 9.7.13.13 griddepcontrol): what a dependent may overlap, and that it reads
// what the launch ahead wrote.
#include <algorithm>

#include "catch.h"
#include "paths.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

Scenario chain(std::vector<std::string> overrides = {}) {
  return load_scenario(source_dir() + "/scenarios/18_dependent_launch.toml", overrides);
}

std::string refusal(std::vector<std::string> overrides, const char* file = "scenarios/18_dependent_launch.toml") {
  try {
    load_scenario(std::string(source_dir() + "/") + file, overrides);
    return "";
  } catch (const InputError& error) { return error.what(); }
}

FaultSpec drop(const char* instruction, const char* role) {
  FaultSpec fault;
  fault.instruction = instruction;
  fault.role = role;
  fault.action = host::FaultAction::drop;
  return fault;
}

}  // namespace

TEST_CASE("with PDL a chain of launches is faster and its outputs are the same", "[launches]") {
  const RunResult pdl = run_in_child(chain()), serial = run_in_child(chain({"config.pdl=false"}));
  CHECK(pdl.verified);
  CHECK(serial.verified);
  CHECK(pdl.output_hash == serial.output_hash);
  CHECK(pdl.cycles < serial.cycles);
}

TEST_CASE("without data a chain takes the same time and its barriers see the same", "[launches]") {
  const RecordedRun full = record_in_child(chain()), none = record_in_child(chain({"run.data=none"}));
  CHECK(full.cycles == none.cycles);
  CHECK(full.barrier_hash == none.barrier_hash);
}

TEST_CASE("chains verify whatever is fed, however many SMs there are and however latencies vary", "[launches]") {
  const std::vector<std::vector<std::string>> variants = {
      {"run.sms=3", "run.launches=4"},
      {"config.residual=true", "run.feed=residual"},
      {"config.scheduler=static", "run.sms=5", "run.launches=3"},
      {"config.clc_stages=0", "run.sms=5"},
      {"config.cta_group=2", "config.mma=[256,128,16]", "config.cluster=[2,1,1]", "run.sms=10"},
      {"config.cluster=[2,2,1]", "run.sms=10", "run.launches=3"}};
  for (const auto& variant : variants)
    for (const char* jitter : {"", "1", "2"}) {
      auto overrides = variant;
      if (*jitter) overrides.push_back(std::string("run.jitter=") + jitter);
      CAPTURE(variant, jitter);
      const RunResult r = run_in_child(chain(overrides));
      CAPTURE(said(r));
      CHECK(r.verified);
    }
}

TEST_CASE("a copy of a copy is the source", "[launches]") {
  for (const char* multicast : {"false", "true"}) {
    const RunResult r = run_in_child(load_scenario(
        source_dir() + "/scenarios/copy/dependent_launch.toml",
        {"run.launches=3", "run.feed=source", "config.cluster=2", std::string("config.multicast=") + multicast}));
    CAPTURE(said(r));
    CHECK(r.verified);
  }
}

TEST_CASE("without launch_dependents the exits let dependents start: right, but later", "[launches]") {
  Scenario s = chain();
  const RunResult with = run_in_child(s);
  s.faults = {drop("griddepcontrol_launch_dependents", "mma")};
  const RunResult without = run_in_child(s);
  CHECK(without.verified);
  CHECK(without.cycles > with.cycles);
}

TEST_CASE("a dependent that does not wait before it reads the launch ahead is found, with data and without",
          "[launches]") {
  for (const char* data : {"full", "none"}) {
    Scenario s = chain({std::string("run.data=") + data, "run.l2=warm"});
    s.faults = {drop("griddepcontrol_wait", "load")};
    const RunResult r = run_in_child(s);
    CAPTURE(said(r));
    CHECK(r.outcome == Outcome::findings);
    CHECK(finding_of(r).id == "GD1");
    CHECK(finding_of(r).role == "load");
  }
}

TEST_CASE("launches that read nothing of each other need not wait", "[launches]") {
  Scenario s = chain();
  s.feed.clear();
  s.faults = {drop("griddepcontrol_wait", "")};
  CHECK(run_in_child(s).verified);
}

TEST_CASE("a trace tells launches apart and shows what waits in griddepcontrol", "[launches][traces]") {
  traces::Recorder recorder;
  const RunResult result =
      run_simulation(chain(), {.recorder = &recorder});  // this test case has its process to itself
  REQUIRE(result.outcome == Outcome::pass);
  REQUIRE(result.launches.size() == 2);
  CHECK(result.launches[1].begin < result.launches[0].end);
  const traces::Trace& trace = recorder.trace();
  int first = 0, second = 0;
  for (const traces::Track& t : trace.tracks) {
    if (t.kind != traces::TrackKind::cta) continue;
    first += t.cta < 16 && t.name.find("(launch 0)") != std::string::npos;
    second += t.cta >= 16 && t.name.find("(launch 1)") != std::string::npos;
  }
  CHECK(first == 16);
  CHECK(second == 16);
  int waits = 0;
  for (const traces::Span& span : trace.spans) {
    if (span.args.pipeline < 0 || trace.names[size_t(span.args.pipeline)] != "griddepcontrol") continue;
    ++waits;
    CHECK(trace.tracks[span.track].cta >= 16);
    CHECK(span.end >= result.launches[0].end);
  }
  CHECK(waits == 32);  // the load and the scheduler warp of each CTA
}

TEST_CASE("kernels of which two fit on an SM say what the model leaves out", "[launches]") {
  const Scenario s = chain({"config.stages=2", "config.mma=[64,64,16]", "run.sms=4"});
  const RunResult result = run_simulation(s);
  REQUIRE(result.notes.size() == 1);
  CHECK_THAT(result.notes[0], Catch::Contains("fit on one SM"));
}

TEST_CASE("what cannot be fed or faulted is refused in one line", "[launches]") {
  CHECK_THAT(refusal({"run.launches=1"}), Catch::Contains("needs run.launches of 2 or more"));
  CHECK_THAT(refusal({"run.feed=source"}), Catch::Contains("kernel matmul allows \"a\", \"residual\""));
  CHECK_THAT(refusal({"run.feed=residual"}), Catch::Contains("needs config.residual = true"));
  CHECK_THAT(refusal({"problem.n=256"}), Catch::Contains("n = k"));
  CHECK_THAT(refusal({"config.output=f32"}), Catch::Contains("config.output = config.dtype"));
  CHECK_THAT(refusal({"config.pdl=false"}, "scenarios/bugs/launches/dependent_reads_early.toml"),
             Catch::Contains("griddepcontrol needs config.pdl = true"));
}
