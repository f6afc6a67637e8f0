/// sm100sim stats TRACE: what a recorded trace says in numbers.

#include "traces/statistics.h"

#include <fmt/format.h>

#include <memory>

#include "kernels/host/scenario.h"
#include "sim/cli/commands.h"
#include "traces/pftrace.h"

namespace sm100::sim::cli {

using namespace host;

void add_stats_command(CLI::App& app, int& exit_code) {
  auto path = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("stats", "Who worked, who waited and for what, in a recorded trace");
  command->add_option("TRACE", *path, "Trace file (.pftrace)")->required();
  command->callback([path, &exit_code] {
    try {
      fmt::print("{}", traces::format_statistics(traces::read_pftrace(*path)));
    } catch (const std::runtime_error& error) { throw InputError(error.what()); }
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
