// SPDX-License-Identifier: Apache-2.0
/// sm100sim sweep FILE --out DIR: all runs of a sweep, or a shard of them; sweep --report DIR: what they found.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <thread>

#include "kernels/host/toml_reader.h"
#include "sim/cli/commands.h"
#include "sim/cli/integers.h"
#include "sim/cli/output_path.h"
#include "sim/cli/progress.h"
#include "sim/cli/sweep.h"
#include "sim/cli/sweep_report.h"
#include "traces/format/atomic_file.h"

namespace sm100::sim::cli {

using namespace host;
namespace fs = std::filesystem;
namespace {

struct SweepCommandOptions {
  std::string file, shard = "1/1", out, report, csv, html;
  int jobs = 0;  // 0: a process for each core
  int time_limit = 900;
  bool progress = false;
};

Shard shard_of(const std::string& text) {
  Shard shard;
  const char *begin = text.data(), *end = begin + text.size();
  const auto number = std::from_chars(begin, end, shard.number);
  const bool slash = number.ec == std::errc() && number.ptr != end && *number.ptr == '/';
  const auto count = slash ? std::from_chars(number.ptr + 1, end, shard.count) : number;
  if (!slash || count.ec != std::errc() || count.ptr != end || shard.number < 1 || shard.number > shard.count)
    throw InputError(one_line(fmt::format("--shard {}: allowed are 1/N to N/N, as 2/8", text)));
  return shard;
}

std::string left_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s left", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min left", seconds / 60);
  return fmt::format("{:.1f} h left", seconds / 3600);
}

int sweep(const SweepCommandOptions& options) {
  if (options.out.empty()) throw InputError("sweep: --out DIR is needed: a folder for the lines");
  const Shard shard = shard_of(options.shard);
  if (std::error_code error; fs::exists(options.out, error) && !fs::is_directory(options.out, error))
    throw InputError(fmt::format("--out {}: is no folder", options.out));
  const Sweep runs = read_sweep(options.file);
  const SweepOptions how{
      .shard = shard,
      .folder = options.out,
      .jobs = options.jobs > 0 ? options.jobs : std::max(1, int(std::thread::hardware_concurrency())),
      .time_limit = std::chrono::seconds(options.time_limit)};
  const auto begin = std::chrono::steady_clock::now();
  SweepTotals totals;
  {
    Progress progress(options.progress);
    size_t here = 0;
    totals = run_sweep(runs, how, [&](const Json& line, size_t known, size_t of) {
      ++here;
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      progress.update(
          double(known) / double(of),
          fmt::format("{} of {}, {}; last: {}", known, of, left_text(seconds / double(here) * double(of - known)),
                      line["outcome"].get<std::string>()));
    });
  }
  fmt::print("SWEPT {} of {} runs (shard {}/{})", totals.runs, runs.runs.size(), shard.number, shard.count);
  for (const auto& [outcome, count] : totals.outcomes) fmt::print(", {} {}", count, outcome);
  fmt::print("\n");
  if (totals.already > 0) fmt::print("  {} of them were there already\n", totals.already);
  fmt::print("  report       sm100sim sweep --report {}\n", options.out);
  return kOk;
}

int report(const SweepCommandOptions& options) {
  if (!options.file.empty()) throw InputError("sweep --report: takes the folder alone, no FILE");
  if (!fs::is_directory(options.report))
    throw InputError(fmt::format("--report {}: no such folder", options.report));
  const std::vector<Json> lines = read_lines(options.report);
  if (lines.empty()) throw InputError(fmt::format("--report {}: no lines of a sweep in it", options.report));
  const SweptRuns swept = swept_runs(lines);
  const auto write = [](const char* option, const std::string& path, const std::string& text) {
    if (path.empty()) return;
    check_output_path(option, path, "");
    write_output(option, [&] {
      traces::AtomicFile file(path);
      file.stream() << text;
      file.commit();
    });
  };
  write("--csv", options.csv, sweep_csv(swept));
  write("--html", options.html, sweep_page(swept));
  if (!traces::is_standard_stream(options.csv) && !traces::is_standard_stream(options.html))
    fmt::print("{}", sweep_text(swept));
  return kOk;
}

}  // namespace

void add_sweep_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SweepCommandOptions>();
  CLI::App* command =
      app.add_subcommand("sweep", "Run scenarios under all combinations of values (docs/sweeps.md)");
  CLI::Option* file = command->add_option("FILE", options->file, "The sweep: scenarios and values to try");
  command->add_option("--out", options->out, "Folder for the lines; runs that it has are not made again")
      ->type_name("DIR")
      ->check(file_name());
  command->add_option("--shard", options->shard, "The Ith of N parts of the runs")->type_name("I/N");
  command->add_option("--jobs", options->jobs, "Runs at the same time; default: as many as there are cores")
      ->type_name("N")
      ->check(integers(1, 1024));
  command->add_option("--time-limit", options->time_limit, "End a run that takes longer; 0: none; default 900")
      ->type_name("SECONDS")
      ->check(integers(0, 1'000'000));
  command->add_flag("--progress", options->progress, "Show progress on stderr from the start");
  CLI::Option* report_of =
      command->add_option("--report", options->report, "Say what the lines of this folder hold")
          ->type_name("DIR")
          ->check(file_name());
  command->add_option("--csv", options->csv, "With --report: a row for each run; - is standard output")
      ->type_name("FILE")
      ->check(file_name())
      ->needs(report_of);
  command
      ->add_option("--html", options->html,
                   "With --report: a page with a heat map and a scatter; - is standard output")
      ->type_name("FILE")
      ->check(file_name())
      ->needs(report_of);
  command->callback([=, &exit_code] {
    if (!*file && !*report_of) throw InputError("sweep: FILE or --report DIR is needed");
    exit_code = *report_of ? report(*options) : sweep(*options);
  });
}

}  // namespace sm100::sim::cli
