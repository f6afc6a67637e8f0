// SPDX-License-Identifier: Apache-2.0
// Instrumented PTX runs on the models, and what it records there is what the simulator derives of the kernel as it
// was written.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <regex>

#include "catch.h"
#include "kernels/ptx_launch/host/ptx_problem.h"
#include "paths.h"
#include "ptx/instrument.h"
#include "scratch_directory.h"
#include "sim/child_process.h"
#include "traces/device/point_trace.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// What a role track holds, without times.
std::string line_of(traces::SpanKind kind, uint32_t barrier, int parity) {
  if (kind != traces::SpanKind::wait) return std::string(name(kind));
  return fmt::format("{} {:#x} {}", name(kind), barrier, parity);
}

/// Of the run as it was written: a line for each derived span, by "CTA 0 warp 3".
Json derived_lines(const traces::Trace& trace, const std::vector<BarrierArray>& barriers) {
  Json lines = Json::object();
  for (const traces::Span& span : trace.spans) {
    const traces::Track& track = trace.tracks[span.track];
    if (track.kind != traces::TrackKind::role) continue;
    uint32_t barrier = 0;
    for (const BarrierArray& a : barriers)
      if (span.args.pipeline >= 0 && a.name == trace.names[size_t(span.args.pipeline)])
        barrier = a.base.offset() + 8u * uint32_t(std::max<int>(span.args.stage, 0));
    lines[fmt::format("CTA {} warp {}", track.cta, track.warp)].push_back(
        line_of(span.kind, barrier, span.args.phase & 1));
  }
  return lines;
}

struct Recorded {
  RunResult run;
  Json lines;
  uint64_t lost = 0;
};

/// Of scenarios/, or an absolute path; without ".toml".
std::filesystem::path file_of(const std::string& scenario) {
  return std::filesystem::path(source_dir()) / "scenarios" / (scenario + ".toml");
}

Recorded run_as_written(const std::string& scenario) {
  const RunReply reply = reply_in_child([&] {
    return bytes_of_run([&](Json& beside) {
      const host::Scenario s = host::load_scenario(file_of(scenario));
      traces::Recorder recorder;
      Simulation simulation(s, {.recorder = &recorder});
      simulation.run();
      const RunResult result = simulation.result();
      beside = derived_lines(recorder.trace(), simulation.kernels()[0].barriers);
      return result;
    });
  });
  return {reply.result, reply.beside};
}

constexpr uint64_t kTrace = 0x2000'0000'0000, kHeaders = 0x2000'0010'0000, kRecords = 0x2000'0100'0000;

std::string tensor(const std::string& tensor_name, uint64_t address, uint64_t bytes) {
  return fmt::format(
      "\n[[problem.tensor]]\nname = \"{}\"\ntype = \"u8\"\nshape = [{}]\ncontents = \"zeros\"\nmetadata = "
      "true\naddress = {}\n",
      tensor_name, bytes, address);
}

/// The scenario with instrumented PTX and buffers, 4,096 records of lane 0 unless told otherwise.
Recorded run_instrumented(const std::string& scenario, const ptx::InstrumentOptions& options = {},
                          uint32_t capacity = 4096) {
  const ScratchDirectory directory;
  const auto file = file_of(scenario);
  const host::Scenario written = host::load_scenario(file);
  const auto& problem = std::any_cast<const host::PtxProblem&>(written.problem);
  const ptx::Module& module = *problem.file.module;
  const ptx::Instrumented made = ptx::instrument(module, {&problem.file.entry()}, options);
  CHECK(made.unrecorded.empty());

  const uint32_t warps = uint32_t(problem.warps()) * problem.grid.x * problem.grid.y * problem.grid.z;
  PointTrace layout;
  layout.warps_per_cta = uint32_t(problem.warps());
  layout.records = kRecords, layout.headers = kHeaders;
  layout.capacity = capacity, layout.other_capacity = 64;
  std::vector<PointTraceHeader> headers(warps);
  std::vector<PointRecord> records(warps * layout.records_of_a_warp());
  std::vector<traces::PointMeaning> meanings;
  for (const ptx::Point& p : made.points) meanings.push_back({p.kind, p.event, p.from});
  std::vector<uint8_t> variable(sizeof layout);
  std::memcpy(variable.data(), &layout, sizeof layout);

  const auto launch =
      directory.write("traced.toml", read_whole(file) + tensor("trace", kTrace, sizeof layout) +
                                         tensor("headers", kHeaders, headers.size() * sizeof headers[0]) +
                                         tensor("records", kRecords, records.size() * sizeof records[0]));
  const auto traced = directory.write("traced.ptx", made.text);
  const RunReply reply = reply_in_child([&] {
    return bytes_of_run([&](Json& beside) {
      host::Scenario s = host::load_scenario(launch, {fmt::format("problem.ptx=\"{}\"", traced.string()),
                                                      fmt::format("problem.variables=[{}]", kTrace)});
      for (host::PtxTensor& t : std::any_cast<host::PtxProblem&>(s.problem).tensors) {
        if (t.name == "trace") t.bytes_there = variable.data();
        if (t.name == "headers") t.bytes_there = reinterpret_cast<uint8_t*>(headers.data());
        if (t.name == "records") t.bytes_there = reinterpret_cast<uint8_t*>(records.data());
      }
      const RunResult result = run_simulation(s);
      Json lines = Json::object();
      uint64_t lost = 0;
      for (const traces::WarpPoints& warp : traces::read_points(layout, headers, records, meanings)) {
        lost += warp.lost;
        for (const traces::DeviceSpan& span : traces::derive_spans(warp))
          lines[fmt::format("CTA {} warp {}", warp.header.cta, warp.header.warp)].push_back(
              line_of(span.kind, span.barrier, span.parity));
      }
      beside = {lines, lost};
      return result;
    });
  });
  return {reply.result, reply.beside[0], reply.beside[1].get<uint64_t>()};
}

std::vector<std::string> ids_of(const RunResult& r) {
  std::vector<std::string> ids;
  for (const Finding& f : r.findings) ids.push_back(f.id);
  for (const Finding& f : r.warnings) ids.push_back(f.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

void same_spans(const std::string& scenario) {
  INFO(scenario);
  const Recorded written = run_as_written(scenario), traced = run_instrumented(scenario);
  INFO(traced.run.report);
  CHECK(traced.run.outcome == Outcome::pass);
  CHECK(traced.run.verified);
  CHECK(ids_of(traced.run) == ids_of(written.run));
  CHECK(traced.lost == 0);
  REQUIRE(!written.lines.empty());
  for (const auto& [warp, lines] : written.lines.items()) {
    INFO(warp);
    CHECK(traced.lines.value(warp, Json::array()) == lines);
  }
  CHECK(traced.lines.size() == written.lines.size());
}

}  // namespace

TEST_CASE("instrument: what a Hopper GEMM records are the spans that the simulator derives") {
  same_spans("hopper/gemm");
}
TEST_CASE("instrument: what a GEMM with tensor memory records are the spans that the simulator derives") {
  same_spans("ptx/gemm");
}
TEST_CASE("instrument: a look ahead of a loop that waits is part of that wait, or all of it") {
  // Of whole warps, which the look suspends (hopper), and of one lane, which it answers at once.
  const ScratchDirectory folder;
  for (const std::string kernel : {"hopper/gemm", "ptx/gemm"}) {
    INFO(kernel);
    // LABEL: poll; @!p bra LABEL;
    static const std::regex loop(R"((\w+):\n(\s*mbarrier\.try_wait\S* (%?\w+), [^\n]*\n)\s*@!\3 bra \1;\n)");
    const std::string as_written = read_whole(file_of(kernel).replace_extension(".ptx"));
    const std::string text =
        std::regex_replace(as_written, loop, "$2\t@$3 bra $1_SEEN;\n$1:\n$2\t@!$3 bra $1;\n$1_SEEN:\n");
    REQUIRE(text != as_written);
    folder.write("gemm.ptx", text);
    folder.write("gemm.toml", read_whole(file_of(kernel)));
    const std::string looking = (folder.path() / "gemm").string();
    same_spans(looking);
    const Json looked = run_as_written(looking).lines, waited = run_as_written(kernel).lines;
    CHECK(looked.size() == waited.size());
    for (const auto& [warp, lines] : waited.items()) {
      INFO(warp);
      CHECK(looked.value(warp, Json::array()) == lines);
    }
  }
}
TEST_CASE("instrument: what does not fit is counted") {
  const Recorded all = run_instrumented("hopper/gemm"), few = run_instrumented("hopper/gemm", {}, 4);
  CHECK(few.run.outcome == Outcome::pass);
  CHECK(all.lost == 0);
  CHECK(few.lost > 0);
}

TEST_CASE("instrument: attention, waits of all lanes and copies by rows record what the simulator derives") {
  for (const char* scenario : {"attention", "attention_aliased", "all_lanes_wait", "add_rows", "flag"})
    same_spans(std::string("bugs/world/sound/") + scenario);
}
