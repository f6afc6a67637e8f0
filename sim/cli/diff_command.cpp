/// sm100sim diff A B: are two traces the same story, and where does the time differ?

#include <fmt/format.h>

#include <memory>

#include "kernels/host/scenario.h"
#include "sim/cli/commands.h"
#include "sim/cli/output_path.h"
#include "traces/atomic_file.h"
#include "traces/diff.h"
#include "traces/pftrace.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

struct DiffOptions {
  std::string a, b, json;
};

traces::Trace read(const std::string& path) {
  try {
    return traces::read_pftrace(path);
  } catch (const std::runtime_error& error) { throw InputError(error.what()); }
}

int diff(const DiffOptions& options) {
  const traces::Trace a = read(options.a), b = read(options.b);
  const bool json_only = options.json == "-";
  if (!options.json.empty() && !json_only) {
    check_output_path("--json", options.json, options.a);
    check_output_path("--json", options.json, options.b);
  }
  traces::TraceDiff result;
  try {
    result = traces::diff_traces(a, b);
  } catch (const std::runtime_error& error) {
    throw InputError(fmt::format("{}, {}: {}", options.a, options.b, error.what()));
  }
  const auto json = [&] { return traces::diff_json(result, a, b, options.a, options.b); };
  if (!options.json.empty() && !json_only)
    write_output("--json", [&] {
      traces::AtomicFile file(options.json);
      file.stream() << json();
      file.commit();
    });
  fmt::print("{}", json_only ? json() : traces::format_diff(result, a, b, options.a, options.b));
  return result.structure.identical() ? kOk : kResultsDiffer;
}

}  // namespace

void add_diff_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* command = app.add_subcommand(
      "diff", "Compare two traces: first what happened, then when (exit 1: different structure)");
  command->add_option("A", options->a, "Trace to examine, for example a simulation")->required();
  command->add_option("B", options->b, "Trace to hold it against, for example a hardware run")->required();
  command->add_option("--json", options->json, "Write the comparison as JSON; - prints it instead of the text")
      ->type_name("FILE");
  command->callback([options, &exit_code] { exit_code = diff(*options); });
}

}  // namespace sm100::sim::cli
