/// sm100sim export TRACE --format F -o OUT: a recorded trace in another format.

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "kernels/host/scenario.h"
#include "sim/cli/commands.h"
#include "sim/cli/output_path.h"
#include "traces/chrome_json.h"
#include "traces/html/html_report.h"
#include "traces/pftrace.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

struct ExportOptions {
  std::string trace, second, format, output;
};

traces::Trace read_trace(const std::string& path) {
  try {
    return traces::read_pftrace(path);
  } catch (const std::runtime_error& error) { throw InputError(error.what()); }
}

/// The page of one trace, or of two side by side.
void export_html(const ExportOptions& options) {
  const auto name = [](const std::string& path) { return std::filesystem::path(path).filename().string(); };
  const traces::Trace a = read_trace(options.trace);
  check_output_path("-o", options.output, options.trace);
  if (options.second.empty())
    return write_output("-o", [&] { traces::write_html_report({a, name(options.trace)}, options.output); });
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

void export_trace(const ExportOptions& options) {
  if (options.format == "vcd" || options.format == "csv")
    throw InputError(
        fmt::format("not implemented: --format {}; this version has chrome-json, html", options.format));
  if (options.format != "chrome-json" && options.format != "html")
    throw InputError(fmt::format("--format {}: allowed are chrome-json, html", options.format));
  if (options.format == "html") return export_html(options);
  if (!options.second.empty())
    throw InputError(fmt::format("--format {} takes one trace; html shows two side by side", options.format));
  const traces::Trace trace = read_trace(options.trace);
  check_output_path("-o", options.output, options.trace);
  write_output("-o", [&] { traces::write_chrome_json(trace, options.output); });
}

}  // namespace

void add_export_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand("export", "Write a recorded trace in another format");
  command->add_option("TRACE", options->trace, "Trace file (.pftrace)")->required();
  command->add_option("TRACE2", options->second, "Second trace, shown beside the first (html)");
  command->add_option("--format", options->format, "chrome-json, html")->type_name("FORMAT")->required();
  command->add_option("-o,--output", options->output, "File to write")->type_name("FILE")->required();
  command->callback([options, &exit_code] {
    export_trace(*options);
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
