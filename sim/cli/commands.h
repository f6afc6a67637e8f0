// SPDX-License-Identifier: Apache-2.0
/// The commands of sm100sim, one file each.  A command adds itself to the parser and sets the exit code when
/// it ran.
#pragma once

#include <CLI/CLI.hpp>

#include "sim/verdict.h"  // ExitCode

namespace sm100::sim::cli {

/// For options that take a file: an empty name is refused before anything runs.
inline CLI::Validator file_name() {
  return {[](std::string& text) { return text.empty() ? "a file name is needed" : ""; }, ""};
}

/// For options that take some other text.
inline CLI::Validator some_text() {
  return {[](std::string& text) { return text.empty() ? "a value is needed" : ""; }, ""};
}

void add_run_command(CLI::App& app, int& exit_code);
void add_check_command(CLI::App& app, int& exit_code);
void add_explore_command(CLI::App& app, int& exit_code);
void add_mend_command(CLI::App& app, int& exit_code);
void add_sweep_command(CLI::App& app, int& exit_code);
void add_explain_command(CLI::App& app, int& exit_code);
void add_explain_config_command(CLI::App& app, int& exit_code);
void add_accuracy_command(CLI::App& app, int& exit_code);
void add_list_command(CLI::App& app, int& exit_code);
void add_lessons_command(CLI::App& app, int& exit_code);
void add_play_command(CLI::App& app, int& exit_code);
void add_stats_command(CLI::App& app, int& exit_code);
void add_export_command(CLI::App& app, int& exit_code);
void add_diff_command(CLI::App& app, int& exit_code);
void add_import_command(CLI::App& app, int& exit_code);
void add_ledger_command(CLI::App& app, int& exit_code);
void add_ptx_command(CLI::App& app, int& exit_code);
void add_instrument_command(CLI::App& app, int& exit_code);
void add_exec_command(CLI::App& app, int& exit_code);
/// completion and manual; they describe the commands that are there when they run.
void add_completion_command(CLI::App& app, int& exit_code);

}  // namespace sm100::sim::cli
