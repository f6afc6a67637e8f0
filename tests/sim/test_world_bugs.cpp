// SPDX-License-Identifier: Apache-2.0
// Bugs of other people's kernels, from public trackers: each scenario of scenarios/bugs/world/ ends as it expects,
// its sound twin is clean, and docs/world-bugs.md says of each what was reported and what a run prints.
// SM100_UPDATE_GOLDEN=1 rewrites the page.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "catch.h"
#include "paths.h"
#include "scratch_directory.h"
#include "sim/child_process.h"
#include "sim/program.h"
#include "sim/scenario_files.h"

using namespace sm100;
using namespace sm100::sim;
namespace fs = std::filesystem;

namespace {

const fs::path kSource = source_dir();
constexpr const char* kFolder = "bugs/world";

/// The bugs are numbered through; the letter is the kind of kernel.
struct Kind {
  char letter;
  int first, last;
  const char* title;
};
constexpr std::array<Kind, 5> kKinds = {{{'D', 1, 33, "Dense GEMM"},
                                         {'B', 34, 37, "Block-scaled GEMM"},
                                         {'G', 38, 51, "Grouped GEMM"},
                                         {'A', 52, 78, "Attention and other fused kernels"},
                                         {'X', 79, 82, "Sort, top-k and communication"}}};
constexpr int kBugs = 82;

/// A bug that no scenario shows.
struct Absent {
  const char* links;  ///< separated by blanks
  const char* reason;
};
const std::map<std::string, Absent> kAbsent = {
    {"D11",
     {"https://github.com/tile-ai/tilelang/issues/2566",
      "a loop of one iteration never returns; the thread does not say why"}},
    {"D12",
     {"https://github.com/tile-ai/tilelang/issues/2613",
      "an operand of wgmma that two warpgroups share; wgmma is not modelled, and tcgen05.mma hands stages back by "
      "commits"}},
    {"D33",
     {"https://github.com/deepseek-ai/DeepGEMM/pull/448 https://github.com/deepseek-ai/DeepGEMM/issues/449",
      "registers of wgmma are loaded again before it has read them; wgmma is not modelled"}},
    {"B37", {"https://github.com/flashinfer-ai/flashinfer/issues/3971", "closed source, the cause is not public"}},
    {"G48", {"https://github.com/flashinfer-ai/flashinfer/issues/4814", "closed source, the cause is not public"}},
    {"G49", {"https://github.com/NVIDIA/cutlass/pull/2267", "the cause is not stated"}},
    {"A73", {"https://github.com/flashinfer-ai/flashinfer/issues/2623", "the cause is not stated"}},
    {"A77", {"https://github.com/tile-ai/TileOPs/issues/1900", "the cause is not stated"}},
};

/// What the comment at the head of a scenario says, and what a run of it prints.
struct WorldBug {
  std::string id;    ///< "D01"
  std::string name;  ///< "bugs/world/d01_..."
  Scenario scenario;
  std::vector<std::string> links;
  std::map<std::string, std::string>
      says;             ///< "reported", "hardware", "mend"; "named by": words that name the cause
  std::string printed;  ///< the first five lines

  std::string twin() const { return (fs::path(kFolder) / scenario.sound).lexically_normal().string(); }
};

enum class Found { right_cause, reported, silent };

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin);
}

WorldBug read_bug(const std::string& name) {
  const std::string stem = fs::path(name).filename().string();
  WorldBug bug{.id = fmt::format("{}{}", char(std::toupper(stem[0])), stem.substr(1, 2)),
               .name = name,
               .scenario = load_by_name(name),
               .links = {},
               .says = {},
               .printed = {}};
  std::istringstream text(read_whole(kSource / "scenarios" / (name + ".toml")));
  for (std::string line; std::getline(text, line) && line.rfind("# ", 0) == 0;) {
    line.erase(0, 2);
    if (line.rfind("https://", 0) == 0)
      bug.links.push_back(line);
    else if (const size_t colon = line.find(':'); colon != std::string::npos)
      bug.says[line.substr(0, colon)] = trimmed(line.substr(colon + 1));
  }
  return bug;
}

std::vector<WorldBug> world_bugs() {
  std::vector<WorldBug> bugs;
  for (const std::string& name : scenario_names(kFolder)) bugs.push_back(read_bug(name));
  return bugs;
}

/// As a user in the source directory sees it.
std::string first_lines(const std::string& name) {
  const ScratchDirectory here;
  const Ran ran = run_program(here, fmt::format("cd '{}' && '{}'", kSource.string(), sm100sim_binary()),
                              fmt::format("run scenarios/{}.toml", name));
  std::istringstream out(ran.out);
  std::string lines, line;
  for (int i = 0; i < 5 && std::getline(out, line); ++i) lines += line + "\n";
  return lines;
}

Found found(const WorldBug& bug) {
  const Expectation& expect = bug.scenario.expect;
  if (expect.outcome == "pass" && !expect.warning) return Found::silent;
  const auto words = bug.says.find("named by");
  return words == bug.says.end() || bug.printed.find(words->second) == std::string::npos ? Found::reported
                                                                                         : Found::right_cause;
}

std::string text_of(Found found) {
  switch (found) {
    case Found::right_cause: return "reported, the right cause in the first five lines";
    case Found::reported: return "reported; its cause does not stand in the first five lines";
    case Found::silent: return "**silent**: nothing is reported";
  }
  return "";
}

/// "https://github.com/NVIDIA/cutlass/pull/3316" as [cutlass#3316](...); of a repository whose name several have,
/// with its owner.
std::string link(const std::string& url) {
  std::vector<std::string> parts;
  std::istringstream in(url);
  for (std::string part; std::getline(in, part, '/');) parts.push_back(part);  // https:, "", github.com, owner, ...
  const std::string& repository = parts[4];
  const bool several = repository == "triton" || repository == "flash-attention";
  return fmt::format("[{}{}#{}]({})", several ? parts[3] + "/" : "", repository, parts[6], url);
}
std::string links(const std::vector<std::string>& urls) {
  std::string text;
  for (const std::string& url : urls) text += (text.empty() ? "" : ", ") + link(url);
  return text;
}

std::string entry(const WorldBug& bug) {
  const std::string what = bug.scenario.description.substr(bug.id.size() + 2);
  const auto rule = bug.says.find("missing");
  const std::string missing = rule == bug.says.end() ? "" : "; the rule that is missing: " + rule->second;
  return fmt::format(
      "\n### {}: {}\n\n{}: `scenarios/{}.toml`\n\n- **Reported**: {}\n- **On hardware**: {}\n- **Mend**: {}\n"
      "- **Here**: {}\n\n```\n{}```\n",
      bug.id, what, links(bug.links), bug.name, bug.says.at("reported"), bug.says.at("hardware"),
      bug.says.at("mend"), text_of(found(bug)) + missing, bug.printed);
}

std::string counts(const std::vector<WorldBug>& bugs) {
  std::map<Found, std::set<std::string>> ids;
  std::set<std::string> all;
  for (const WorldBug& bug : bugs) ids[found(bug)].insert(bug.id), all.insert(bug.id);
  const size_t right = ids[Found::right_cause].size(), reported = right + ids[Found::reported].size();
  return fmt::format(
      "| | bugs |\n|---|---|\n| collected | {} |\n| reproduced: a scenario has the bug | {} |\n"
      "| of these reported | {} |\n| with the right cause in the first five lines | {} |\n"
      "| silent: the run passes and says nothing | {} |\n| not reproduced | {} |\n",
      kBugs, all.size(), reported, right, ids[Found::silent].size(), kAbsent.size());
}

std::string absent() {
  std::string text = "\n## Not reproduced\n\n| bug | threads | why |\n|---|---|---|\n";
  for (const Kind& kind : kKinds)
    for (const auto& [id, what] : kAbsent) {
      if (id[0] != kind.letter) continue;
      std::istringstream in{std::string(what.links)};
      std::vector<std::string> urls;
      for (std::string url; in >> url;) urls.push_back(url);
      text += fmt::format("| {} | {} | {} |\n", id, links(urls), what.reason);
    }
  return text;
}

std::string twins(const std::vector<WorldBug>& bugs) {
  std::map<std::string, std::vector<std::string>> of;
  for (const WorldBug& bug : bugs) of[bug.twin()].push_back(bug.id);
  std::string text = "\n## Sound twins\n\nThe same without the bug, clean:\n\n| scenario | twin of |\n|---|---|\n";
  for (const auto& [twin, ids] : of) text += fmt::format("| `{}` | {} |\n", twin, fmt::join(ids, ", "));
  return text;
}

constexpr const char* kIntroduction =
    "# Bugs of the world\n\n"
    "Bugs that people have met in kernels for sm_90 to sm_120 and told of in public trackers. Each is made again: "
    "by\n"
    "`[[fault]]` in a kernel of this project, by its configuration, or as a small kernel in the pattern of the\n"
    "original (`scenarios/bugs/world/*.cu`, with the PTX that `compile.py` makes of them beside). No code of the\n"
    "originals is used, and nothing of this was run on hardware.\n\n"
    "- **Reported**: the symptom, as the thread tells it\n"
    "- **On hardware**: what went wrong, as far as the thread says it or it follows from what it says\n"
    "- **Mend**: what mends this pattern\n"
    "- **Here**: whether the cause stands in the first five lines that `sm100sim run` prints, which follow. The\n"
    "  scenario lists words that name it (`named by`), and they are looked for.\n\n"
    "A test runs each scenario, keeps this page, and asks that [the same without the bug](#sound-twins) is "
    "clean.\n\n"
    "## How many\n\n";

std::string page(const std::vector<WorldBug>& bugs) {
  std::string text = kIntroduction + counts(bugs);
  for (const Kind& kind : kKinds) {
    text += fmt::format("\n## {}\n", kind.title);
    for (const WorldBug& bug : bugs)
      if (bug.id[0] == kind.letter) text += entry(bug);
  }
  return text + absent() + twins(bugs);
}

}  // namespace

TEST_CASE("world bugs: each ends as it expects, and docs/world-bugs.md says what it prints", "[world][golden]") {
  std::vector<WorldBug> bugs = world_bugs();
  for (WorldBug& bug : bugs) {
    CAPTURE(bug.name);
    const RunResult r = run_in_child(bug.scenario);
    CAPTURE(said(r));
    REQUIRE(bug.scenario.expect.stated);
    CHECK(not_as_expected(bug.scenario.expect, r) == "");
    CHECK(bug.scenario.expect.outcome == sim::name(r.outcome));
    CHECK(finding_of(r).id == bug.scenario.expect.id.value_or(""));
    CHECK(finding_of(r).role == bug.scenario.expect.role.value_or(""));
    CHECK(r.warnings.empty() == !bug.scenario.expect.warning);
    bug.printed = first_lines(bug.name);
    // Words that are not there any more: the scenario promises a cause that the report does not name.
    if (bug.says.count("named by")) CHECK(found(bug) == Found::right_cause);
  }
  const fs::path file = kSource / "docs/world-bugs.md";
  if (std::getenv("SM100_UPDATE_GOLDEN")) std::ofstream(file) << page(bugs);
  CHECK(page(bugs) == read_whole(file));
}

TEST_CASE("world bugs: each of the 82 has a scenario, or a reason why it has none", "[world]") {
  std::set<std::string> shown;
  for (const WorldBug& bug : world_bugs()) shown.insert(bug.id);
  int next = 1;
  for (const Kind& kind : kKinds) {
    CHECK(kind.first == next);
    for (int number = kind.first; number <= kind.last; ++number) {
      const std::string id = fmt::format("{}{:02}", kind.letter, number);
      CAPTURE(id);
      CHECK(shown.count(id) + kAbsent.count(id) == 1);
      shown.erase(id);
    }
    next = kind.last + 1;
  }
  CHECK(next == kBugs + 1);
  CHECK(shown.empty());
}

TEST_CASE("world bugs: a scenario names its threads, the symptom and what mends it", "[world]") {
  for (const WorldBug& bug : world_bugs()) {
    CAPTURE(bug.name);
    CHECK(bug.scenario.description.rfind(bug.id + ": ", 0) == 0);
    CHECK(bug.scenario.description.size() < 90);
    CHECK_FALSE(bug.links.empty());
    for (const char* key : {"reported", "hardware", "mend"}) CHECK(bug.says.count(key) == 1);
    // A bug that passes unnoticed says what the simulator lacks, and no other does.
    CHECK((found(bug) == Found::silent) == (bug.says.count("missing") == 1));
  }
}

TEST_CASE("world bugs: the sound twins are clean", "[world]") {
  std::set<std::string> used;
  for (const WorldBug& bug : world_bugs()) {
    CAPTURE(bug.name, bug.twin());
    REQUIRE_FALSE(bug.scenario.sound.empty());
    REQUIRE(fs::exists(kSource / "scenarios" / (bug.twin() + ".toml")));
    const Scenario sound = load_by_name(bug.twin());
    CHECK(sound.faults.empty());
    CHECK(sound.profile == bug.scenario.profile);
    CHECK(sound.kernel == bug.scenario.kernel);
    // The twin of a bug that is a fault is that without the fault; of others the kernel's code or configuration
    // differs.
    if (!bug.scenario.faults.empty())
      CHECK(sound.trace_configuration_json() == bug.scenario.trace_configuration_json());
    used.insert(bug.twin());
  }
  for (const std::string& twin : scenario_names(std::string(kFolder) + "/sound")) {
    CAPTURE(twin);
    CHECK(used.count(twin) == 1);
  }
  for (const std::string& twin : used) {
    CAPTURE(twin);
    const Scenario sound = load_by_name(twin);
    const RunResult r = run_in_child(sound);
    CAPTURE(said(r));
    CHECK(r.outcome == Outcome::pass);
    CHECK(r.warnings.empty());
    // Kernels without data, as that of setmaxnreg, are never more than incomplete.
    CHECK(verdict_of(r) == (r.verified ? Verdict::clean : Verdict::incomplete));
    CHECK((r.verified || sound.kernel->name == "warpgroup_registers"));
  }
}
