// SPDX-License-Identifier: Apache-2.0
/// sm100sim export TRACE --format F -o OUT: a recorded trace in another format.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/host/scenario.h"
#include "sim/cli/commands.h"
#include "sim/cli/integers.h"
#include "sim/cli/output_path.h"
#include "sim/cli/read_trace.h"
#include "traces/exchange/chrome_json.h"
#include "traces/exchange/csv.h"
#include "traces/exchange/vcd.h"
#include "traces/format/compressed_file.h"
#include "traces/html/html_report.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

struct ExportOptions {
  std::string trace, second, format, output;
  std::optional<int> sm;
};

constexpr std::string_view kFormats = "chrome-json, vcd, csv and html";

/// The page of one trace, or of two side by side.
void export_html(const ExportOptions& options) {
  const auto name = [](const std::string& path) {
    return traces::is_standard_stream(path) ? traces::input_name(path)
                                            : std::filesystem::path(path).filename().string();
  };
  const traces::Trace a = read_trace(options.trace);
  check_output_path("-o", options.output, options.trace);
  if (options.second.empty())
    return write_output("-o", [&] { traces::write_html_report({a, name(options.trace)}, options.output); });
  if (traces::is_standard_stream(options.trace) && traces::is_standard_stream(options.second))
    throw InputError("export - -: one of the two traces must be a file");
  const traces::Trace b = read_trace(options.second);
  check_output_path("-o", options.output, options.second);
  traces::TraceDiff diff;
  traces::MatchedPairs matched;
  try {
    diff = traces::diff_traces(a, b, &matched);
  } catch (const std::runtime_error& error) {
    throw InputError(fmt::format("{}, {}: {}", options.trace, options.second, error.what()));
  }
  write_output("-o", [&] {
    traces::write_html_report({a, name(options.trace)}, {b, name(options.second)}, diff, matched, options.output);
  });
}

/// The SM whose barriers are asked for; the first that ran a CTA.
int sm_of(const ExportOptions& options, const traces::Trace& trace) {
  const std::vector<int> sms = traces::sms_with_barriers(trace);
  if (sms.empty())
    throw InputError(
        fmt::format("{}: --format vcd: the trace has no barriers; only simulated runs have them, hardware and "
                    "imported timelines do not",
                    options.trace));
  if (!options.sm) return sms.front();
  if (std::find(sms.begin(), sms.end(), *options.sm) == sms.end())
    throw InputError(fmt::format("--sm {}: no CTA of {} ran there; allowed are {}", *options.sm, options.trace,
                                 fmt::join(sms, ", ")));
  return *options.sm;
}

void export_trace(const ExportOptions& options) {
  const std::string& format = options.format;
  if (format != "chrome-json" && format != "vcd" && format != "csv" && format != "html")
    throw InputError(fmt::format("--format {}: allowed are {}", format, kFormats));
  if (options.sm && format != "vcd") throw InputError("--sm: goes with --format vcd, the others hold all SMs");
  if (format == "html") return export_html(options);
  if (!options.second.empty())
    throw InputError(fmt::format("--format {} takes one trace; html shows two side by side", format));
  const traces::Trace trace = read_trace(options.trace);
  check_output_path("-o", options.output, options.trace);
  const int sm = format == "vcd" ? sm_of(options, trace) : -1;
  write_output("-o", [&] {
    if (format == "vcd") return traces::write_vcd(trace, sm, options.output);
    if (format == "csv") return traces::write_csv(trace, options.output);
    traces::write_chrome_json(trace, options.output);
  });
}

}  // namespace

void add_export_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand("export", "Write a recorded trace in another format");
  command->add_option("TRACE", options->trace, "Trace file (.pftrace, also compressed); - is standard input")
      ->required();
  command->add_option("TRACE2", options->second, "With html: a second trace, shown beside the first");
  command
      ->add_option("--format", options->format,
                   "chrome-json; vcd: the mbarriers of one SM as waveforms; csv: a row per span; html: a page that "
                   "shows the run")
      ->type_name("{chrome-json,vcd,csv,html}")
      ->required();
  command
      ->add_option("-o,--output", options->output,
                   "File to write, compressed if it ends in .gz; - is standard output")
      ->type_name("FILE")
      ->required()
      ->check(file_name());
  command->add_option("--sm", options->sm, "With vcd: which SM (the first that ran a CTA)")
      ->type_name("N")
      ->check(integers(0, INT32_MAX));
  command->callback([options, &exit_code] {
    export_trace(*options);
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
