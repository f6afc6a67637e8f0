// SPDX-License-Identifier: Apache-2.0
/// sm100sim import FILE --map MAP -o OUT: somebody else's Chrome-JSON timeline as a trace of ours.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "kernels/host/scenario.h"
#include "sim/cli/commands.h"
#include "sim/cli/import_map.h"
#include "sim/cli/output_path.h"
#include "sim/cli/streams.h"
#include "sim/text.h"
#include "traces/format/compressed_file.h"
#include "traces/format/pftrace.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

struct ImportOptions {
  std::string file, map, output;
};

void import_timeline(const ImportOptions& options) {
  const traces::ChromeImportMap map = load_import_map(options.map);
  check_output_path("-o", options.output, options.file);
  check_output_path("-o", options.output, options.map);
  traces::Trace trace;
  try {
    trace = traces::import_chrome_json(options.file, map);
  } catch (const std::runtime_error& error) { throw InputError(error.what()); }
  write_output("-o", [&] { traces::write_pftrace(trace, options.output); });
  const auto tracks = [&](traces::TrackKind kind) {
    return std::count_if(trace.tracks.begin(), trace.tracks.end(), [&](const auto& t) { return t.kind == kind; });
  };
  const std::string summary =
      fmt::format("{}: {} spans of {} roles in {} CTAs", options.output, grouped(int64_t(trace.spans.size())),
                  grouped(tracks(traces::TrackKind::role)), grouped(tracks(traces::TrackKind::cta)));
  const bool to_stdout = traces::is_standard_stream(options.output);
  if (to_stdout)
    say(summary);
  else
    fmt::print("{}\n", summary);
  for (const traces::Finding& hang : trace.findings) {
    if (to_stdout)
      say("  " + hang.message);
    else
      fmt::print("  {}\n", hang.message);
  }
}

}  // namespace

void add_import_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = app.add_subcommand("import", "Turn somebody else's timeline into a trace");
  command
      ->add_option(
          "FILE", options->file,
          "Chrome trace-event JSON, a synclog or IKET's JSON, plain or gzip-compressed; - is standard input")
      ->required();
  command->add_option("--map", options->map, "What its events mean (.toml; see traces/maps)")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("-o,--output", options->output,
                   "Trace file to write (.pftrace, .pftrace.gz); - is standard output")
      ->type_name("FILE")
      ->required()
      ->check(file_name());
  command->callback([options, &exit_code] {
    import_timeline(*options);
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
