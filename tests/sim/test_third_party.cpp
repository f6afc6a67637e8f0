// SPDX-License-Identifier: Apache-2.0
// docs/third-party.md says what docs/third-party.json holds: every kernel, every form, every report.
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catch.h"
#include "paths.h"
#include "sim/text.h"

using nlohmann::json;
using sm100::source_dir;

namespace {

std::string page() {
  std::stringstream text;
  text << std::ifstream(std::string(source_dir()) + "/docs/third-party.md").rdbuf();
  return text.str();
}
json data() { return json::parse(std::ifstream(std::string(source_dir()) + "/docs/third-party.json")); }

bool starts_with_one_of(const std::string& text, std::initializer_list<const char*> starts) {
  for (const char* start : starts)
    if (text.starts_with(start)) return true;
  return false;
}

}  // namespace

TEST_CASE("docs/third-party.md has a row for each kernel of the JSON, with its figures", "[third_party]") {
  const std::string text = page();
  const json all = data();
  CHECK_FALSE(all["kernels"].empty());
  for (const json& k : all["kernels"]) {
    const std::string name = k["name"], category = k["category"];
    INFO(name);
    CHECK(starts_with_one_of(category, {"verified", "finding: ", "hang", "incomplete: ", "not implemented: "}));
    const int64_t cycles = k["cycles"];
    CHECK(text.find(fmt::format("| {} | {} | {} | {} |", name, k["size"].get<std::string>(), category,
                                cycles > 0 ? sm100::sim::grouped(cycles) : "–")) != std::string::npos);
    for (const json& warning : k["warnings"])  // each has its row in "What the warnings mean"
      CHECK(text.find(fmt::format("\n| {} (", warning.get<std::string>())) != std::string::npos);
    // Nothing that was not looked at counts as verified.
    if (category == "verified") CHECK(k["verdict"] == "clean");
  }
}

TEST_CASE("docs/third-party.md names every form and counts what the JSON counts", "[third_party]") {
  const std::string text = page();
  const json all = data();
  std::map<std::string, int> states;
  for (const auto& [form, f] : all["forms"].items()) {
    INFO(form);
    CHECK(text.find(form) != std::string::npos);
    ++states[f["state"].get<std::string>()];
  }
  CHECK(text.find(fmt::format("{} opcode forms: {} modelled, {} approximated, {} rejected", all["forms"].size(),
                              states["modelled"], states["approximated"], states["rejected"])) !=
        std::string::npos);
  int entries = 0, complete = 0;
  for (const json& f : all["files"]) entries += f["entries"].get<int>(), complete += f["complete"].get<int>();
  CHECK(text.find(fmt::format("{} of the {} entries complete", complete, entries)) != std::string::npos);
}

TEST_CASE("docs/third-party.md has the reports of what was broken on purpose", "[third_party]") {
  const std::string text = page();
  std::map<std::string, int> mistakes;
  const json all = data();
  for (const json& b : all["broken"]) {
    ++mistakes[b["kernel"].get<std::string>()];
    CHECK_FALSE(b["report"].empty());
    for (const json& line : b["report"]) CHECK(text.find(line.get<std::string>()) != std::string::npos);
  }
  CHECK(mistakes.size() == 2);
  for (const auto& [kernel, n] : mistakes) {
    INFO(kernel);
    CHECK(n == 5);
  }
}
