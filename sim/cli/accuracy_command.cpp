// SPDX-License-Identifier: Apache-2.0
/// sm100sim accuracy: replays published measurements and says how far the model's time is off.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "kernels/host/scenario.h"
#include "kernels/host/version.h"
#include "sim/accuracy/report.h"
#include "sim/cli/commands.h"
#include "sim/cli/integers.h"
#include "sim/cli/output_path.h"
#include "sim/cli/progress.h"
#include "sim/cli/scenario_directory.h"
#include "sim/cli/streams.h"
#include "traces/format/atomic_file.h"

namespace sm100::sim::cli {

using namespace host;
namespace fs = std::filesystem;
namespace {

struct AccuracyCommandOptions {
  std::string measured, output, rows, device = "b200";
  std::vector<std::string> only;
  int jobs = 0;  // 0: a process for each core
  bool progress = false;
};

/// Who wrote the page.
std::string written_by(const char* command) {
  return fmt::format("Written by `{}` {}", command,
                     *commit() ? fmt::format("at commit `{}`", commit()) : "of version " + std::string(version()));
}

std::string head_of(const std::string& device) {
  if (device == "h200")
    return "# Single mechanisms of the H200 profile\n\n" + written_by("sm100sim accuracy --device h200") +
           ": memory and wgmma, one mechanism at a time, measured on an H200 by microbenchmarks, replayed on the "
           "model with `models/profiles/h200.toml`. Errors are simulated / measured - 1 without their signs, "
           "unless "
           "a table says cycles. What they add up to in whole kernels is in "
           "[accuracy-h200.md](accuracy-h200.md).\n\n";
  return "# Accuracy of the B200 profile\n\n" + written_by("sm100sim accuracy") +
         ": published measurements of a B200 (`models/profiles/b200.toml` cites them), "
         "replayed row by "
         "row on the model by the scenarios of `scenarios/accuracy/`. Nothing here ran on a B200 of ours. Errors "
         "are "
         "simulated / "
         "measured - 1 without their signs, unless a table says cycles. How the H200 compares is in "
         "[accuracy-h200.md](accuracy-h200.md); whole kernels are in [accuracy-kernels.md](accuracy-kernels.md). "
         "[measurements.md](measurements.md) says where the measurements are.\n\n";
}

std::string page_of(const std::vector<DataSet>& sets, bool plots, const AccuracyCommandOptions& options) {
  const std::vector<std::string>& only = options.only;
  std::string page =
      head_of(options.device) +
      "| data set | rows | failed | mean | p90 | max | fitted on these rows |\n|---|---|---|---|---|---|---|\n";
  if (!only.empty()) page.insert(page.find("\n\n|"), fmt::format("\n\n**Only {}.**", fmt::join(only, ", ")));
  for (const DataSet& set : sets) {
    const ErrorSummary s = summary_of(set);
    const auto text = [&](double error) {
      return s.points == 0  ? std::string("–")
             : set.absolute ? fmt::format("{:.2f} {}", error, set.unit)
                            : fmt::format("{:.2f} %", 100 * error);
    };
    page += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", set.title, s.points, s.failed, text(s.mean),
                        text(s.p90), text(s.max), set.fitted.empty() ? "nothing" : set.fitted);
  }
  page += "\n";
  for (const DataSet& set : sets)
    page += section_of(set, plots ? fmt::format("pictures/accuracy/{}.svg", set.id) : "");
  return page;
}

std::string csv_text(std::string text) {
  for (size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, "\"");
  return text;
}

/// All rows as CSV, for those who want to plot them otherwise.
std::string rows_of(const std::vector<DataSet>& sets) {
  std::string text = "data_set,row,measured,simulated,unit,error\n";
  for (const DataSet& set : sets)
    for (const Point& p : set.points)
      text += fmt::format("{},\"{}\",{},{},{},\"{}\"\n", set.id, p.name, p.measured, p.predicted, set.unit,
                          csv_text(p.error));
  return text;
}

std::vector<std::string> all_ids() {
  std::vector<std::string> all = data_set_ids("b200");
  for (const std::string& id : data_set_ids("h200")) all.push_back(id);
  return all;
}

int run_accuracy(const AccuracyCommandOptions& options) {
  const std::vector<std::string> ids = data_set_ids(options.device);
  for (const std::string& id : options.only)
    if (std::find(ids.begin(), ids.end(), id) == ids.end())
      throw InputError(fmt::format("--only {}: no data set of --device {}; allowed are {}", id, options.device,
                                   fmt::join(ids, ", ")));
  const fs::path measured(options.measured);
  if (!fs::is_directory(measured / options.device))
    throw InputError(
        fmt::format("--measured {}: must be a folder with the measurements in {}/ (docs/measurements.md)",
                    options.measured, options.device));
  const fs::path output(options.output), plots = output.parent_path() / "pictures" / "accuracy";
  if (!options.output.empty()) check_output_path("-o", output, {});
  if (!options.rows.empty()) check_output_path("--rows", options.rows, {});
  AccuracyInputs inputs{
      .measured = measured,
      .scenarios = scenario_directory(),
      .jobs = options.jobs > 0 ? options.jobs : std::max(1, int(std::thread::hardware_concurrency()))};
  std::vector<DataSet> sets;
  for (const std::string& id : ids) {
    if (!options.only.empty() && std::find(options.only.begin(), options.only.end(), id) == options.only.end())
      continue;
    Progress progress(options.progress);
    inputs.progress = [&](double part, const std::string& what) { progress.update(part, what); };
    for (DataSet& set : replay(id, inputs)) sets.push_back(std::move(set));
  }
  for (const DataSet& set : sets) fmt::print("  {:<58}{}\n", set.title, summary_text(set));
  const auto write = [](std::string_view option, const fs::path& path, const std::string& text) {
    write_output(option, [&] {
      traces::AtomicFile file(path);
      file.stream() << text;
      file.commit();
    });
  };
  if (!options.rows.empty()) write("--rows", options.rows, rows_of(sets));
  const bool all =
      std::all_of(sets.begin(), sets.end(), [](const DataSet& s) { return summary_of(s).failed == 0; });
  if (!all) say("warning: some rows could not be simulated; --rows says why");
  const int exit_code = all ? kOk : kResultsDiffer;
  if (options.output.empty()) return exit_code;
  std::error_code failed;
  fs::create_directories(plots, failed);
  if (failed)
    throw InputError(fmt::format("-o {}: cannot make {}: {}", options.output, plots.string(), failed.message()));
  const bool drawn = draw_plots(sets, plots);
  if (!drawn) say("warning: gnuplot not found: the page has no plots (apt-get install gnuplot-nox)");
  write("-o", output, page_of(sets, drawn, options));
  fmt::print("  wrote {}\n", output.string());
  return exit_code;
}

}  // namespace

void add_accuracy_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<AccuracyCommandOptions>();
  CLI::App* command =
      app.add_subcommand("accuracy", "Replay measurements of a B200 or an H200 and compare the time");
  command->add_option("--measured", options->measured, "Folder with the measurements (docs/measurements.md)")
      ->type_name("DIR")
      ->envname("SM100_MEASURED_DIR")
      ->required();
  command->add_option("--device", options->device, "Whose measurements: b200 (default), h200")
      ->type_name("NAME")
      ->check(CLI::IsMember({"b200", "h200"}));
  command->add_option("--only", options->only, "Data sets of the device to replay; default: all")
      ->type_name("ID")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(all_ids()));
  command->add_option("-o,--output", options->output, "Write the page, and plots beside it in pictures/accuracy")
      ->type_name("FILE")
      ->check(file_name());
  command->add_option("--rows", options->rows, "Write all rows as CSV")->type_name("FILE")->check(file_name());
  command->add_option("--jobs", options->jobs, "Runs at the same time; default: as many as there are cores")
      ->type_name("J")
      ->check(integers(1, 1024));
  command->add_flag("--progress", options->progress, "Show progress on stderr from the start");
  command->callback([options, &exit_code] { exit_code = run_accuracy(*options); });
}

}  // namespace sm100::sim::cli
