// SPDX-License-Identifier: Apache-2.0
/// sm100sim check FILE|DIR...: runs scenarios in parallel; exit code 0 if every one ends as it says.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "sim/cli/check_report.h"
#include "sim/cli/check_suite.h"
#include "sim/cli/commands.h"
#include "sim/cli/integers.h"
#include "sim/cli/output_path.h"
#include "sim/cli/progress.h"
#include "sim/cli/streams.h"
#include "traces/format/atomic_file.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

struct CheckCommandOptions {
  std::vector<std::string> what;
  std::string junit, json;
  int jobs = 0;  // 0: a process for each core
  int time_limit = 900;
  bool slow = false;
};

void check_outputs(const CheckCommandOptions& options) {
  for (const std::string& input : options.what) {
    if (!options.junit.empty()) check_output_path("--junit", options.junit, input);
    check_json_path(options.json, input);
  }
  if (!options.junit.empty() && !options.json.empty() &&
      std::filesystem::weakly_canonical(options.junit) == std::filesystem::weakly_canonical(options.json))
    throw InputError(fmt::format("--json {}: is the file of --junit", options.json));
}

/// On a terminal one line that changes, else a line for each scenario.
class Watcher {
 public:
  explicit Watcher(size_t count) : count_(count) {
    if (isatty(STDERR_FILENO)) progress_.emplace(false);
  }
  void finished(const CheckedScenario& result, size_t known) {
    bad_ += result.status == CheckedScenario::Status::failed || result.status == CheckedScenario::Status::error;
    if (!progress_) return say(check_line(result));
    progress_->update(double(known) / double(count_),
                      fmt::format("{} of {}{}; last: {}", known, count_,
                                  bad_ > 0 ? fmt::format(", {} FAILED", bad_) : "", result.name));
  }

 private:
  const size_t count_;
  size_t bad_ = 0;
  std::optional<Progress> progress_;
};

int check(const CheckCommandOptions& options) {
  const std::vector<std::filesystem::path> files = scenarios_to_check(options.what);
  check_outputs(options);
  const CheckOptions how{
      .jobs = options.jobs > 0 ? options.jobs : std::max(1, int(std::thread::hardware_concurrency())),
      .slow = options.slow,
      .time_limit = std::chrono::seconds(options.time_limit)};
  const auto begin = std::chrono::steady_clock::now();
  std::vector<CheckedScenario> results;
  {
    Watcher watcher(files.size());
    results =
        check_scenarios(files, how, [&](const CheckedScenario& r, size_t known) { watcher.finished(r, known); });
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!options.junit.empty())
    write_output("--junit", [&] {
      traces::AtomicFile file(options.junit);
      file.stream() << check_junit(results, seconds);
      file.commit();
    });
  if (!options.json.empty()) write_json(options.json, check_json(results, how.jobs, seconds));
  const CheckTotals totals = totals_of(results);
  if (!traces::is_standard_stream(options.json) && !traces::is_standard_stream(options.junit))
    fmt::print("{}", check_text(results, how.jobs, seconds));
  if (totals.run() == 0) {
    say("sm100sim: check: nothing was run, so nothing is known");
    return kBadInput;
  }
  return totals.passed == totals.run() ? kOk : kResultsDiffer;
}

}  // namespace

void add_check_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CheckCommandOptions>();
  CLI::App* command = app.add_subcommand("check", "Run scenarios in parallel: does every one end as it says?");
  command
      ->add_option("FILES", options->what,
                   "Scenario files, names of `list scenarios`, or folders with all that lies below them")
      ->required();
  command->add_option("--jobs", options->jobs, "Runs at the same time; default: as many as there are cores")
      ->type_name("N")
      ->check(integers(1, 1024));
  command->add_option("--junit", options->junit, "Write the results as JUnit XML; - is standard output")
      ->type_name("FILE")
      ->check(file_name());
  command->add_option("--json", options->json, "Write the results as JSON; - prints them instead of the text")
      ->type_name("FILE")
      ->check(file_name());
  command->add_flag("--slow", options->slow, "Run also the scenarios whose [expect] says that they are slow");
  command->add_option("--time-limit", options->time_limit, "End a scenario that takes longer; 0: none; default 900")
      ->type_name("SECONDS")
      ->check(integers(0, 1'000'000));
  command->callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace sm100::sim::cli
