// SPDX-License-Identifier: Apache-2.0
/// Tables of figures in the documents: how each is made.  A comment "<!-- figures: NAME -->" stands above such a
/// table.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "sim/console.h"
#include "sim/document.h"
#include "sim/frame_tables.h"
#include "sim/text.h"

namespace sm100::sim {

using TableRows = std::vector<std::string>;

/// What a run without data says.
inline nlohmann::json result_of(const ScratchDirectory& folder, const std::string& arguments) {
  const Ran ran = run(folder, "run " + arguments + " --data none --json -");
  if (ran.exit_code != 0) throw std::runtime_error(arguments + ": " + ran.out + ran.err);
  return nlohmann::json::parse(ran.out);
}

/// Cycles of a run.
inline int64_t cycles_of(const ScratchDirectory& folder, const std::string& arguments) {
  return result_of(folder, arguments).at("cycles").get<int64_t>();
}

/// Cycle at which the run's last launch has ended.
inline int64_t end_of_last_launch(const ScratchDirectory& folder, const std::string& arguments) {
  return result_of(folder, arguments).at("launches").back().at("end").get<int64_t>();
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
  std::string folder = {};  ///< of the two scenarios
};

namespace figure_tables {

/// Text with what the pattern matches replaced; it must match.
inline std::string replaced(const std::string& text, const std::string& pattern, const char* with) {
  const std::string altered = std::regex_replace(text, std::regex(pattern), with);
  if (altered == text) throw std::runtime_error(pattern + ": not there");
  return altered;
}

/// The scenarios of the tail in the scratch directory: all/ has them without the kernel that holds SMs, fast/ on a
/// device whose L2 answers at five times the rate, all_fast/ both.
inline void write_tails(const ScratchDirectory& folder) {
  for (const char* name : {"all", "fast", "all_fast"}) std::filesystem::create_directory(folder / name);
  const std::string fast =
      replaced(read_whole(profile_dir() + "/b200.toml"), "(l2_tb_per_s *=) *[0-9.]+", "$1 100.0");
  for (const std::string name : {"static.toml", "clc.toml"}) {
    const std::string both = read_whole(scenario_dir() + "/tail/" + name);
    const std::string alone =
        replaced(both, "\\[\\[launch\\]\\]\nname   = \"other\"[^\\[]*\\[launch.problem\\][^\\[]*", "");
    const auto on_fast = [](const std::string& text) {
      return replaced(text, "profile = \"b200\"", "profile = \"fast_l2.toml\"");
    };
    folder.write("all/" + name, alone);
    folder.write("fast/" + name, on_fast(both));
    folder.write("all_fast/" + name, on_fast(alone));
  }
  for (const char* where : {"fast/", "all_fast/"}) folder.write(where + std::string("fast_l2.toml"), fast);
}

/// The static scheduler against cluster launch control.
inline TableRows tail(const ScratchDirectory& folder, const TableRows&) {
  const std::string held = "scenarios/tail", warm = "--set 'run.l2=\"warm\"'";
  const std::string warm_4_us = warm + " --set launch.0.problem.microseconds=4";
  const Variation variations[] = {
      {"all SMs free", "", "all"},
      {"16 SMs held for 4 us, less than a tile takes", "--set launch.0.problem.microseconds=4", held},
      {"5 us", "--set launch.0.problem.microseconds=5", held},
      {"6 us", "--set launch.0.problem.microseconds=6", held},
      {"7 us", "--set launch.0.problem.microseconds=7", held},
      {"15 us", "--set launch.0.problem.microseconds=15", held},
      {"32 SMs held for 15 us", "--set launch.0.problem.ctas=32", held},
      {"`k` = 512, 16 SMs held for 15 us", "--set launch.1.problem.k=512", held},
      {"4096, the same: the SMs are back before the first tile ends", "--set launch.1.problem.k=4096", held},
      {"`n` = 5376 (2.3 waves), 16 SMs held throughout",
       "--set launch.1.problem.n=5376 --set launch.0.problem.microseconds=100", held},
      {"a device of 132 SMs, all free", "--set run.sms=132", "all"},
      {"input in L2, all SMs free", warm.c_str(), "all"},
      {"input in L2, 16 SMs held for 4 us", warm_4_us.c_str(), held},
      {"input in an L2 of 100 TB/s, all SMs free", warm.c_str(), "all_fast"},
      {"input in an L2 of 100 TB/s, 16 SMs held for 4 us", warm_4_us.c_str(), "fast"},
  };
  write_tails(folder);
  TableRows rows{"| cycles | static | CLC | CLC gains |", "|---|---|---|---|"};
  for (const Variation& v : variations) {
    const int64_t fixed = end_of_last_launch(folder, fmt::format("{}/static.toml {}", v.folder, v.options));
    const int64_t clc = end_of_last_launch(folder, fmt::format("{}/clc.toml {}", v.folder, v.options));
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

/// Cycles of the runs that the table names in its second column, and how many more than the first one's.
inline TableRows lesson_cost(const ScratchDirectory& folder, const TableRows& now) {
  TableRows rows{now.begin(), now.begin() + 2};
  std::optional<int64_t> first;
  for (size_t i = 2; i < now.size(); ++i) {
    const size_t end = now[i].rfind('`'), begin = now[i].rfind('`', end - 1) + 1;
    const int64_t cycles = cycles_of(folder, now[i].substr(begin, end - begin));
    const int64_t more = cycles - first.value_or(cycles);
    rows.push_back(fmt::format("{}` | {} | {} |", now[i].substr(0, end), grouped(cycles),
                               !first ? "" : (more < 0 ? "" : "+") + grouped(more)));
    first = first.value_or(cycles);
  }
  return rows;
}

}  // namespace figure_tables

/// By NAME: makes the table's lines in a console folder, from those that stand there now.
inline const std::map<std::string, std::function<TableRows(const ScratchDirectory&, const TableRows&)>>
    kFigureTables = {{"tail", figure_tables::tail},
                     {"dependent_launch", figure_tables::dependent_launch},
                     {"limits", figure_tables::limits},
                     {"lesson_cost", figure_tables::lesson_cost},
                     {"frames", frame_tables::chronicle},
                     {"frames_pipelines", frame_tables::pipeline_claims},
                     {"frames_memory", frame_tables::memory_claims},
                     {"frames_tensor_memory", frame_tables::tensor_claims},
                     {"frames_kernel", frame_tables::kernel_claims}};

}  // namespace sm100::sim
