// SPDX-License-Identifier: Apache-2.0
// Every sound scenario of the project verifies and is clean (the broken ones: test_bugs.cpp).
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>

#include "catch.h"
#include "kernels/host/run_plan.h"
#include "kernels/isa/instructions/catalogue.h"
#include "matmul_of.h"
#include "paths.h"
#include "pftrace.pb.h"
#include "scratch_directory.h"
#include "sim/checks.h"
#include "sim/child_process.h"
#include "sim/scenario_files.h"
#include "traces/format/pftrace.h"
#include "traces/well_formed.h"

using namespace sm100;
using namespace sm100::sim;
namespace fs = std::filesystem;

namespace {

const fs::path kSource = source_dir();

}  // namespace

TEST_CASE("every scenario of the project verifies", "[scenarios]") {
  auto names = scenario_names("");
  REQUIRE(names.size() >= 9);
  const auto smoke = scenario_names("smoke");
  REQUIRE(smoke.size() == 86);  // ten of each kernel, and ten outputs and six narrow tiles of the block-scaled one
  names.insert(names.end(), smoke.begin(), smoke.end());
  for (const std::string& name : scenario_names("split_k"))
    if (name.find("splits_4") == std::string::npos) names.push_back(name);  // those take 10 s
  const auto tail = scenario_names("tail");
  names.insert(names.end(), tail.begin(), tail.end());
  for (const std::string& name : scenario_names("copy"))
    if (name.find("chip") == std::string::npos) names.push_back(name);  // a whole chip takes long
  for (const std::string& name : names) {
    CAPTURE(name);
    const Scenario s = load_by_name(name);
    const RunResult r = run_in_child(s);
    CAPTURE(said(r));
    CHECK(r.outcome == Outcome::pass);
    CHECK(r.verified);
    // Of large products not all rows are compared.
    const host::RunPlan plan = host::plan_of(s);
    const bool some_rows = std::any_of(plan.kernels.begin(), plan.kernels.end(),
                                       [](const host::PlannedKernel& k) { return k.run->flops() / 2 > 2.2e9; });
    CHECK(verdict_of(r) == (some_rows ? Verdict::incomplete : Verdict::clean));
    CHECK(r.warnings.empty());
  }
}

namespace {

/// Runs the smoke configurations of the kernels whose names begin with `kernels` in the bit model, and counts them.
int verified_in_the_bit_model(const std::string& kernels) {
  int runs = 0;
  for (const std::string& name : scenario_names("smoke")) {
    if (name.find("smoke/" + kernels) == std::string::npos) continue;
    CAPTURE(name);
    Scenario s = load_by_name(name);
    s.numerics = Numerics::b200;
    const RunResult r = run_in_child(s);
    CAPTURE(said(r));
    CHECK(r.outcome == Outcome::pass);
    CHECK(r.verified);
    CHECK(r.warnings.empty());
    ++runs;
  }
  return runs;
}

}  // namespace

TEST_CASE("the smoke configurations of the scaled matmuls verify in the bit model, too", "[scenarios]") {
  CHECK(verified_in_the_bit_model("block") == 36);
}

TEST_CASE("the smoke configurations of the grouped matmuls verify in the bit model, too", "[scenarios]") {
  CHECK(verified_in_the_bit_model("grouped") == 30);
}

TEST_CASE("FP32 output shows the accumulators within 1e-5, BF16 output within 1e-2 of float64", "[scenarios]") {
  Scenario s = load_by_name("01_dense_small");
  CHECK(run_in_child(s).check.relative_error < 1e-2);
  matmul_of(s).config.output = DataType::f32;
  const RunResult f32 = run_in_child(s);
  CHECK(f32.verified);
  CHECK(f32.check.relative_error < 1e-5);
  matmul_of(s).m = matmul_of(s).n = matmul_of(s).k = 256;  // the bit model is slow
  const RunResult small = run_in_child(s);
  s.numerics = Numerics::b200;
  const RunResult b200 = run_in_child(s);
  CHECK(b200.verified);
  CHECK(b200.check.relative_error < 1e-5);
  CHECK(b200.output_hash != small.output_hash);  // truncation shows
}

TEST_CASE("dropping one arrival on any barrier is blamed on that barrier, stage and role", "[scenarios]") {
  struct Drop {
    const char *role, *instruction, *barrier;
  };
  const Drop drops[] = {{"load", "mbarrier_arrive_expect_tx", "input_full"},
                        {"mma", "tcgen05_commit", "input_empty"},
                        {"mma", "tcgen05_commit", "accum_full"},
                        {"epilogue", "mbarrier_arrive", "accum_empty"},
                        {"scheduler", "mbarrier_arrive_expect_tx", "clc_full"},
                        {"mma", "mbarrier_arrive", "clc_empty"},
                        {"load", "mbarrier_arrive", "throttle_full"},
                        {"scheduler", "mbarrier_arrive", "throttle_empty"},
                        {"epilogue", "mbarrier_arrive", "tmem_dealloc"}};
  for (const Drop& drop : drops) {
    CAPTURE(drop.barrier);
    Scenario s = load_by_name("bugs/sound/load_initial_parity");
    FaultSpec fault;
    fault.role = drop.role;
    fault.instruction = drop.instruction;
    fault.barrier = drop.barrier;
    fault.action = FaultAction::drop;
    fault.occurrence = 0;
    s.faults = {fault};
    const RunResult r = run_in_child(s);
    CAPTURE(said(r));
    CHECK(r.outcome == Outcome::hang);
    CHECK(finding_of(r).barrier == drop.barrier);
    CHECK(finding_of(r).stage == 0);
    const std::string text = said(r), cause = text.substr(text.find("likely cause:"));
    CHECK(cause.find(drop.role) != std::string::npos);
  }
}

TEST_CASE("the trace of a run is well formed for Perfetto and reads back as recorded", "[scenarios][traces]") {
  ScratchDirectory scratch;
  const fs::path file = scratch / "run.pftrace";
  const Scenario s = load_by_name("01_dense_small");
  traces::Recorder recorder;
  const RunResult result = run_simulation(s, {.recorder = &recorder});  // this test case has its process to itself
  REQUIRE(result.outcome == Outcome::pass);
  traces::write_pftrace(recorder.trace(), file);

  perfetto::Trace parsed;
  REQUIRE(parsed.ParseFromString(read_whole(file)));
  traces::check_well_formed(parsed);

  traces::Trace& trace = recorder.trace();
  traces::sort_events(trace);
  CHECK(traces::read_pftrace(file) == trace);

  // Flows connect issue, copy and wait: every load has a cause and an effect, and some wait ends because of
  // it.
  std::set<uint64_t> begun, ended;
  for (const traces::Span& span : trace.spans) {
    if (span.flow_out) begun.insert(span.flow_out);
    if (span.flow_in) ended.insert(span.flow_in);
  }
  size_t loads = 0, loads_waited_for = 0;
  for (const traces::Span& span : trace.spans) {
    if (span.kind != traces::SpanKind::tma_load) continue;
    ++loads;
    CHECK(begun.count(span.flow_in) == 1);
    loads_waited_for += ended.count(span.flow_out);
  }
  CHECK(loads == 16u * 16u * 2u);        // 16 tiles, 16 k tiles, A and B
  CHECK(loads_waited_for == loads / 2);  // the later copy of each stage wakes the MMA warp
}

TEST_CASE("recording does not change the run", "[scenarios]") {
  const Scenario s = load_by_name("08_more_tiles_than_sms");
  const RunResult with = record_in_child(s), without = run_in_child(s);
  CHECK(with.cycles == without.cycles);
  CHECK(with.output_hash == without.output_hash);
}

TEST_CASE("a cycle budget that ends before the first CTA starts says so", "[scenarios]") {
  Scenario s = load_by_name("01_dense_small");
  s.max_cycles = 100;
  const RunResult r = run_in_child(s);
  CHECK(r.outcome == Outcome::hang);
  CHECK(finding_of(r).id == "cycle-budget");
  CHECK_THAT(said(r), Catch::StartsWith("STOPPED at cycle 100: the budget of 100 cycles is used up; no CTA runs: a "
                                        "launch takes longer (launch.* of the profile)\n"));
}

TEST_CASE("a cycle budget ends the run and says where the warps are", "[scenarios]") {
  Scenario s = load_by_name("01_dense_small");
  s.max_cycles = 5000;
  const RunResult r = run_in_child(s);
  CHECK(r.outcome == Outcome::hang);
  CHECK(finding_of(r).id == "cycle-budget");
  CHECK(finding_of(r).cause == "the budget of 5,000 cycles is used up");
  CHECK(finding_of(r).fault_role.empty());  // the kernel is sound
  CHECK(r.cycles <= 5000);
  CHECK(said(r).find("STOPPED at cycle") == 0);
}

TEST_CASE("list isa names the checks that a fence is there for, and they exist", "[docs]") {
  const std::regex id("[A-Z]{2}[0-9]+");
  for (const instructions::SupportLine& row : instructions::support_lines()) {
    CAPTURE(row.instruction);
    const std::string note(row.note);
    if (row.instruction.find("fence") != std::string_view::npos) CHECK(std::regex_search(note, id));
    for (std::sregex_iterator at(note.begin(), note.end(), id), end; at != end; ++at)
      CHECK(find_check(at->str()) != nullptr);
  }
}

TEST_CASE("docs/isa-support.txt is what sm100sim list isa prints", "[docs]") {
  ScratchDirectory scratch;
  const std::string out = (scratch / "isa.txt").string();
  REQUIRE(std::system(("'" + sm100sim_binary() + "' list isa > " + out).c_str()) == 0);
  CHECK(read_whole(out) == read_whole(kSource / "docs" / "isa-support.txt"));
}
