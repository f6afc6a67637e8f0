// SPDX-License-Identifier: Apache-2.0
/// sm100sim diff A B: are two traces the same story, and where does the time differ?

#include <fmt/format.h>

#include <memory>

#include "kernels/host/scenario.h"
#include "sim/cli/commands.h"
#include "sim/cli/json_output.h"
#include "sim/cli/read_trace.h"
#include "traces/diff/diff.h"
#include "traces/format/compressed_file.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

struct DiffOptions {
  std::string a, b, json;
};

int diff(const DiffOptions& options) {
  if (traces::is_standard_stream(options.a) && traces::is_standard_stream(options.b))
    throw InputError("diff - -: one of the two traces must be a file");
  const traces::Trace a = read_trace(options.a), b = read_trace(options.b);
  check_json_path(options.json, options.a);
  check_json_path(options.json, options.b);
  traces::TraceDiff result;
  try {
    result = traces::diff_traces(a, b);
  } catch (const std::runtime_error& error) {
    throw InputError(fmt::format("{}, {}: {}", options.a, options.b, error.what()));
  }
  if (!options.json.empty()) {
    Json json = json_document("diff");
    json.update(Json::parse(traces::diff_json(result, a, b, options.a, options.b)));
    write_json(options.json, json);
  }
  if (!traces::is_standard_stream(options.json))
    fmt::print("{}", traces::format_diff(result, a, b, options.a, options.b));
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
      ->type_name("FILE")
      ->check(file_name());
  command->callback([options, &exit_code] { exit_code = diff(*options); });
}

}  // namespace sm100::sim::cli
