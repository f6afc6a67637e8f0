/// sm100sim run SCENARIO: simulates one scenario and says how it went.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "kernels/host/version.h"
#include "sim/cli/commands.h"
#include "sim/cli/output_path.h"
#include "sim/cli/progress.h"
#include "sim/cli/summary.h"
#include "sim/simulation.h"
#include "traces/atomic_file.h"
#include "traces/pftrace.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

struct RunOptions {
  std::string scenario;
  std::vector<std::string> sets;
  std::string trace, json;  // empty: not asked for
  std::string data, numerics;
  std::optional<int64_t> jitter;
  bool progress = false;

  /// The short options are words for --set; they come last and win.
  std::vector<std::string> overrides() const {
    std::vector<std::string> all = sets;
    if (!data.empty()) all.push_back("run.data=" + data);
    if (!numerics.empty()) all.push_back("run.numerics=" + numerics);
    if (jitter) all.push_back(fmt::format("run.jitter={}", *jitter));
    return all;
  }
};

ExitCode exit_code_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass: return kOk;
    case Outcome::mismatch: return kResultsDiffer;
    case Outcome::hang: return kHang;
    case Outcome::findings: return kFindings;
  }
  return kInternalError;
}

void check_outputs(const RunOptions& options) {
  const bool json_file = !options.json.empty() && options.json != "-";
  if (!options.trace.empty()) check_output_path("--trace", options.trace, options.scenario);
  if (json_file) check_output_path("--json", options.json, options.scenario);
  if (json_file && !options.trace.empty() &&
      std::filesystem::weakly_canonical(options.trace) == std::filesystem::weakly_canonical(options.json))
    throw InputError(fmt::format("--json {}: is the file of --trace", options.json));
}

void write_json(const std::string& path, const std::string& text) {
  write_output("--json", [&] {
    traces::AtomicFile file(path);
    file.stream() << text;
    file.commit();
  });
}

/// A fault that altered nothing is probably misspelt: the run was not the one that the scenario describes.
std::vector<std::string> unmatched_faults(const Scenario& scenario, const RunResult& result) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < scenario.faults.size(); ++i)
    if (result.fault_matches[i] == 0 && !scenario.faults[i].optional)
      lines.push_back(scenario.faults[i].if_unmatched);
  return lines;
}

/// A delay whose point was never reached is no error: another schedule may reach it.
std::vector<std::string> unmatched_delays(const Scenario& scenario, const RunResult& result) {
  std::vector<std::string> lines;
  for (const DelaySpec& spec : scenario.delays)
    if (std::none_of(result.delays.begin(), result.delays.end(),
                     [&](const DelayUse& use) { return use.delay.point == spec.delay.point; }))
      lines.push_back("warning: " + spec.if_unmatched);
  return lines;
}

int run(const RunOptions& options) {
  const Scenario scenario = load_scenario(options.scenario, options.overrides());
  check_outputs(options);
  for (const std::string& warning : scenario.warnings) fmt::print(stderr, "warning: {}\n", warning);

  std::unique_ptr<traces::Recorder> recorder;
  if (!options.trace.empty()) {
    recorder = std::make_unique<traces::Recorder>();
    recorder->trace().metadata.tool_version = "sm100sim " + host::version_text();
  }
  RunResult result;
  {
    Progress progress(options.progress);
    result =
        run_simulation(scenario, recorder.get(),
                       {.progress = [&](double fraction, uint64_t cycle) { progress.update(fraction, cycle); }});
  }
  if (recorder) write_output("--trace", [&] { traces::write_pftrace(recorder->trace(), options.trace); });

  const bool json_only = options.json == "-";
  if (!options.json.empty() && !json_only) write_json(options.json, result_json(scenario, result));
  fmt::print("{}", json_only ? result_json(scenario, result) : format_summary(scenario, result, options.trace));
  const std::vector<std::string> warnings = unmatched_delays(scenario, result),
                                 unmatched = unmatched_faults(scenario, result);
  if (warnings.empty() && unmatched.empty()) return exit_code_of(result.outcome);
  std::fflush(stdout);  // the summary first
  for (const std::string& line : warnings) fmt::print(stderr, "{}\n", line);
  for (const std::string& line : unmatched) fmt::print(stderr, "{}\n", line);
  return unmatched.empty() ? exit_code_of(result.outcome) : kBadInput;
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Simulate a scenario");
  command->add_option("SCENARIO", options->scenario, "Scenario file (docs/user-guide.md)")->required();
  command->add_option("--set", options->sets, "Replace a value of the scenario: table.key=value; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--trace", options->trace, "Write a Perfetto trace")->type_name("FILE")->check(file_name());
  command->add_option("--json", options->json, "Write the result as JSON; - prints it instead of the summary")
      ->type_name("FILE")
      ->check(file_name());
  command->add_option("--data", options->data, "full: real values; none: protocol and timing only")
      ->check(CLI::IsMember({"full", "none"}));
  command->add_option("--jitter", options->jitter, "Perturb asynchronous latencies")
      ->type_name("SEED")
      ->check(CLI::Range(int64_t{0}, INT64_MAX));
  command->add_option("--numerics", options->numerics, "How the tensor core adds")
      ->check(CLI::IsMember({"fast", "b200"}));
  command->add_flag("--progress", options->progress, "Show progress on stderr from the start");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace sm100::sim::cli
