// SPDX-License-Identifier: Apache-2.0
/// A process that waits beside a run until the run's result is wrong, and then repeats it with provenance; or until
/// it turns out that the run has hazards, and then repeats it looking at each as it comes.  SystemC elaborates once
/// per process, so it is made before anything is elaborated; it costs nothing until it is asked.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>

#include "sim/run_result.h"

namespace sm100::sim::provenance {

class Repetition {
 public:
  /// @param run  what it does when it is asked, in its own process
  explicit Repetition(const std::function<RunResult()>& run);
  ~Repetition();
  Repetition(const Repetition&) = delete;
  Repetition& operator=(const Repetition&) = delete;

  /// There is such a process.
  bool is_there() const { return process_ > 0; }
  /// Asks for the result, once; nothing where no process could be made or it has died.
  std::optional<RunResult> result();

 private:
  void end();

  pid_t process_ = -1;
  int ask_ = -1, answer_ = -1;
};

}  // namespace sm100::sim::provenance
