// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/main.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "kernels/host/scenario.h"
#include "kernels/host/toml_reader.h"
#include "kernels/host/version.h"
#include "models/vector/instruction_set.h"
#include "sim/cli/commands.h"
#include "sim/cli/streams.h"
#include "sim/crash_report.h"
#include "traces/format/atomic_file.h"

namespace {

using namespace sm100::host;
using namespace sm100::sim;

void print_error(const std::string& text) { cli::say(one_line(text)); }

void print_internal_error(const char* what) {
  print_error(fmt::format("internal error: {}; please report it with the command line and the scenario", what));
}

/// An exception that nobody can catch (from a destructor or a thread) still ends in one line.
[[noreturn]] void terminate_in_one_line() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
    print_internal_error("terminated");
  } catch (const std::exception& error) { print_internal_error(error.what()); } catch (...) {
    print_internal_error("unknown exception");
  }
  std::_Exit(kInternalError);
}

const char* instruction_set() {
  try {
    return sm100::vector::name(sm100::vector::chosen_instruction_set());
  } catch (const std::invalid_argument& error) { throw InputError(error.what()); }
}

int run(int argc, char** argv) {
  instruction_set();  // a wrong SM100SIM_INSTRUCTION_SET is bad input to every command
  CLI::App app{"Cycle-level simulator of the B200's asynchronous units running warp-specialised GEMM kernels"};
  app.name("sm100sim");
  app.set_version_flag("--version", [] {
    return fmt::format("sm100sim {}\ninstruction set of the hot loops: {}", version_text(), instruction_set());
  });
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 ok, 1 results differ (check: a scenario does not end as it expects; diff: another structure), "
      "2 bad input, 3 hang, 4 findings, 5 internal error");

  int exit_code = kOk;
  cli::add_run_command(app, exit_code);
  cli::add_check_command(app, exit_code);
  cli::add_explore_command(app, exit_code);
  cli::add_mend_command(app, exit_code);
  cli::add_sweep_command(app, exit_code);
  cli::add_explain_command(app, exit_code);
  cli::add_explain_config_command(app, exit_code);
  cli::add_accuracy_command(app, exit_code);
  cli::add_list_command(app, exit_code);
  cli::add_lessons_command(app, exit_code);
  cli::add_play_command(app, exit_code);
  cli::add_stats_command(app, exit_code);
  cli::add_export_command(app, exit_code);
  cli::add_diff_command(app, exit_code);
  cli::add_import_command(app, exit_code);
  cli::add_ledger_command(app, exit_code);
  cli::add_ptx_command(app, exit_code);
  cli::add_instrument_command(app, exit_code);
  cli::add_exec_command(app, exit_code);
  cli::add_completion_command(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {  // --help, --version
    app.exit(help);
    std::cout.flush();
    if (!std::cout) throw InputError("cannot write to standard output");
    return kOk;
  } catch (const CLI::ParseError& error) {
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty()) {
      std::vector<std::string> names;
      for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
      print_error(fmt::format("sm100sim: '{}' is not a command; allowed are {}", argv[1], fmt::join(names, ", ")));
      return kBadInput;
    }
    print_error(fmt::format("sm100sim: {} (see sm100sim --help)", error.what()));
    return kBadInput;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) throw InputError("cannot write to standard output");
  return exit_code;
}

}  // namespace

namespace sm100::sim::cli {

int main(int argc, char** argv) {
  std::set_terminate(terminate_in_one_line);
  cli::keep_standard_streams();
  report_crashes();
  sm100::traces::remove_temporaries_on_signals();
  try {
    return run(argc, argv);
  } catch (const InputError& error) {
    for (const std::string& line : error.lines()) print_error(line);
    return kBadInput;
  } catch (const std::filesystem::filesystem_error& error) {
    print_internal_error(error.what());
    return kInternalError;
  } catch (const std::system_error& error) {  // from fmt::print
    print_error(fmt::format("sm100sim: cannot write to standard output: {}", error.code().message()));
    return kBadInput;
  } catch (const std::bad_alloc&) {
    print_error(
        "out of memory: this problem does not fit on this machine (--data none, a smaller problem and no --trace "
        "need less)");
    return kBadInput;
  } catch (const std::exception& error) { print_internal_error(error.what()); } catch (...) {
    print_internal_error("unknown exception");
  }
  return kInternalError;
}

}  // namespace sm100::sim::cli
