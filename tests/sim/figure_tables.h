// SPDX-License-Identifier: Apache-2.0
/// Tables of figures in the documents: how each is made.  A comment "<!-- figures: NAME -->" stands above such a
/// table.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/console.h"
#include "sim/document.h"
#include "sim/text.h"

namespace sm100::sim {

using TableRows = std::vector<std::string>;

/// Cycles of a run, without data.
inline int64_t cycles_of(const ScratchDirectory& folder, const std::string& arguments) {
  const Ran ran = run(folder, "run " + arguments + " --data none --json -");
  if (ran.exit_code != 0) throw std::runtime_error(arguments + ": " + ran.out + ran.err);
  return nlohmann::json::parse(ran.out).at("cycles").get<int64_t>();
}

/// "17 %", "-0.4 %": how many cycles fewer `with` takes.
inline std::string gain(int64_t without, int64_t with) {
  const double percent = 100 * (1 - double(with) / double(without));
  return fmt::format("{:.{}f} %", percent, std::abs(percent) < 1 ? 1 : 0);
}

/// A run under two settings: what they have in common, in words and as options.
struct Variation {
  const char* what;
  const char* options;
  const char* folder = "scenarios/tail";  ///< of the two scenarios
};

namespace figure_tables {

/// static.toml and clc.toml again, on a device whose L2 answers at five times the rate.
inline void write_fast_l2(const ScratchDirectory& folder) {
  const auto replaced = [](std::string text, const std::string& pattern, const char* with) {
    const std::string altered = std::regex_replace(text, std::regex(pattern), with);
    if (altered == text) throw std::runtime_error(pattern + ": not there");
    return altered;
  };
  folder.write("fast_l2.toml",
               replaced(read_whole(profile_dir() + "/b200.toml"), "(l2_tb_per_s *=) *[0-9.]+", "$1 100.0"));
  for (const char* name : {"static.toml", "clc.toml"})
    folder.write(name, replaced(read_whole(scenario_dir() + "/tail/" + name), "profile = \"b200\"",
                                "profile = \"fast_l2.toml\""));
}

/// The static scheduler against cluster launch control.
inline TableRows tail(const ScratchDirectory& folder, const TableRows&) {
  const Variation variations[] = {
      {"all SMs free", "--set run.held_sms=0"},
      {"16 SMs held for 5 us, less than a tile takes", "--set run.held_us=5"},
      {"6 us", "--set run.held_us=6"},
      {"7 us", "--set run.held_us=7"},
      {"8 us", "--set run.held_us=8"},
      {"15 us", "--set run.held_us=15"},
      {"32 SMs held for 15 us", "--set run.held_sms=32"},
      {"`problem.k` = 512, 16 SMs held for 15 us", "--set problem.k=512"},
      {"4096, the same: the SMs are back before the first tile ends", "--set problem.k=4096"},
      {"`problem.n` = 5376 (2.3 waves), 16 SMs held throughout", "--set problem.n=5376 --set run.held_us=1000"},
      {"a device of 132 SMs, all free", "--set run.sms=132 --set run.held_sms=0"},
      {"input in L2, all SMs free", "--set 'run.l2=\"warm\"' --set run.held_sms=0"},
      {"input in L2, 16 SMs held for 5 us", "--set 'run.l2=\"warm\"' --set run.held_us=5"},
      {"input in an L2 of 100 TB/s, all SMs free", "--set 'run.l2=\"warm\"' --set run.held_sms=0", "."},
      {"input in an L2 of 100 TB/s, 16 SMs held for 5 us", "--set 'run.l2=\"warm\"' --set run.held_us=5", "."},
  };
  write_fast_l2(folder);
  TableRows rows{"| cycles | static | CLC | CLC gains |", "|---|---|---|---|"};
  for (const Variation& v : variations) {
    const int64_t fixed = cycles_of(folder, fmt::format("{}/static.toml {}", v.folder, v.options));
    const int64_t clc = cycles_of(folder, fmt::format("{}/clc.toml {}", v.folder, v.options));
    rows.push_back(fmt::format("| {} | {} | {} | {} |", v.what, grouped(fixed), grouped(clc), gain(fixed, clc)));
  }
  return rows;
}

/// A launch behind another one, without and with programmatic dependent launch.
inline TableRows dependent_launch(const ScratchDirectory& folder, const TableRows&) {
  const Variation variations[] = {
      {"`dependent_launch`, 32 SMs: the second grid has SMs of its own", "--set run.sms=32"},
      {"the same on 16 SMs: it needs those of the first", "--set run.sms=16"},
      {"the same on 4 SMs, four tiles per CTA", "--set run.sms=4"},
      {"without `launch_dependents` (a `[[fault]]` drops it), 32 SMs",
       "--set 'fault=[{instruction=\"griddepcontrol_launch_dependents\", action=\"drop\"}]'"},
  };
  TableRows rows{"| scenario | no PDL | PDL | gain |", "|---|---|---|---|"};
  for (const Variation& v : variations) {
    const std::string scenario = "scenarios/18_dependent_launch.toml ", options = v.options;
    const bool fault =
        options.find("fault") != std::string::npos;  // of an instruction that no launch has without PDL
    const int64_t without_pdl = cycles_of(folder, scenario + (fault ? "" : options) + " --set config.pdl=false"),
                  pdl = cycles_of(folder, scenario + options);
    rows.push_back(
        fmt::format("| {} | {} | {} | {} |", v.what, grouped(without_pdl), grouped(pdl), gain(without_pdl, pdl)));
  }
  return rows;
}

/// What `stats --critical-path` says in its last line, of the scenarios that the table names in its first column.
inline TableRows limits(const ScratchDirectory& folder, const TableRows& now) {
  TableRows rows{now.begin(), now.begin() + 2};
  for (size_t i = 2; i < now.size(); ++i) {
    const size_t begin = now[i].find('`') + 1;
    const std::string scenario = now[i].substr(begin, now[i].find('`', begin) - begin);
    run(folder, fmt::format("run {} --trace limits.pftrace", scenario));
    const Ran stats = run(folder, "stats limits.pftrace --critical-path");
    rows.push_back(fmt::format("| `{}` | {} |", scenario, lines_of(stats.out).back()));
  }
  return rows;
}

}  // namespace figure_tables

/// By NAME: makes the table's lines in a console folder, from those that stand there now.
inline const std::map<std::string, std::function<TableRows(const ScratchDirectory&, const TableRows&)>>
    kFigureTables = {{"tail", figure_tables::tail},
                     {"dependent_launch", figure_tables::dependent_launch},
                     {"limits", figure_tables::limits}};

}  // namespace sm100::sim
