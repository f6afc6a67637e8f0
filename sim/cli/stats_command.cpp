/// sm100sim stats TRACE: what a recorded trace says in numbers.

#include "traces/statistics.h"

#include <fmt/format.h>

#include <memory>

#include "kernels/host/scenario.h"
#include "sim/cli/commands.h"
#include "traces/critical_path.h"
#include "traces/pftrace.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

std::string critical_path_of(const std::string& path, const traces::Trace& trace, size_t steps) {
  try {
    return traces::format_critical_path(trace, traces::critical_path(trace), steps);
  } catch (const std::runtime_error& error) { throw InputError(fmt::format("{}: {}", path, error.what())); }
}

}  // namespace

void add_stats_command(CLI::App& app, int& exit_code) {
  struct Options {
    std::string trace;
    bool critical_path = false;
    size_t steps = 0;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("stats", "Who worked, who waited and for what, in a recorded trace");
  command->add_option("TRACE", options->trace, "Trace file (.pftrace)")->required();
  CLI::Option* critical_path = command->add_flag("--critical-path", options->critical_path,
                                                 "What the run's end depends on, and what limits the run");
  command->add_option("--steps", options->steps, "With --critical-path: the last N segments of the path too")
      ->check(CLI::Range(0, 1'000'000'000))
      ->type_name("N")
      ->needs(critical_path);
  command->callback([options, &exit_code] {
    std::string text;
    try {
      const traces::Trace trace = traces::read_pftrace(options->trace);
      text = options->critical_path ? critical_path_of(options->trace, trace, options->steps)
                                    : traces::format_statistics(trace);
    } catch (const std::runtime_error& error) { throw InputError(error.what()); }
    fmt::print("{}", text);
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
