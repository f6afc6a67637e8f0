// SPDX-License-Identifier: Apache-2.0
/// sm100sim run SCENARIO: simulates one scenario and says how it went.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "sim/cli/run_command.h"

#include "kernels/ptx_launch/host/ptx_faults.h"
#include "sim/cli/commands.h"
#include "sim/cli/integers.h"
#include "sim/cli/output_path.h"
#include "sim/cli/progress.h"
#include "sim/cli/run_document.h"
#include "sim/cli/scenario_name.h"
#include "sim/cli/streams.h"
#include "sim/cli/summary.h"
#include "sim/cli/trace_selection.h"
#include "sim/compiled_place.h"
#include "sim/simulation.h"
#include "traces/format/atomic_file.h"
#include "traces/format/compressed_file.h"
#include "traces/format/numbers.h"
#include "traces/format/pftrace.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

bool is_standard_output(const std::string& path) { return traces::is_standard_stream(path); }

void check_outputs(const RunOptions& options, const Scenario& scenario) {
  if (!options.trace.empty()) check_output_path("--trace", options.trace, scenario.path);
  check_json_path(options.json, scenario.path);
  if (is_standard_output(options.trace) && isatty(STDOUT_FILENO))
    throw InputError("--trace -: standard output is a terminal, and a trace is no text; name a file or a pipe");
  if (!options.json.empty() && !options.trace.empty() &&
      std::filesystem::weakly_canonical(options.trace) == std::filesystem::weakly_canonical(options.json))
    throw InputError(fmt::format("--json {}: is the file of --trace", options.json));
}

std::unique_ptr<traces::Recorder> make_recorder(const RunOptions& options, const Scenario& scenario) {
  if (options.trace.empty()) return nullptr;
  auto recorder = std::make_unique<traces::Recorder>(
      trace_selection(options.trace_sms, options.trace_window, scenario.sms_in_run()));
  recorder->trace().metadata.tool_version = tool_version();
  return recorder;
}

void write_trace(const RunOptions& options, traces::Recorder& recorder) {
  recorder.finish();
  const traces::Trace& trace = recorder.trace();
  if (trace.spans.empty() && !trace.metadata.part.empty())
    say(fmt::format("warning: --trace: nothing happened in {}; the run has {} cycles", trace.metadata.part,
                    traces::grouped(trace.metadata.run_ticks)));
  write_output("--trace", [&] { traces::write_pftrace(trace, options.trace); });
}

void write_ptx(const std::string& path, const Scenario& scenario) {
  const std::string text = faulty_ptx(scenario);
  if (is_standard_output(path)) {
    fmt::print("{}", text);
    return;
  }
  check_output_path("--write-ptx", path, scenario.path);
  write_output("--write-ptx", [&] {
    traces::AtomicFile file(path);
    file.stream() << text;
    file.commit();
  });
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

/// The summary goes where nothing else goes.
void print_summary(const RunOptions& options, const Scenario& scenario, const RunResult& result) {
  if (is_standard_output(options.json)) return;
  const std::string shown = is_standard_output(options.trace) ? "" : options.trace;
  const std::string text = format_summary(scenario, result, shown);
  if (is_standard_output(options.trace))
    say(std::string_view(text).substr(0, text.size() - 1));
  else
    fmt::print("{}", text);
}

}  // namespace

std::vector<std::string> RunOptions::overrides() const {
  std::vector<std::string> all = sets;
  if (!data.empty()) all.push_back("run.data=" + data);
  if (!numerics.empty()) all.push_back("run.numerics=" + numerics);
  if (!provenance.empty()) all.push_back("run.provenance=" + provenance);
  if (jitter) all.push_back(fmt::format("run.jitter={}", *jitter));
  return all;
}

int run(const RunOptions& options) {
  const Scenario scenario = load_scenario(scenario_file(options.scenario), options.overrides());
  check_outputs(options, scenario);
  if (!options.write_ptx.empty()) {
    write_ptx(options.write_ptx, scenario);
    return 0;
  }
  name_inlining(options.inlining);
  const std::unique_ptr<traces::Recorder> recorder = make_recorder(options, scenario);
  for (const std::string& warning : scenario.warnings) say("warning: " + warning);

  RunResult result;
  {
    Progress progress(options.progress);
    result =
        run_simulation(scenario, {.recorder = recorder.get()},
                       {.progress = [&](double fraction, uint64_t cycle) { progress.update(fraction, cycle); }});
  }
  if (recorder) write_trace(options, *recorder);
  if (!options.json.empty()) write_json(options.json, run_document(scenario, result));
  print_summary(options, scenario, result);
  std::fflush(stdout);  // the summary first
  for (const std::string& line : unmatched_delays(scenario, result)) say(line);
  for (const std::string& line : result.unmatched_faults) say(line);
  return exit_code_of(result);
}

void add_run_options(CLI::App& app, const std::shared_ptr<RunOptions>& options) {
  CLI::App* const command = &app;
  command->add_option("--set", options->sets, "Replace a value of the scenario: table.key=value; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  CLI::Option* trace =
      command
          ->add_option("--trace", options->trace,
                       "Write a Perfetto trace, compressed if it ends in .gz; - writes it to standard "
                       "output, and the summary to standard error")
          ->type_name("FILE")
          ->check(file_name());
  command->add_option("--trace-sms", options->trace_sms, "Only what happens on these SMs, as 0-3,7")
      ->type_name("SMS")
      ->needs(trace)
      ->check(some_text());
  command
      ->add_option("--trace-window", options->trace_window,
                   "Only what happens in these cycles, as 1000:2000, 1000: or :2000")
      ->type_name("FROM:TO")
      ->needs(trace)
      ->check(some_text());
  command->add_option("--json", options->json, "Write the result as JSON; - prints it instead of the summary")
      ->type_name("FILE")
      ->check(file_name());
  command->add_option("--data", options->data, "full: real values; none: protocol and timing only")
      ->check(CLI::IsMember({"full", "none"}));
  command->add_option("--jitter", options->jitter, "Perturb asynchronous latencies")
      ->type_name("SEED")
      ->check(integers(0));
  command->add_option("--numerics", options->numerics, "How the tensor core adds")
      ->check(CLI::IsMember({"fast", "b200"}));
  command
      ->add_option(
          "--provenance", options->provenance,
          "Where numbers come from: automatic, if a result is wrong the run is repeated to say why; on; off")
      ->check(CLI::IsMember({"automatic", "on", "off"}));
  command
      ->add_option("--write-ptx", options->write_ptx,
                   "Write the PTX of the scenario with its faults in the text, for a GPU, and run nothing")
      ->type_name("FILE")
      ->check(file_name());
  command->add_flag("--inlining", options->inlining,
                    "Places of PTX with the calls that they were inlined at (--json has them always)");
  command->add_flag("--progress", options->progress, "Show progress on stderr from the start");
}

void add_run_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Simulate a scenario");
  command
      ->add_option("SCENARIO", options->scenario,
                   "Scenario file (docs/scenarios.md), or a name of `list scenarios`")
      ->required();
  add_run_options(*command, options);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace sm100::sim::cli
