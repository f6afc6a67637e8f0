// SPDX-License-Identifier: Apache-2.0
/// What `sm100sim play` does; play_absent.cpp is it where the program was built without an HTTP library.
#pragma once

#include <string>

namespace sm100::sim::cli {

struct PlayOptions {
  std::string scenario = "lessons/01_one_stage";
  int port = 0;  ///< 0: any
  bool no_browser = false;
};

/// Serves the page until SIGINT or SIGTERM; returns the exit code.
int play(const PlayOptions& options);

}  // namespace sm100::sim::cli
