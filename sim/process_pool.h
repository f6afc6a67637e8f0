// SPDX-License-Identifier: Apache-2.0
/// Runs pieces of work in forked processes, several at a time, and brings back the bytes that each returns. SystemC
/// elaborates once per process, so whoever needs many simulations needs many processes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sm100::sim {

class ProcessPool {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ProcessPool(int jobs) : jobs_(jobs) {}
  ~ProcessPool() { end(); }
  ProcessPool(const ProcessPool&) = delete;
  ProcessPool& operator=(const ProcessPool&) = delete;

  bool full() const { return int(children_.size()) >= jobs_; }
  bool empty() const { return children_.empty(); }
  /// Forks a process that runs `work`; it ends with this process, in whatever way that ends (on Linux).
  /// Throws std::runtime_error when the system has none left.
  void start(uint64_t id, const std::function<std::string()>& work);

  struct Finished {
    uint64_t id = 0;
    std::string bytes;
    std::string died;  ///< "signal 6 (Aborted)", "exit code 5"; empty: it returned its bytes
  };
  /// Waits for the next process to finish, at most until `deadline`.
  std::optional<Finished> wait(Clock::time_point deadline = Clock::time_point::max());
  /// Kills one; wait() returns it as died.
  void stop(uint64_t id);
  /// Kills what still runs.
  void end();

 private:
  struct Child {
    uint64_t id;
    pid_t process;
    int pipe;
    std::string bytes;
  };
  Finished reap(size_t index);

  const int jobs_;
  std::vector<Child> children_;
};

}  // namespace sm100::sim
