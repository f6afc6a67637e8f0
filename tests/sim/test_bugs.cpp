// SPDX-License-Identifier: Apache-2.0
// The bug catalogue: every scenario of scenarios/bugs/ is found, reported word for word as its golden text, and clean
// without its faults; docs/bugs.md lists them, and what no scenario shows.  SM100_UPDATE_GOLDEN=1 rewrites the golden
// files and the table.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "catch.h"
#include "paths.h"
#include "scratch_directory.h"
#include "sim/checks.h"
#include "sim/child_process.h"
#include "sim/scenario_files.h"
#include "sim/text.h"

using namespace sm100;
using namespace sm100::sim;
namespace fs = std::filesystem;

namespace {

const fs::path kSource = source_dir();
constexpr int kCatalogueEntries = 40;

/// Entries of the catalogue that the kernels here cannot have.
const std::map<int, const char*> kNotInThisFamily = {
    {16, "no kernel signals others through memory that a TMA store has written"},
    {27, "tensor maps do not change during a launch (grouped GEMM)"},
    {29, "no scale factors (block-scaled GEMM)"},
    {30, "no groups (grouped GEMM)"},
    {39, "no scale factors (block-scaled GEMM)"},
};

/// Checks that no scenario of the folder shows.
const std::map<std::string, const char*> kNotTriggered = {
    {"TM1", "tensor maps are encoded by the host from the configuration, whose rules come first"},
    {"TC5", "instruction descriptors follow from the configuration; no fault alters one"},
    {"TC6", "a fault moves a descriptor's address, not its constant bits"},
    {"TC17", "MMAs of one issuing thread run in order; another one's are found earlier, as TC3 or TC15"},
    {"CL3", "roles decode the id only under the predicate"},
    {"EX1", "depends on a few hundred cycles between commit and exit; MB12 finds the same drain missing"},
    {"EX2", "a role that reads a response before it has come is found first (CL6)"},
    {"NB4", "no two groups of warps can meet on one id with equal counts here; one that leaves its group hangs"},
    {"RG1", "no kernel of the catalogue has setmaxnreg; tests/models/test_register_pool.cpp shows it"},
    {"RG2", "the same"},
    {"cycle-budget", "says where a run was stopped, not what is wrong"},
    {"not-implemented", "says what the simulator lacks"},
};

bool is_sound(const std::string& name) { return name.ends_with("_sound"); }

std::vector<std::string> bugs() {
  std::vector<std::string> names = scenario_names("bugs");
  names.erase(std::remove_if(names.begin(), names.end(), is_sound), names.end());
  return names;
}

std::vector<std::string> twins() {
  std::vector<std::string> names = scenario_names("bugs/sound");
  for (const std::string& name : scenario_names("bugs"))
    if (is_sound(name)) names.push_back(name);
  return names;
}

/// The twin that a bug names, else the one that is called like it.
std::string twin_of(const std::string& name, const Scenario& bug) {
  return bug.sound.empty() ? name + "_sound" : (fs::path(name).parent_path() / bug.sound).string();
}

/// A report, and the warnings.
std::string golden_text(const RunResult& r) {
  std::string text = said(r).empty() ? fmt::format("PASS, {}\n", name(verdict_of(r))) : said(r);
  for (const Finding& w : r.warnings)
    text += fmt::format("  warning      {}: {}{}{}\n", w.id, w.message, w.location.empty() ? "" : "  ", w.location);
  return text;
}

/// Number in "KB-07: what is wrong"; 0: none.  `what` is the rest.
int catalogue_entry(const std::string& description, std::string& what) {
  what = description;
  if (description.rfind("KB-", 0) != 0) return 0;
  what = description.substr(description.find(": ") + 2);
  return std::stoi(description.substr(3));
}

/// The checks that a scenario is expected to show.
std::set<std::string> shown(const Scenario& s) {
  std::set<std::string> ids;
  if (s.expect.id) ids.insert(*s.expect.id);
  if (s.expect.warning) ids.insert(*s.expect.warning);
  if (s.expect.outcome == "mismatch") ids.insert("mismatch");
  return ids;
}

/// | scenario | KB | what is broken | verdict | check | waits for, or concerns | role | cycle |
std::string row(const std::string& name, const Scenario& s, const RunResult& r) {
  std::string what;
  const int entry = catalogue_entry(s.description, what);
  const bool warned = r.outcome == Outcome::pass;
  const Finding f = finding_of(r);
  const std::string barrier = f.stage < 0 ? f.barrier : fmt::format("{}[{}]", f.barrier, f.stage);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", fs::path(name).filename().string(),
                     entry ? fmt::format("{:02}", entry) : "", what, warned ? "warning" : sim::name(r.outcome),
                     warned                           ? s.expect.warning.value_or("")
                     : r.outcome == Outcome::mismatch ? "mismatch"
                                                      : f.id,
                     barrier, f.role, warned || r.outcome == Outcome::mismatch ? "" : grouped(int64_t(r.cycles)));
}

std::string page(const std::string& rows) {
  std::string text =
      "# Bugs\n\n"
      "The scenarios of `scenarios/bugs/`, each with one thing broken by `[[fault]]`, and how the simulator "
      "diagnoses "
      "it. A test keeps\nthis page and every report (`tests/sim/golden/bugs/`) word for word. `sound` in a "
      "scenario "
      "names its twin without the fault,\nwhich is clean. KB numbers are entries of the bug catalogue, one of the "
      "working papers behind this project; `sm100sim explain ID`\nsays what a check means. The cycle is that of "
      "the "
      "diagnosis: a hang is diagnosed when nothing is left to happen.\n\n"
      "| scenario | KB | what is broken | verdict | check | barrier | role | cycle |\n"
      "|---|---|---|---|---|---|---|---|\n" +
      rows + "\n## What is not here\n\nEntries of the catalogue that these kernels cannot have:\n\n";
  for (const auto& [entry, reason] : kNotInThisFamily) text += fmt::format("- KB-{:02}: {}\n", entry, reason);
  text += "\nChecks that no scenario shows:\n\n";
  for (const auto& [id, reason] : kNotTriggered) text += fmt::format("- {}: {}\n", id, reason);
  return text;
}

}  // namespace

TEST_CASE("bugs: each ends as it expects and is reported word for word, and docs/bugs.md lists it",
          "[bugs][golden]") {
  const bool update = std::getenv("SM100_UPDATE_GOLDEN");
  const auto names = bugs();
  REQUIRE(names.size() >= 100);
  std::string rows;
  for (const std::string& name : names) {
    CAPTURE(name);
    const Scenario s = load_by_name(name);
    const RunResult r = run_in_child(s);
    CAPTURE(said(r));
    REQUIRE(s.expect.stated);
    CHECK(s.expect.outcome == sim::name(r.outcome));
    CHECK(finding_of(r).id == s.expect.id.value_or(""));
    CHECK(finding_of(r).barrier == s.expect.barrier.value_or(""));
    CHECK(finding_of(r).stage == s.expect.stage.value_or(-1));
    CHECK(finding_of(r).phase == s.expect.phase.value_or(-1));
    CHECK(finding_of(r).role == s.expect.role.value_or(""));
    CHECK(not_as_expected(s.expect, r) == "");
    CHECK(r.warnings.empty() == !s.expect.warning);
    const fs::path golden = kSource / "tests/sim/golden/bugs" / (fs::path(name).filename().string() + ".txt");
    if (update) std::ofstream(golden) << golden_text(r);
    CHECK(golden_text(r) == read_whole(golden));
    rows += row(name, s, r);
  }
  if (update) std::ofstream(kSource / "docs" / "bugs.md") << page(rows);
  CHECK(page(rows) == read_whole(kSource / "docs" / "bugs.md"));
}

TEST_CASE("bugs: every golden report belongs to a scenario", "[bugs][golden]") {
  for (const auto& entry : fs::directory_iterator(kSource / "tests/sim/golden/bugs")) {
    CAPTURE(entry.path());
    CHECK(fs::exists(kSource / "scenarios/bugs" / (entry.path().stem().string() + ".toml")));
  }
}

TEST_CASE("bugs: a sound twin is the bug without its faults", "[bugs]") {
  std::set<std::string> used;
  for (const std::string& name : bugs()) {
    CAPTURE(name);
    const Scenario bug = load_by_name(name);
    const std::string twin = twin_of(name, bug);
    CAPTURE(twin);
    REQUIRE(fs::exists(kSource / "scenarios" / (twin + ".toml")));
    const Scenario sound = load_by_name(twin);
    CHECK(!bug.faults.empty());
    CHECK(sound.faults.empty());
    CHECK(sound.profile == bug.profile);
    CHECK(sound.trace_configuration_json() == bug.trace_configuration_json());
    used.insert(twin);
  }
  for (const std::string& twin : twins()) {
    CAPTURE(twin);
    CHECK(used.count(twin) == 1);
  }
}

TEST_CASE("bugs: the sound twins are clean, without a warning", "[bugs]") {
  for (const std::string& name : twins()) {
    CAPTURE(name);
    const RunResult r = run_in_child(load_by_name(name));
    CAPTURE(said(r));
    CHECK(r.verified);
    CHECK(verdict_of(r) == Verdict::clean);
    CHECK(r.warnings.empty());
  }
}

TEST_CASE("bugs: each entry of the catalogue has a scenario that is named after it, or cannot occur here",
          "[bugs]") {
  std::set<int> entries;
  for (const std::string& name : bugs()) {
    CAPTURE(name);
    std::string what;
    const int entry = catalogue_entry(load_by_name(name).description, what);
    const std::string file = fs::path(name).filename().string();
    if (file.rfind("kb", 0) == 0) CHECK(file.rfind(fmt::format("kb{:02}_", entry), 0) == 0);
    entries.insert(entry);
  }
  for (int entry = 1; entry <= kCatalogueEntries; ++entry) {
    CAPTURE(entry);
    CHECK(entries.count(entry) + kNotInThisFamily.count(entry) == 1);
  }
}

TEST_CASE("bugs: each check is shown by a scenario, or there is a reason why none shows it", "[bugs][checks]") {
  std::set<std::string> ids;
  for (const std::string& name : bugs()) ids.merge(shown(load_by_name(name)));
  for (const sm100::sim::Check& check : kChecks) {
    CAPTURE(check.id);
    CHECK(ids.count(std::string(check.id)) + kNotTriggered.count(std::string(check.id)) == 1);
    ids.erase(std::string(check.id));
  }
  CAPTURE(fmt::format("{}", fmt::join(ids, " ")));
  CHECK(ids.empty());  // ids that nobody has registered
}
