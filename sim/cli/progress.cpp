// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace sm100::sim::cli {

using namespace std::chrono_literals;

namespace {

/// Whatever becomes of it: progress that cannot be shown is no error.
void show(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

Progress::Progress(bool always)
    : terminal_(isatty(STDERR_FILENO) != 0),
      enabled_(always || terminal_),
      next_(Clock::now() + (always ? 0s : 2s)) {}

Progress::~Progress() {
  if (shown_ && terminal_) show(fmt::format("\r{:80}\r", ""));
}

void Progress::update(double fraction, uint64_t cycle) {
  if (enabled_ && Clock::now() >= next_) update(fraction, fmt::format("cycle {}", cycle));
}

void Progress::update(double fraction, std::string_view what) {
  if (!enabled_ || Clock::now() < next_) return;
  next_ = Clock::now() + (terminal_ ? 200ms : 1000ms);
  constexpr size_t kWidth = 72;  // of a terminal's line, less the percentage
  show(fmt::format("{}  {:3.0f} %  {:<{}}{}", terminal_ ? "\r" : "", 100 * fraction, what.substr(0, kWidth),
                   terminal_ ? kWidth : 0, terminal_ ? "" : "\n"));
  shown_ = true;
}

}  // namespace sm100::sim::cli
