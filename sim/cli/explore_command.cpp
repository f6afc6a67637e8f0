// SPDX-License-Identifier: Apache-2.0
/// sm100sim explore SCENARIO: looks for a legal schedule that breaks the scenario, and writes the scenario that
/// replays it.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "sim/cli/commands.h"
#include "sim/cli/explore_json.h"
#include "sim/cli/integers.h"
#include "sim/cli/output_path.h"
#include "sim/cli/progress.h"
#include "sim/cli/report_lines.h"
#include "sim/cli/scenario_name.h"
#include "sim/cli/streams.h"
#include "sim/explore/explore.h"
#include "sim/explore/replay.h"
#include "sim/simulation.h"
#include "sim/text.h"
#include "sim/verdict.h"
#include "traces/format/atomic_file.h"

namespace sm100::sim::cli {

using namespace host;
namespace fs = std::filesystem;
namespace {

struct ExploreCommandOptions {
  std::string scenario, output, json;
  std::vector<std::string> sets;
  std::optional<uint64_t> seeds;
  uint64_t first_seed = 1;
  int jobs = 0;     // 0: a process for each core
  int seconds = 0;  // for the seeds; 0: no limit
  int minimise_seconds = 120;
  bool progress = false;
};

// ---- the replay file

/// Beside the scenario's own folder a profile that it names by path would not be found.
void check_replay_path(const Scenario& scenario, const fs::path& path) {
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(path, ignored)))
    throw InputError(fmt::format("-o {}: exists; remove it or name another file", path.string()));
  check_output_path("-o", path, scenario.path);
  const auto folder = [](const fs::path& file) { return fs::weakly_canonical(fs::absolute(file).parent_path()); };
  const bool by_path =
      fs::path(scenario.profile).extension() == ".toml" && fs::path(scenario.profile).is_relative();
  if (by_path && folder(path) != folder(scenario.path))
    throw InputError(
        fmt::format("-o {}: must be in the scenario's folder, because the scenario names its profile {} by path",
                    path.string(), scenario.profile));
}

std::string whole_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void check_scenario(const Scenario& scenario, const std::string& text) {
  if (scenario.jitter)
    throw InputError(fmt::format("{}: key 'run.jitter' = {}: explore chooses the seeds itself; leave it out",
                                 scenario.path.string(), *scenario.jitter));
  if (!scenario.delays.empty() && text.find("[[delay]]") == std::string::npos)
    throw InputError(fmt::format("{}: key 'delay': explore adds to the delays; write them as [[delay]] tables",
                                 scenario.path.string()));
}

std::string command_of(const Scenario& scenario, const fs::path& replay) {
  std::string command = fmt::format("sm100sim run {}", shell_word(replay.string()));
  for (const std::string& set : scenario.overrides) command += fmt::format(" --set {}", shell_word(set));
  return command;
}

// ---- what it says

std::string coverage_text(const Exploration& e, int jobs) {
  const Coverage& c = e.coverage;
  const auto last = [&](uint64_t run) {
    return run + 1 == c.runs ? std::string("new ones still appear")
                             : fmt::format("none new after run {} of {}", run, c.runs - 1);
  };
  std::string text =
      line("orders", fmt::format("{} of barrier completions in {}; {}", plural(c.orders.size(), "distinct order"),
                                 plural(c.runs, "run"), last(c.last_order)));
  text += line("neighbours", fmt::format("{} of barriers that complete one after the other on an SM; {}",
                                         plural(c.pairs.size(), "pair"), last(c.last_pair)));
  for (const std::string& warning : warnings_with_jitter_only(e))
    text += line("warning", warning + " (not without jitter)");
  return text + line("time", fmt::format("{} with {}", seconds_text(e.seconds),
                                         jobs == 1 ? "1 process" : fmt::format("{} processes", jobs)));
}

std::string what(const Scenario& scenario, const RunResult& plain) {
  return fmt::format("{}: {} on {} of {}", scenario.name, plain.title, plural(uint64_t(plain.sms_used), "SM"),
                     scenario.device.name);
}

/// The first lines of a failing run.
std::string failure_text(const RunResult& run) {
  if (!run.report.empty()) return run.report + (run.report.back() == '\n' ? "" : "\n");
  if (run.outcome == Outcome::mismatch) return "MISMATCH\n" + line("verified", "WRONG: " + run.check.text());
  return "OTHER BITS  the output passes, but differs from that of the run without jitter\n" +
         line("verified", (run.check.compared() ? "yes: " : "no: ") + run.check.text());
}

/// @param replay, by_seed  commands that run the replay file, and the scenario itself
std::string found_text(const FailingSeed& f, const std::string& replay, const std::string& by_seed) {
  std::string text =
      line("found by", fmt::format("seed {}: {}; the run without jitter passes", f.seed, text_of(f.failure)));
  if (!f.repeats)
    throw std::runtime_error(fmt::format("the delays of seed {} do not fail as the seed does", f.seed));
  if (f.delays.empty())
    return text +
           line("delays", f.drawn == 0 ? "not taken apart (--minimise-for 0)"
                                       : "not taken apart: --minimise-for is too short for a single run") +
           line("replay", fmt::format("{} --jitter {}", by_seed, f.seed));
  text += line("delays", fmt::format("{} of the seed's {} are enough{}, found in {} and {}",
                                     grouped(int64_t(f.delays.size())), grouped(int64_t(f.drawn)),
                                     f.minimal ? "" : " (--minimise-for ended the search; fewer may do)",
                                     plural(f.runs, "run"), seconds_text(f.seconds)));
  for (const DelayUse& met : f.by_delays.delays)
    if (delay_at(f.delays, met.delay.point)) text += line("", met.text);
  return text + line("replay", replay);
}

/// @param command  that runs the replay file
std::string exploration_text(const ExploreCommandOptions& options, const Scenario& scenario, const ExploreOptions& how,
                             const Exploration& e, const std::string& command) {
  if (e.plain_failure)
    return failure_text(e.plain) + line("scenario", what(scenario, e.plain)) +
           line("explored", "nothing: the run without jitter fails already");
  if (e.found)
    return failure_text(e.found->delays.empty() ? e.found->by_seed : e.found->by_delays) +
           line("scenario", what(scenario, e.plain)) +
           found_text(*e.found, command, command_of(scenario, scenario.path)) + coverage_text(e, how.jobs);
  std::string text =
      fmt::format("EXPLORED {}, clean  {}\n", plural(e.coverage.runs - 1, "seed"), what(scenario, e.plain));
  if (e.out_of_time && options.seeds)
    text += line("stopped",
                 fmt::format("--for {} ended before seed {}", options.seconds, how.first_seed + how.seeds - 1));
  for (const std::string& part : e.plain.not_checked) text += line("not checked", part);
  return text +
         line("numbers",
              compared(e.plain) ? "the same bits under every seed; " + numbers_text(e.plain) : "not compared") +
         coverage_text(e, how.jobs);
}

int explore_scenario(const ExploreCommandOptions& options) {
  const Scenario scenario = load_scenario(scenario_file(options.scenario), options.sets);
  const std::string text = whole_file(scenario.path);
  check_scenario(scenario, text);
  const fs::path output =
      options.output.empty() ? fs::path(scenario.name + ".replay.toml") : fs::path(options.output);
  if (options.minimise_seconds > 0) check_replay_path(scenario, output);
  check_json_path(options.json, scenario.path);
  for (const std::string& warning : scenario.warnings) say("warning: " + warning);

  ExploreOptions how;
  how.first_seed = options.first_seed;
  // Alone, --for is the only limit.
  const uint64_t all = UINT64_MAX - how.first_seed;
  how.seeds = options.seeds ? std::min(*options.seeds, all) : options.seconds > 0 ? all : 256;
  how.jobs = options.jobs > 0 ? options.jobs : std::max(1, int(std::thread::hardware_concurrency()));
  how.time = std::chrono::seconds(options.seconds);
  how.minimise_time = std::chrono::seconds(options.minimise_seconds);
  how.replay_path = output;
  Exploration e;
  {
    Progress progress(options.progress);
    e = explore(scenario, how, [&](double part, std::string_view words) { progress.update(part, words); });
  }
  const std::string command = command_of(scenario, output);
  const bool apart = e.found && !e.found->delays.empty();
  if (apart)
    write_output("-o", [&] {
      traces::AtomicFile file(output);
      file.stream() << replay_text(text, scenario, *e.found, command);
      file.commit();
    });
  if (!options.json.empty()) write_json(options.json, explore_json(scenario, how, e, apart ? command : ""));
  if (!traces::is_standard_stream(options.json))
    fmt::print("{}", exploration_text(options, scenario, how, e, command));
  if (e.plain_failure) return exit_code_of(e.plain_failure->outcome);
  return e.found ? exit_code_of(e.found->failure.outcome) : kOk;
}

}  // namespace

void add_explore_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExploreCommandOptions>();
  CLI::App* command = app.add_subcommand("explore", "Look for a legal schedule that breaks a scenario");
  command
      ->add_option("SCENARIO", options->scenario,
                   "Scenario file (docs/scenarios.md), or a name of `list scenarios`")
      ->required();
  command->add_option("--seeds", options->seeds, "How many jitter seeds to run; default 256")
      ->type_name("N")
      ->check(integers(1, 1'000'000'000));
  command->add_option("--first-seed", options->first_seed, "The first of them; default 1")
      ->type_name("SEED")
      ->check(integers(0));
  command->add_option("--jobs", options->jobs, "Runs at the same time; default: as many as there are cores")
      ->type_name("J")
      ->check(integers(1, 1024));
  command->add_option("--for", options->seconds, "Stop after so long; without --seeds the only limit")
      ->type_name("SECONDS")
      ->check(integers(1, 1'000'000));
  command
      ->add_option("--minimise-for", options->minimise_seconds,
                   "How long to take a failure apart; 0: not at all; default 120")
      ->type_name("SECONDS")
      ->check(integers(0, 1'000'000));
  command
      ->add_option("-o,--output", options->output, "The scenario that replays a failure; default NAME.replay.toml")
      ->type_name("FILE")
      ->check(file_name());
  command->add_option("--json", options->json, "Write what was found as JSON; - prints it instead of the text")
      ->type_name("FILE")
      ->check(file_name());
  command->add_option("--set", options->sets, "Replace a value of the scenario: table.key=value; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--progress", options->progress, "Show progress on stderr from the start");
  command->callback([options, &exit_code] { exit_code = explore_scenario(*options); });
}

}  // namespace sm100::sim::cli
