/// sm100sim export TRACE --format F -o OUT: a recorded trace in another format.

#include <fmt/format.h>

#include <memory>

#include "kernels/host/scenario.h"
#include "sim/cli/commands.h"
#include "sim/cli/output_path.h"
#include "traces/chrome_json.h"
#include "traces/pftrace.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

struct ExportOptions {
  std::string trace, format, output;
};

traces::Trace read_trace(const std::string& path) {
  try {
    return traces::read_pftrace(path);
  } catch (const std::runtime_error& error) { throw InputError(error.what()); }
}

void export_trace(const ExportOptions& options) {
  if (options.format == "vcd" || options.format == "csv" || options.format == "html")
    throw InputError(fmt::format("not implemented: --format {}; this version has chrome-json", options.format));
  if (options.format != "chrome-json")
    throw InputError(fmt::format("--format {}: allowed is chrome-json", options.format));
  const traces::Trace trace = read_trace(options.trace);
  check_output_path("-o", options.output, options.trace);
  write_output("-o", [&] { traces::write_chrome_json(trace, options.output); });
}

}  // namespace

void add_export_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand("export", "Write a recorded trace in another format");
  command->add_option("TRACE", options->trace, "Trace file (.pftrace)")->required();
  command->add_option("--format", options->format, "chrome-json")->type_name("FORMAT")->required();
  command->add_option("-o,--output", options->output, "File to write")->type_name("FILE")->required();
  command->callback([options, &exit_code] {
    export_trace(*options);
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
