// SPDX-License-Identifier: Apache-2.0
// The registry of checks: complete, the same in the documentation, and what `explain` makes of it.
#include "paths.h"
#include "sim/checks.h"

#include <filesystem>
#include <regex>
#include <set>

#include "catch.h"
#include "sim/child_process.h"
#include "sim/program.h"

using namespace sm100;
using namespace sm100::sim;
namespace fs = std::filesystem;

namespace {

const fs::path kSource = source_dir();

/// Every check id that models/ and sim/ name in a string.
std::set<std::string> ids_in_the_sources() {
  const std::regex id(
      "\"((?:MB|TM|TC|CL|CB|NB|CR|EX|GM|GD|LN|PV|RG|SC|SM|TP|TR|TX|WG|WK)[0-9]+|hang|cycle-budget|mismatch|not-"
      "implemented)"
      "\"");
  std::set<std::string> found;
  for (const char* folder : {"models", "sim"})
    for (const auto& entry : fs::recursive_directory_iterator(kSource / folder)) {
      const fs::path& file = entry.path();
      if ((file.extension() != ".cpp" && file.extension() != ".h") || file.filename() == "checks.h") continue;
      const std::string text = read_whole(file);
      for (std::sregex_iterator at(text.begin(), text.end(), id), end; at != end; ++at) found.insert((*at)[1]);
    }
  return found;
}

const std::string kSound = (kSource / "scenarios/bugs/sound/load_initial_parity.toml").string();

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// A sound scenario with one fault, without the hazards that it also is.
RunResult with_fault(const char* role, const char* instruction, const char* barrier, host::FaultAction action,
                     int64_t occurrence) {
  Scenario s = load_scenario(kSource / "scenarios/01_dense_small.toml");
  FaultSpec fault;
  fault.role = role, fault.instruction = instruction, fault.barrier = barrier, fault.action = action;
  fault.occurrence = occurrence;
  s.faults = {fault};
  s.hazards = false;
  return run_in_child(s);
}

}  // namespace

TEST_CASE("KB-02: a role that skips the wait for a response disagrees about the grant", "[checks]") {
  const RunResult r = with_fault("mma", "mbarrier_try_wait_parity", "clc_full", host::FaultAction::drop, 0);
  CAPTURE(said(r));
  CHECK(r.outcome == Outcome::findings);
  CHECK(finding_of(r).id == "CL9");
}

TEST_CASE("KB-02: a wait with the parity of the phase before passes at once and is named", "[checks]") {
  const RunResult r =
      with_fault("mma", "mbarrier_try_wait_parity", "input_full", host::FaultAction::flip_parity, 20);
  CAPTURE(said(r));
  CHECK(std::any_of(r.warnings.begin(), r.warnings.end(), [](const Finding& w) { return w.id == "MB8"; }));
}

TEST_CASE("the first line and the JSON say the verdict, and what was not checked", "[checks]") {
  const ScratchDirectory here;
  const auto starts = [&](const std::string& options) {
    return first_line(run(here, "run " + kSound + options).out);
  };
  CHECK(starts("").rfind("PASS, clean  load_initial_parity: ", 0) == 0);
  const Ran none = run(here, "run --data none " + kSound);
  CHECK(none.exit_code == 0);
  CHECK(none.out.rfind("PASS, incomplete  load_initial_parity: ", 0) == 0);
  CHECK(none.out.find("\n  not checked  results (data = \"none\")\n") != std::string::npos);
  const Ran json = run(here, "run --json - --data none " + kSound);
  CHECK(json.out.find("\"outcome\": \"pass\",\n  \"verdict\": \"incomplete\",") != std::string::npos);
  CHECK(json.out.find("results (data = \\\"none\\\")") != std::string::npos);
  const std::string no_match =
      " --set 'fault=[{ instruction = \"mbarrier_arrive\", occurrence = 999999, action = \"drop\" }]'";
  const Ran unmatched = run(here, "run " + kSound + no_match);
  CHECK(unmatched.out.rfind("PASS, incomplete  ", 0) == 0);
  CHECK(unmatched.out.find("  not checked  [[fault]] 1 of 1: it matched no instruction\n") != std::string::npos);
  const Ran stopped = run(here, "run --set run.max_cycles=2000 --json - " + kSound);
  CHECK(stopped.exit_code == 3);
  CHECK(stopped.out.find("\"verdict\": \"incomplete\"") != std::string::npos);
  const Ran hang =
      run(here, "run --json - " + (kSource / "scenarios/bugs/phases/load_initial_parity.toml").string());
  CHECK(hang.exit_code == 3);
  CHECK(hang.out.find("\"verdict\": \"findings\"") != std::string::npos);
}

TEST_CASE("every id that the sources report is a registered check, and the reverse", "[checks]") {
  std::set<std::string> registered;
  for (const auto& check : kChecks) {
    CAPTURE(check.id);
    CHECK(registered.insert(std::string(check.id)).second);
    CHECK(!check.title.empty());
    CHECK(!check.meaning.empty());
    CHECK(!check.symptom.empty());
    CHECK(!check.mend.empty());
  }
  const std::set<std::string> reported = ids_in_the_sources();
  CHECK(reported.size() > 30);
  for (const std::string& id : reported) {
    CAPTURE(id);
    CHECK(registered.count(id) == 1);
  }
  for (const std::string& id : registered) {
    CAPTURE(id);
    CHECK(reported.count(id) == 1);
  }
}

TEST_CASE("docs/checks.md is what sm100sim list checks --format markdown prints", "[checks][docs]") {
  const ScratchDirectory here;
  const Ran ran = run(here, "list checks --format markdown");
  CHECK(ran.exit_code == 0);
  CHECK(ran.out == read_whole(kSource / "docs" / "checks.md"));
}

TEST_CASE("explain prints several checks, in any letter case, in 100 columns, with their scenarios", "[checks]") {
  const ScratchDirectory here;
  const Ran ran = run(here, "explain tm9 HANG");
  CHECK(ran.exit_code == 0);
  CHECK(ran.err.empty());
  CHECK(ran.out.rfind("TM9 (error)  CTA exits with copies in flight\n  means        ", 0) == 0);
  CHECK(ran.out.find("\n\nhang (error)") != std::string::npos);
  CHECK(ran.out.find("bugs/bytes/expect_tx_too_large.toml") != std::string::npos);
  CHECK(ran.out.find("bugs/sound/") == std::string::npos);
  size_t begin = 0;
  for (size_t end; (end = ran.out.find('\n', begin)) != std::string::npos; begin = end + 1)
    CHECK(end - begin <= 100);
}

TEST_CASE("explain of something else names near checks", "[checks]") {
  const ScratchDirectory here;
  const Ran unit = run(here, "explain MB99"), word = run(here, "explain hnag"), none = run(here, "explain banana");
  CHECK((unit.exit_code == 2 && unit.out.empty()));
  CHECK(unit.err.rfind("sm100sim: 'MB99' is not a check; near ones are MB1, MB2, ", 0) == 0);
  CHECK(word.err == "sm100sim: 'hnag' is not a check; near ones are hang\n");
  CHECK(none.err == "sm100sim: 'banana' is not a check; sm100sim list checks shows all\n");
  CHECK(run(here, "list kernels --format markdown").exit_code == 2);
}
