// SPDX-License-Identifier: Apache-2.0
/// Lines of what the commands print: a label and a text, "3 scenarios", "4.2 s".
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/text.h"

namespace sm100::sim::cli {

inline std::string line(std::string_view label, std::string_view text) {
  return fmt::format("  {:<13}{}\n", label, text);
}

inline std::string plural(uint64_t count, std::string_view word) {
  return fmt::format("{} {}{}", grouped(int64_t(count)), word, count == 1 ? "" : "s");
}

inline std::string seconds_text(double seconds) { return fmt::format("{:.{}f} s", seconds, seconds < 10 ? 1 : 0); }

}  // namespace sm100::sim::cli
