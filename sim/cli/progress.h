/// Progress of a long run on stderr: "  34 %  cycle 1,204,000".
#pragma once

#include <chrono>
#include <cstdint>

namespace sm100::sim::cli {

class Progress {
 public:
  /// Shows after two seconds if stderr is a terminal; `always`: from the start, wherever stderr goes.
  explicit Progress(bool always);
  ~Progress();  ///< clears the line on a terminal
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(double fraction, uint64_t cycle);

 private:
  using Clock = std::chrono::steady_clock;
  const bool terminal_, enabled_;
  Clock::time_point next_;
  bool shown_ = false;
};

}  // namespace sm100::sim::cli
