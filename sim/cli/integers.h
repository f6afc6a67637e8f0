// SPDX-License-Identifier: Apache-2.0
/// Options that take an integer.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace sm100::sim::cli {

/// The whole text as a decimal integer; nothing if it is none or lies beyond 64 bits.
inline std::optional<int64_t> integer_of(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// For Option::check.  CLI11's own Range sees what strtoll leaves of a number: the largest of 64 bits for any
/// larger one.
inline CLI::Validator integers(int64_t low, int64_t high = std::numeric_limits<int64_t>::max()) {
  return {[low, high](std::string& text) {
            const std::optional<int64_t> value = integer_of(text);
            if (value && low <= *value && *value <= high) return std::string();
            return fmt::format("{}: allowed are integers {} to {}", text, low, high);
          },
          ""};
}

}  // namespace sm100::sim::cli
