// SPDX-License-Identifier: Apache-2.0
/// Runs sm100sim as a user does, for tests of its command line.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "paths.h"
#include "scratch_directory.h"

namespace sm100::sim {

/// What a run of sm100sim printed and returned.
struct Ran {
  int exit_code;
  std::string out, err;
};

/// Runs a command in the shell; `where` is its working directory.
inline Ran run_program(const ScratchDirectory& where, const std::string& program, const std::string& arguments) {
  ScratchDirectory streams;
  const std::string out = (streams / "out").string(), err = (streams / "err").string();
  // The first program of a pipe gets nothing to read.
  const std::string command =
      "cd '" + where.path().string() + "' && < /dev/null " + program + " " + arguments + " > " + out + " 2> " + err;
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_whole(out), read_whole(err)};
}

/// Runs sm100sim.
/// @param environment  assignments, as the shell takes them before a command
inline Ran run(const ScratchDirectory& where, const std::string& arguments, const std::string& environment = "") {
  return run_program(where, environment + " '" + sm100sim_binary() + "'", arguments);
}

}  // namespace sm100::sim
