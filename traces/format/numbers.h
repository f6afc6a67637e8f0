// SPDX-License-Identifier: Apache-2.0
/// How the reports on traces write numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "traces/format/schema.h"

namespace sm100::traces {

inline double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

inline std::string grouped(uint64_t value) {
  std::string text = std::to_string(value);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<size_t>(at), 1, ',');
  return text;
}

/// What a tick is.  Our own traces count SM cycles; hardware's timers need not count nanoseconds.
inline std::string_view tick_name(const Metadata& metadata) {
  if (metadata.source != "hardware") return "cycles";
  return metadata.ticks_per_second == 1e9 ? "ns" : "ticks";
}

}  // namespace sm100::traces
