// SPDX-License-Identifier: Apache-2.0
/// Runs a CUDA program whose device is the models: starts it with our runtime library, answers what the library
/// asks, and carries out its launches, one after the other.
///
///     Session session(options);
///     const SessionResult result = session.run();
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "exec/launch.h"
#include "exec/worker.h"

namespace sm100::exec {

struct SessionOptions {
  std::vector<std::string> command;  ///< the program and its arguments
  host::Scenario device;             ///< profile, number of SMs, data and jitter of every launch
  std::filesystem::path save;        ///< a folder for the launches; empty: none are written
  /// PTX files in place of modules of the program: of one that has an entry of the same name, or of one without
  /// PTX.
  std::vector<std::filesystem::path> ptx;
  bool fresh_zeros = false;  ///< new device memory is zeros, not NaN
  bool recorded = false;     ///< outcomes have traces, and `called` hears of the program's calls
  /// The program has called this function of its library.
  std::function<void(const std::string&)> called;
  /// The program has asked for the time between two events.
  std::function<void(double nanoseconds)> measured;
  /// A launch runs; called now and then.
  std::function<void(const Launch&, const LaunchProgress&)> running;
  /// A launch is over.  It is called before the program goes on.
  std::function<void(const Launch&, const LaunchOutcome&, const host::Scenario&)> launched;
  /// Two pieces of work of different streams touch the same memory, and nothing orders them; a pair of names once.
  std::function<void(const sim::Finding&)> raced;
  /// A sentence for the user: a function that is not implemented, why the program cannot run.
  std::function<void(const std::string&)> say;
};

struct SessionResult {
  int program_exit = 0;    ///< its exit code, or 128 and the signal that ended it
  bool connected = false;  ///< it has called our runtime library
  bool refused = false;    ///< it could not run; `say` has said why
  int launches = 0;        ///< carried out to their end
};

/// Throws host::InputError where the program cannot be started.
SessionResult run_program(const SessionOptions& options);

}  // namespace sm100::exec
