// SPDX-License-Identifier: Apache-2.0
// sm100sim explore: finds what only some schedules break, takes it apart, and writes the scenario that replays it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "paths.h"
#include "sim/child_process.h"
#include "sim/explore/perturbation.h"
#include "sim/program.h"
#include "sim/text.h"

using namespace sm100;
using namespace sm100::sim;
namespace fs = std::filesystem;

namespace {

const fs::path kScenarios = fs::path(source_dir()) / "scenarios";

std::string file(const std::string& name) { return "'" + (kScenarios / name).string() + ".toml'"; }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// What explore says that does not depend on how fast the machine is.
std::string without_times(const std::string& text) {
  std::string kept;
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    std::string one = text.substr(at, end - at);
    if (one.rfind("  time", 0) == 0) continue;
    if (const size_t runs = one.find(", found in "); runs != std::string::npos) one.resize(runs);
    kept += one + "\n";
  }
  return kept;
}

RunResult in_child(const Scenario& s, const Prepared& prepared, const Perturbation& perturbation) {
  return reply_in_child([&] { return run_perturbed(s, prepared, perturbation); }).result;
}

}  // namespace

TEST_CASE("explore: bugs that the default schedule hides are found, minimised and replayed", "[explore]") {
  const struct {
    const char *name, *first_line;
    int exit_code;
  } bugs[] = {{"early_release", "MISMATCH", 1},
              {"left_over_lock", "MISMATCH", 1},
              {"neighbour_overwritten", "MISMATCH", 1},
              {"drain_parity", "HANG at cycle", 3}};
  for (const auto& bug : bugs) {
    CAPTURE(bug.name);
    ScratchDirectory scratch;
    const std::string scenario = file(std::string("explore/") + bug.name);
    const Ran plain = run(scratch, "run " + scenario);
    CHECK(plain.exit_code == 0);
    CHECK(has(plain.out, "verified     yes"));
    const Ran explored = run(scratch, "explore " + scenario + " --seeds 63");
    CAPTURE(explored.out, explored.err);
    CHECK(explored.exit_code == bug.exit_code);
    CHECK(explored.out.rfind(bug.first_line, 0) == 0);
    CHECK(explored.err == "");
    const std::string replay = std::string(bug.name) + ".replay.toml";
    CHECK(has(explored.out, "sm100sim run " + replay));
    const Scenario replayed = load_scenario(scratch / replay);
    CHECK((!replayed.delays.empty() && replayed.delays.size() <= 3));
    CHECK(replayed.faults.size() ==
          load_scenario(kScenarios / "explore" / (std::string(bug.name) + ".toml")).faults.size());
    const Ran again = run(scratch, "run " + replay);
    CAPTURE(again.out);
    CHECK(again.exit_code == bug.exit_code);
    CHECK(again.out.rfind(bug.first_line, 0) == 0);
    CHECK(again.err == "");
    CHECK(!has(again.out, "not as expected"));
    // The delays in words stand in the file, the exploration and the run.
    for (const DelaySpec& spec : replayed.delays) {
      const std::string words = fmt::format("+{} cycles: {} {} of ", grouped(int64_t(spec.delay.cycles)),
                                            row(spec.delay.point.site).name, spec.delay.point.occurrence);
      CHECK(has(explored.out, words));
      CHECK(has(again.out, words));
      CHECK(has(read_whole(scratch / replay), "# " + words));
    }
    // Any of them left out, the bug hides again.
    for (size_t i = 0; i < replayed.delays.size(); ++i) {
      Scenario fewer = replayed;
      fewer.delays.erase(fewer.delays.begin() + std::ptrdiff_t(i));
      CHECK(run_in_child(fewer).outcome == Outcome::pass);
    }
  }
}

TEST_CASE(
    "explore: a delay of the scenario's own at the point that matters is added to, not taken for the found one",
    "[explore]") {
  ScratchDirectory scratch;
  std::ofstream(scratch / "own.toml") << read_whole(kScenarios / "explore/early_release.toml")
                                      << "[[delay]]\nat = \"warp issue\"\ncta = 0\nwarp = 0\noccurrence = 135\n"
                                         "cycles = 20\n";
  const Ran explored = run(scratch, "explore own.toml --seeds 63 --jobs 1");
  CAPTURE(explored.out, explored.err);
  CHECK(explored.exit_code == 1);
  CHECK(has(explored.out, " cycles: warp issue 135 of epilogue (warp 0)"));
  CHECK(run(scratch, "run own.replay.toml").exit_code == 1);
}

TEST_CASE("explore: what is found does not depend on the number of processes", "[explore]") {
  ScratchDirectory scratch;
  const Ran one = run(scratch, "explore " + file("explore/left_over_lock") + " --jobs 1 -o a.toml");
  const Ran four = run(scratch, "explore " + file("explore/left_over_lock") + " --jobs 4 -o b.toml");
  CHECK(one.exit_code == 1);
  const auto names = [](std::string text) {
    for (size_t at; (at = text.find("b.toml")) != std::string::npos;) text[at] = 'a';
    return text;
  };
  CHECK(without_times(names(four.out)) == without_times(one.out));
  CHECK(names(read_whole(scratch / "b.toml")) == read_whole(scratch / "a.toml"));
}

TEST_CASE("explore: sound kernels of every kind are clean and give the same bits under each seed", "[explore]") {
  // All clean scenarios under 20 seeds and more: bench/explore/clean.sh.
  for (const char* name : {"02_one_stage", "12_ragged", "21_fallback", "direct/v5", "16_fused_epilogue_fp8",
                           "bugs/sound/pair", "bugs/sound/multicast", "bugs/sound/split_k",
                           "bugs/sound/copy_multicast", "bugs/sound/dependent_reads_early"}) {
    CAPTURE(name);
    ScratchDirectory scratch;
    const Ran r = run(scratch, "explore " + file(name) + " --seeds 6 --jobs 2");
    CAPTURE(r.out, r.err);
    CHECK(r.exit_code == 0);
    CHECK(r.out.rfind("EXPLORED 6 seeds, clean", 0) == 0);
    CHECK(has(r.out, "the same bits under every seed"));
    CHECK(has(r.out, "7 distinct orders of barrier completions in 7 runs"));
    CHECK(!has(r.out, "warning"));
    CHECK(r.err == "");
    CHECK(scratch.files() == 0);
  }
}

TEST_CASE("explore: the delays of a seed, listed one by one, give the seed's run", "[explore]") {
  for (const char* name :
       {"bugs/sound/pairs_multicast", "18_dependent_launch", "bugs/sound/split_k", "02_one_stage"}) {
    CAPTURE(name);
    const Scenario s = load_scenario(kScenarios / (std::string(name) + ".toml"));
    const Prepared prepared = prepare(s);
    const RunResult plain = in_child(s, prepared, {});
    const RunResult seeded = in_child(s, prepared, {.seed = 5, .delays = {}, .record = true});
    REQUIRE(seeded.drawn.size() > 50);
    CHECK(seeded.completion_order != plain.completion_order);
    const RunResult listed = in_child(s, prepared, {.seed = {}, .delays = seeded.drawn, .record = false});
    CHECK(listed.completion_order == seeded.completion_order);
    CHECK(listed.cycles == seeded.cycles);
    CHECK(listed.output_hash == plain.output_hash);
    CHECK(listed.delays.size() == seeded.drawn.size());
  }
}

TEST_CASE("explore: a run that fails without jitter is told as it is", "[explore]") {
  ScratchDirectory scratch;
  const Ran r = run(scratch, "explore " + file("bugs/arrivals/release_missing"));
  CHECK(r.exit_code == 3);
  CHECK(r.out.rfind("HANG at cycle", 0) == 0);
  CHECK(has(r.out, "explored     nothing: the run without jitter fails already"));
  CHECK(scratch.files() == 0);
}

TEST_CASE("explore: --minimise-for 0 names the seed and writes nothing", "[explore]") {
  ScratchDirectory scratch;
  const Ran r = run(scratch, "explore " + file("explore/early_release") + " --minimise-for 0");
  CHECK(r.exit_code == 1);
  CHECK(has(r.out, "found by     seed 1: wrong numbers"));
  CHECK(has(r.out, "not taken apart"));
  CHECK(scratch.files() == 0);
  CHECK(run(scratch, "run " + file("explore/early_release") + " --jitter 1").exit_code == 1);
}

TEST_CASE("explore: --for without --seeds ends by itself", "[explore]") {
  ScratchDirectory scratch;
  const Ran r = run(scratch, "explore " + file("bugs/sound/one_tile") + " --for 1");
  CHECK(r.exit_code == 0);
  CHECK(r.out.rfind("EXPLORED ", 0) == 0);
}

TEST_CASE("explore: refuses what it cannot do in one line, before it runs", "[explore][bad-input]") {
  ScratchDirectory scratch;
  scratch.write("there.toml", "precious");
  scratch.write("early_release.replay.toml", "precious");
  const std::string scenario = file("explore/early_release");
  const struct {
    std::string arguments, names;
  } bad[] = {
      {"explore nowhere.toml", "nowhere.toml: no such file"},
      {"explore " + scenario, "early_release.replay.toml: exists; remove it or name another file"},
      {"explore " + scenario + " -o there.toml", "there.toml: exists"},
      {"explore " + scenario + " -o no/such/folder.toml", "-o: cannot write"},
      {"explore " + scenario + " -o ''", "a file name is needed"},
      {"explore " + scenario + " --seeds 0", "--seeds"},
      {"explore " + scenario + " --jobs 0", "--jobs"},
      {"explore " + scenario + " --for 0", "--for"},
      {"explore " + scenario + " -o x.toml --set run.jitter=3", "explore chooses the seeds itself"},
      {"explore " + scenario + " -o x.toml --set config.stages=99", "config.stages"},
      {"explore " + scenario + " -o x.toml --set fault.0.occurrence=9999", "the fault matched no instruction"}};
  for (const auto& b : bad) {
    CAPTURE(b.arguments);
    const Ran r = run(scratch, b.arguments);
    CHECK(r.exit_code == 2);
    CHECK(r.out == "");
    CHECK(has(r.err, b.names));
    CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
    CHECK(scratch.files() == 2);
  }
  CHECK(read_whole(scratch / "there.toml") == "precious");
}

TEST_CASE("a [[delay]] delays its point, and one that never occurs is a warning", "[explore]") {
  ScratchDirectory scratch;
  const std::string text = read_whole(kScenarios / "02_one_stage.toml");
  const auto with = [&](const std::string& delay) {
    return scratch.write("s.toml", text + "\n[[delay]]\n" + delay).string();
  };
  const Ran plain = run(scratch, "run '" + scratch.write("s.toml", text).string() + "'");
  const Ran late =
      run(scratch, "run '" + with("at = \"tma load\"\ncta = 0\nwarp = 5\noccurrence = 1\ncycles = 5000\n") + "'");
  CHECK(late.exit_code == 0);
  CHECK(late.err == "");
  CHECK(has(late.out,
            "  delay        +5,000 cycles: tma load 1 of load (warp 5) of CTA 0 for input_full[0], at cycle "));
  CHECK(!has(plain.out, "  delay  "));
  const auto cycles = [](const std::string& out) { return out.substr(out.find("  time "), 40); };
  CHECK(cycles(late.out) != cycles(plain.out));
  const Ran never =
      run(scratch, "run '" + with("at = \"tma load\"\ncta = 0\nwarp = 0\noccurrence = 1\ncycles = 5000\n") + "'");
  CHECK(never.exit_code == 0);
  CHECK(has(never.err, "s.toml:"));
  CHECK(
      has(never.err, "key 'delay.0.at' = \"tma load\": this point did not occur in the run; nothing was delayed"));
  CHECK(cycles(never.out) == cycles(plain.out));
}

TEST_CASE("a [[delay]] is checked key by key", "[explore][bad-input]") {
  ScratchDirectory scratch;
  const std::string text = read_whole(kScenarios / "02_one_stage.toml");
  const struct {
    const char *delay, *names;
  } bad[] = {
      {"at = \"nowhere\"\ncta = 0\noccurrence = 0\ncycles = 1", "\"tma load\", \"tma delivery\""},
      {"cta = 0\noccurrence = 0\ncycles = 1", "'delay.0.at'"},
      {"at = \"tma load\"\ncta = 0\noccurrence = 0\ncycles = 1", "'delay.0.warp'"},
      {"at = \"tma load\"\ncta = 0\nwarp = 7\noccurrence = 0\ncycles = 1", "'delay.0.warp' = 7"},
      {"at = \"tma load\"\ncta = 99\nwarp = 5\noccurrence = 0\ncycles = 1", "'delay.0.cta' = 99"},
      {"at = \"cta start\"\ncta = 0\nwarp = 5\noccurrence = 0\ncycles = 1", "a point \"cta start\" has none"},
      {"at = \"tma load\"\ncta = 0\nwarp = 5\nto = 0\noccurrence = 0\ncycles = 1", "'delay.0.to' = 0"},
      {"at = \"remote arrive\"\ncta = 0\nwarp = 5\nto = 1\noccurrence = 0\ncycles = 1", "'delay.0.to' = 1"},
      {"at = \"tma load\"\ncta = 0\nwarp = 5\noccurrence = -1\ncycles = 1", "'delay.0.occurrence' = -1"},
      {"at = \"tma load\"\ncta = 0\nwarp = 5\noccurrence = 0\ncycles = 0", "'delay.0.cycles' = 0"},
      {"at = \"tma load\"\ncta = 0\nwarp = 5\noccurrence = 0\ncycles = 1\nsm = 0", "unknown key 'delay.0.sm'"}};
  for (const auto& b : bad) {
    CAPTURE(b.delay);
    const Ran r =
        run(scratch, "run '" + scratch.write("s.toml", text + "\n[[delay]]\n" + b.delay + "\n").string() + "'");
    CHECK(r.exit_code == 2);
    CHECK(r.out == "");
    CHECK(has(r.err, b.names));
    CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
  }
}
