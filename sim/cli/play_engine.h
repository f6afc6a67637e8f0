// SPDX-License-Identifier: Apache-2.0
/// The process of `sm100sim play` that has the session and forks a process for each run.  It has one thread, so
/// that it can fork at any time; the server's threads ask it one after the other.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>

#include "sim/cli/play_api.h"
#include "sim/cli/play_session.h"

namespace sm100::sim::cli {

class PlayEngine {
 public:
  /// Forks; to be called before the process has threads.
  explicit PlayEngine(PlaySession& session);
  /// Ends the process and what it runs.
  ~PlayEngine();
  PlayEngine(const PlayEngine&) = delete;
  PlayEngine& operator=(const PlayEngine&) = delete;

  PlayResponse ask(const std::string& what, const std::string& body);

 private:
  std::mutex mutex_;
  int socket_ = -1;
  pid_t process_ = -1;
};

/// What the engine's process does with a question.
PlayResponse answer_of(PlaySession& session, const std::string& what, const std::string& body);

}  // namespace sm100::sim::cli
