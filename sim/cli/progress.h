// SPDX-License-Identifier: Apache-2.0
/// Progress of a long run on stderr: "  34 %  cycle 1,204,000".
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace sm100::sim::cli {

class Progress {
 public:
  /// Shows after two seconds if stderr is a terminal; `always`: from the start, wherever stderr goes.
  explicit Progress(bool always);
  ~Progress();  ///< clears the line on a terminal
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(double fraction, uint64_t cycle);
  void update(double fraction, std::string_view what);

 private:
  using Clock = std::chrono::steady_clock;
  const bool terminal_, enabled_;
  Clock::time_point next_;
  bool shown_ = false;
};

}  // namespace sm100::sim::cli
