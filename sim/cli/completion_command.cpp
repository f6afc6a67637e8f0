// SPDX-License-Identifier: Apache-2.0
/// sm100sim completion SHELL, sm100sim manual: for packages and for those who installed by hand.

#include <fmt/format.h>

#include <memory>

#include "kernels/host/version.h"
#include "sim/cli/command_description.h"
#include "sim/cli/commands.h"

namespace sm100::sim::cli {

void add_completion_command(CLI::App& app, int& exit_code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* completion = app.add_subcommand("completion", "Print a script that completes commands in a shell");
  completion
      ->add_option("SHELL", *shell, "The shell; load the script where it starts: . <(sm100sim completion bash)")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([&app, shell, &exit_code] {
    fmt::print("{}", completion_script(describe(app), *shell));
    exit_code = kOk;
  });

  CLI::App* manual = app.add_subcommand("manual", "Print the manual page: sm100sim manual | man -l -");
  manual->callback([&app, &exit_code] {
    fmt::print("{}", manual_page(describe(app), host::version()));
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
