// SPDX-License-Identifier: Apache-2.0
/// sm100sim play [SCENARIO]: the page of a run in the browser, with controls that change the run.

#include <fmt/format.h>

#include <memory>
#include <string>

#include "sim/cli/commands.h"
#include "sim/cli/integers.h"
#include "sim/cli/play.h"

namespace sm100::sim::cli {

void add_play_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<PlayOptions>();
  CLI::App* command =
      app.add_subcommand("play", "Change a scenario in the browser and see at once what becomes of it");
  command
      ->add_option("SCENARIO", options->scenario,
                   "Scenario file, or a name of `list scenarios`; the first lesson if left out")
      ->check(some_text());
  command->add_option("--port", options->port, "Port of 127.0.0.1; any free one if left out")
      ->type_name("PORT")
      ->check(integers(1, 65535));
  command->add_flag("--no-browser", options->no_browser, "Only print the address");
  command->callback([options, &exit_code] { exit_code = play(*options); });
}

}  // namespace sm100::sim::cli
