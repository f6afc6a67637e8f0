// SPDX-License-Identifier: Apache-2.0
// The bug catalogue: every scenario of scenarios/bugs/ is found, reported word for word as its golden text, and
// clean without its faults; docs/bugs.md lists them, and what no scenario shows.  SM100_UPDATE_GOLDEN=1 rewrites
// the golden files and the table.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "catch.h"
#include "paths.h"
#include "scratch_directory.h"
#include "sim/bug_catalogue.h"
#include "sim/checks.h"
#include "sim/child_process.h"
#include "sim/scenario_files.h"
#include "sim/text.h"

using namespace sm100;
using namespace sm100::sim;
namespace fs = std::filesystem;

namespace {

const fs::path kSource = source_dir();
/// What goes wrong in the scenarios of each folder.
const std::map<std::string, const char*> kThemes = {
    {"addresses", "A tile, a descriptor or a barrier is not where the instruction looks for it."},
    {"arrivals", "A barrier gets too many arrivals, too few, or counts them wrongly."},
    {"bytes", "A barrier expects other bytes than the copies deliver."},
    {"clusters", "A signal, a mask or a cluster barrier misses the CTA that it is meant for."},
    {"disagreement",
     "Roles that work on different tiles or steps and yet end: what their trace points say is compared."},
    {"groups", "Groups of tokens (MoE): where they begin and end, whose scales they have, who takes which tile."},
    {"hopper", "hopper_matmul: stages that go back too early, turns at the tensor core, and what TMA reads."},
    {"lanes", "Too many lanes execute an instruction, too few, or another one."},
    {"launch_control", "Cluster launch control: requests, responses, and the roles that decode them."},
    {"launches", "One launch depends on another."},
    {"lifetime", "Something is used before it is set up, or after its CTA has gone."},
    {"locks", "Split-K: the lock of a tile in global memory."},
    {"maps", "Tensor maps that the kernel edits for its groups, and groups without K."},
    {"memory_order", "A fence is missing between two accesses."},
    {"named_barriers", "bar.sync and bar.arrive: counts, ids, and warps that do not come."},
    {"phases", "A wait is for the wrong phase, or is missing."},
    {"provenance", "Wrong numbers that break no protocol: what was multiplied with what, and where it went."},
    {"scales", "Scale factors: their copies, their columns, their padding, which of them multiply what."},
    {"stores", "The way of a strip from registers to global memory."},
    {"tensor_memory", "Accumulators and the columns of tensor memory: reads, allocation, release."},
    {"wgmma",
     "Hopper: operands that the warpgroup's matrix instruction still reads, and warps that disagree about it."},
};

/// Checks that no scenario of the folder shows.
const std::map<std::string, const char*> kNotTriggered = {
    {"TM1", "tensor maps are encoded by the host from the configuration, whose rules come first"},
    {"TC5", "instruction descriptors follow from the configuration; tests/models shows it"},
    {"TC6", "a fault moves a descriptor's address, not its constant bits"},
    {"TC14", "tcgen05.cp fills the four quarters alike; tests/models shows it with stores"},
    {"TC19", "no kernel of the catalogue is sparse; tests/models/test_umma_sparsity.cpp shows it"},
    {"CL3", "roles decode the id only under the predicate"},
    {"EX1", "depends on a few hundred cycles between commit and exit; CR3 finds the same drain missing"},
    {"EX2", "a role that reads a response before it has come is found first (CL6)"},
    {"PV4", "the bytes of the output show it first (GM4), whose finding then has the reason"},
    {"MB19", "a note about PTX; what it leaves unordered is found: tests/sim/ptx/test_faulty_gemm.cpp"},
    {"GM6",
     "no kernel of the catalogue copies what threads store; scenarios/bugs/world/x82_flag_then_copy.toml does"},
    {"GM7",
     "no kernel of the catalogue reads what its bulk stores write; tests/sim/ptx/test_unfinished_stores.cpp shows "
     "it"},
    {"GD2", "what is missing is an event, no instruction: scenarios/launches/missing_event.toml"},
    {"NB4", "no two groups of warps can meet on one id with equal counts here; one that leaves its group hangs"},
    {"TR1", "an assertion of the kernel's own; tests/sim/test_ptx_kernels.cpp has one"},
    {"TR2", "the same; tests/sim/ptx/test_calls.cpp has one"},
    {"RG1", "no kernel of the catalogue has setmaxnreg; tests/models/test_register_pool.cpp shows it"},
    {"RG2", "the same"},
    {"WG1", "ptxas repairs it; tests/sim/ptx/test_wgmma.cpp shows it"},
    {"MB7",
     "no kernel of the catalogue invalidates a barrier or drops out; tests/sim/test_mbarrier_states.cpp shows it"},
    {"MB13", "the same"},
    {"TM14",
     "no kernel of the catalogue reduces into global memory by bulk copies; tests/sim and tests/models show it"},
    {"TM15", "the same"},
    {"TM16", "no kernel of the catalogue copies bytes between CTAs; tests/sim/test_cluster_memory.cpp shows it"},
    {"CR2",
     "no kernel of the catalogue reads another CTA's shared memory; tests/sim/test_cluster_memory.cpp shows it"},
    {"SM4",
     "no kernel of the catalogue multiplies bytes that it has not loaded; tests/sim/ptx/test_unwritten_shared.cpp "
     "shows it"},
    {"LN2",
     "roles elect between a wait and what one lane does; scenarios/bugs/world/a63_lanes_do_not_meet.toml shows it"},
    {"LN1", "roles step their rings in all lanes, and no fault alters that; tests/sim/test_lanes.cpp shows it"},
    {"cycle-budget", "says where a run was stopped, not what is wrong"},
    {"not-implemented", "says what the simulator lacks"},
};

std::vector<std::string> themes() {
  std::vector<std::string> names;
  for (const fs::path& folder : scenario_folders("bugs"))
    if (folder.filename() != "sound" && folder.filename() != "world")  // tests/sim/test_world_bugs.cpp
      names.push_back(folder.filename().string());
  return names;
}

std::vector<std::string> bugs() {
  std::vector<std::string> names;
  for (const std::string& theme : themes())
    for (const std::string& name : scenario_names("bugs/" + theme)) names.push_back(name);
  return names;
}

std::vector<std::string> twins() { return scenario_names("bugs/sound"); }

/// The twin that a bug names.
std::string twin_of(const std::string& name, const Scenario& bug) {
  return (fs::path(name).parent_path() / bug.sound).lexically_normal().string();
}

/// A report, and the warnings.
std::string golden_text(const RunResult& r) {
  std::string text = said(r).empty() ? fmt::format("PASS, {}\n", name(verdict_of(r))) : said(r);
  for (const Finding& w : r.warnings)
    text += fmt::format("  warning      {}: {}{}{}\n", w.id, w.message, w.location.empty() ? "" : "  ", w.location);
  return text;
}

/// "KB-07" of "KB-07: what is wrong"; empty: none.  `what` is the rest.
std::string catalogue_entry(const std::string& description, std::string& what) {
  what = description;
  if (description.rfind("KB-", 0) != 0) return "";
  what = description.substr(description.find(": ") + 2);
  return description.substr(0, 5);
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
  const std::string entry = catalogue_entry(s.description, what);
  const bool warned = r.outcome == Outcome::pass;
  const Finding f = finding_of(r);
  const std::string barrier = f.stage < 0 ? f.barrier : fmt::format("{}[{}]", f.barrier, f.stage);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", fs::path(name).filename().string(),
                     entry.empty() ? "" : entry.substr(3), what, warned ? "warning" : sim::name(r.outcome),
                     warned                           ? s.expect.warning.value_or("")
                     : r.outcome == Outcome::mismatch ? "mismatch"
                                                      : f.id,
                     barrier, f.role, warned || r.outcome == Outcome::mismatch ? "" : grouped(int64_t(r.cycles)));
}

/// "owner/repository#12" as a link.
std::string link_to(const std::string& report) {
  const size_t number = report.find('#'), owner = report.find('/') + 1;
  return fmt::format("[{}](https://github.com/{}/issues/{})", report.substr(owner), report.substr(0, number),
                     report.substr(number + 1));
}

std::string catalogue() {
  std::string text =
      "\n## The catalogue\n\nThe ways in which kernels of this family break. The numbers are stable. The public "
      "reports are of bugs of the same kind.\n\n"
      "| entry | what is wrong | what one sees | public reports |\n|---|---|---|---|\n";
  for (const CatalogueEntry& entry : kBugCatalogue) {
    std::string links;
    std::istringstream reports{std::string(entry.reports)};
    for (std::string report; reports >> report;) links += (links.empty() ? "" : ", ") + link_to(report);
    text += fmt::format("| {} | {} | {} | {} |\n", entry.id, entry.bug, entry.effect, links);
  }
  return text;
}

std::string page(const std::map<std::string, std::string>& rows) {
  std::string text =
      "# Bugs\n\n"
      "The scenarios of `scenarios/bugs/`, by theme. Each has one thing broken by `[[fault]]`, and the simulator "
      "diagnoses it. A test\nkeeps this page and every report (`tests/sim/golden/bugs/`) word for word. `sound` in "
      "a "
      "scenario names its twin without the\nfault, which is clean (`scenarios/bugs/sound/`). KB numbers are "
      "entries "
      "of [the catalogue](#the-catalogue); `sm100sim explain ID`\nexplains a check, `sm100sim explain KB-28` the "
      "checks that find an entry. A cycle is that of the diagnosis: a hang is diagnosed\nwhen nothing is left to "
      "happen.\n\n";
  for (const auto& [theme, what] : kThemes) text += fmt::format("- [{}](#{})\n", theme, theme);
  text += "- [The catalogue](#the-catalogue)\n- [What is not here](#what-is-not-here)\n";
  for (const auto& [theme, what] : kThemes)
    text += fmt::format(
        "\n## {}\n\n{}\n\n"
        "| scenario | KB | what is broken | verdict | check | barrier | role | cycle |\n"
        "|---|---|---|---|---|---|---|---|\n{}",
        theme, what, rows.count(theme) ? rows.at(theme) : "");
  text +=
      catalogue() + "\n## What is not here\n\nEntries of the catalogue that no scenario of the folder shows:\n\n";
  for (const CatalogueEntry& entry : kBugCatalogue)
    if (!entry.absent.empty()) text += fmt::format("- {}: {}\n", entry.id, entry.absent);
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
  std::map<std::string, std::string> rows;  // of each theme
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
    const fs::path golden = kSource / "tests/sim/golden" / (name + ".txt");
    if (update) std::ofstream(golden) << golden_text(r);
    CHECK(golden_text(r) == read_whole(golden));
    rows[fs::path(name).parent_path().filename().string()] += row(name, s, r);
  }
  if (update) std::ofstream(kSource / "docs" / "bugs.md") << page(rows);
  CHECK(page(rows) == read_whole(kSource / "docs" / "bugs.md"));
}

TEST_CASE("bugs: every golden report belongs to a scenario", "[bugs][golden]") {
  const fs::path golden = kSource / "tests/sim/golden";
  for (const auto& entry : fs::recursive_directory_iterator(golden / "bugs")) {
    if (entry.is_directory()) continue;
    CAPTURE(entry.path());
    fs::path name = entry.path().lexically_relative(golden);
    CHECK(fs::exists(kSource / "scenarios" / name.replace_extension(".toml")));
  }
}

TEST_CASE("bugs: each folder is a theme, and holds what is listed", "[bugs]") {
  std::vector<std::string> listed;
  for (const auto& [theme, what] : kThemes) listed.push_back(theme);
  CHECK(themes() == listed);
  CHECK(scenario_names("bugs").empty());
}

TEST_CASE("bugs: a sound twin is the bug without its faults", "[bugs]") {
  std::set<std::string> used;
  for (const std::string& name : bugs()) {
    CAPTURE(name);
    const Scenario bug = load_by_name(name);
    const std::string twin = twin_of(name, bug);
    CAPTURE(twin);
    REQUIRE_FALSE(bug.sound.empty());
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

TEST_CASE("bugs: each entry of the catalogue has a scenario, or a reason why it has none", "[bugs]") {
  std::set<std::string> entries;
  for (const std::string& name : bugs()) {
    CAPTURE(name);
    std::string what;
    const std::string entry = catalogue_entry(load_by_name(name).description, what);
    if (!entry.empty()) entries.insert(entry);
  }
  for (const CatalogueEntry& entry : kBugCatalogue) {
    CAPTURE(entry.id);
    CHECK(entries.erase(std::string(entry.id)) == (entry.absent.empty() ? 1 : 0));
  }
  CHECK(entries.empty());
}

TEST_CASE("bugs: entries that checks name are in the catalogue", "[bugs][checks]") {
  for (const sm100::sim::Check& check : kChecks) {
    std::istringstream entries{std::string(check.catalogue)};
    for (std::string entry; std::getline(entries >> std::ws, entry, ',');) {
      CAPTURE(check.id, entry);
      CHECK(std::any_of(std::begin(kBugCatalogue), std::end(kBugCatalogue),
                        [&](const CatalogueEntry& known) { return known.id == entry; }));
    }
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
