// SPDX-License-Identifier: Apache-2.0
/// sm100sim mend SCENARIO: looks for the change of a single instruction that makes a failing scenario right.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "sim/cli/commands.h"
#include "sim/cli/integers.h"
#include "sim/cli/output_path.h"
#include "sim/cli/progress.h"
#include "sim/cli/report_lines.h"
#include "sim/cli/scenario_name.h"
#include "sim/cli/streams.h"
#include "sim/mend/mend.h"
#include "sim/run_json.h"
#include "sim/simulation.h"
#include "sim/verdict.h"
#include "traces/format/atomic_file.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

struct MendCommandOptions {
  std::string scenario, json;
  std::vector<std::string> sets;
  int jobs = 0;  // 0: a process for each core
  int seconds = 60;
  int enough = 8;
  bool progress = false;
};

/// "load_warp.h:88, load: mbarrier_arrive_expect_tx"
std::string place_of(const Mending& m) {
  return fmt::format("{}, {}: {}{}", m.site.source, m.site.role, m.site.function,
                     m.site.barrier.empty() ? "" : " of " + m.site.barrier);
}

std::string failure_text(const RunResult& r) {
  if (r.outcome == Outcome::pass)
    return fmt::format("passes, with a warning: {} {}", r.warnings.front().id, r.warnings.front().message);
  const auto failure = failure_of(r, r.output_hash);
  return failure ? text_of(*failure) : "nothing";
}

std::string tried_text(const MendResult& m, int jobs) {
  return line("tried",
              fmt::format("{} of {} in {} with {}{}", grouped(int64_t(m.tried)), plural(m.changes, "change"),
                          seconds_text(m.seconds), jobs == 1 ? "1 process" : fmt::format("{} processes", jobs),
                          m.out_of_time ? "; --for ended the search" : ""));
}

std::string mend_text(const Scenario& scenario, const MendOptions& options, const MendResult& m) {
  const std::string what = fmt::format("{}: {} on {} of {}", scenario.name, m.failing.title,
                                       plural(uint64_t(m.failing.sms_used), "SM"), scenario.device.name);
  if (m.right) return "NOTHING TO MEND  " + what + "\n" + line("as it is", "passes, without a warning");
  std::string text =
      m.found.empty()
          ? fmt::format("NOT MENDED  {}\n", what)
          : fmt::format("MENDED by {} of one instruction  {}\n",
                        m.found.size() == 1 ? "a change" : fmt::format("each of {} changes", m.found.size()), what);
  text += line("as it is", failure_text(m.failing));
  for (const Mending& found : m.found) {
    text += line("change", place_of(found));
    text += line("", found.change.words);
  }
  text += tried_text(m, options.jobs);
  if (m.found.empty())
    return text + line("so", m.out_of_time ? "more time may find one (--for)"
                                           : "no single operand, parity, count or lane is to blame: look for an "
                                             "instruction that is missing, an order, a loop, a tensor map");
  const Mending& first = m.found.front();
  return text +
         line("proof", fmt::format("with the first the run passes: {}, {} cycles; as a fault of the scenario:",
                                   numbers_text(first.result), grouped(int64_t(first.result.cycles)))) +
         fault_toml(first.change.fault);
}

Json mend_json(const Scenario& scenario, const MendResult& m) {
  Json found = Json::array();
  for (const Mending& f : m.found)
    found.push_back({{"source", f.site.source},
                     {"role", f.site.role},
                     {"instruction", f.site.function},
                     {"barrier", f.site.barrier.empty() ? Json() : Json(f.site.barrier)},
                     {"change", f.change.words},
                     {"fault", fault_toml(f.change.fault)},
                     {"cycles", f.result.cycles}});
  return {{"schema", "sm100sim.mend"},
          {"scenario", scenario.name},
          {"outcome", m.right           ? "right"
                      : m.found.empty() ? "not mended"
                                        : "mended"},
          {"as_it_is", m.right ? Json() : Json(failure_text(m.failing))},
          {"found", found},
          {"changes", m.changes},
          {"tried", m.tried},
          {"out_of_time", m.out_of_time},
          {"seconds", m.seconds}};
}

int mend_scenario(const MendCommandOptions& options) {
  const Scenario scenario = load_scenario(scenario_file(options.scenario), options.sets);
  check_json_path(options.json, scenario.path);
  for (const std::string& warning : scenario.warnings) say("warning: " + warning);
  MendOptions how;
  how.jobs = options.jobs > 0 ? options.jobs : std::max(1, int(std::thread::hardware_concurrency()));
  how.time = std::chrono::seconds(options.seconds);
  how.enough = size_t(options.enough);
  MendResult m;
  {
    Progress progress(options.progress);
    m = mend(scenario, how, [&](double part, std::string_view words) { progress.update(part, words); });
  }
  if (!options.json.empty()) write_json(options.json, mend_json(scenario, m));
  if (!traces::is_standard_stream(options.json)) fmt::print("{}", mend_text(scenario, how, m));
  return m.right || !m.found.empty() ? kOk : exit_code_of(m.failing.outcome);
}

}  // namespace

void add_mend_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<MendCommandOptions>();
  CLI::App* command =
      app.add_subcommand("mend", "Look for the change of one instruction that makes a failing scenario right");
  command
      ->add_option("SCENARIO", options->scenario,
                   "Scenario file (docs/scenarios.md), or a name of `list scenarios`")
      ->required();
  command->add_option("--jobs", options->jobs, "Runs at the same time; default: as many as there are cores")
      ->type_name("J")
      ->check(integers(1, 1024));
  command->add_option("--for", options->seconds, "Stop after so long; 0: no limit; default 60")
      ->type_name("SECONDS")
      ->check(integers(0, 1'000'000));
  command->add_option("--enough", options->enough, "Stop when so many changes mend it; 0: look for all; default 8")
      ->type_name("N")
      ->check(integers(0, 1'000'000));
  command->add_option("--json", options->json, "Write what was found as JSON; - prints it instead of the text")
      ->type_name("FILE")
      ->check(file_name());
  command->add_option("--set", options->sets, "Replace a value of the scenario: table.key=value; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--progress", options->progress, "Show progress on stderr from the start");
  command->callback([options, &exit_code] { exit_code = mend_scenario(*options); });
}

}  // namespace sm100::sim::cli
