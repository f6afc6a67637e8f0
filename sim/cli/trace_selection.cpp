// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/trace_selection.h"

#include <fmt/format.h>

#include "kernels/host/scenario.h"
#include "sim/cli/integers.h"

namespace sm100::sim::cli {

using host::InputError;

namespace {

/// The text in front of `separator`, which is taken off with it; all of it where there is none.
std::string_view cut(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view front = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return front;
}

std::vector<std::pair<int, int>> sms_of(const std::string& text, int count) {
  std::vector<std::pair<int, int>> ranges;
  std::string_view rest = text;
  while (!rest.empty() || ranges.empty()) {
    std::string_view part = cut(rest, ',');
    const bool is_range = part.find('-') != std::string_view::npos;
    const auto from = integer_of(cut(part, '-'));
    const auto to = is_range ? integer_of(part) : from;
    if (!from || !to || *from < 0 || *to < *from || *to >= count)
      throw InputError(
          fmt::format("--trace-sms {}: allowed are numbers and ranges of SMs, 0 to {}, as 0-3,7", text, count - 1));
    ranges.push_back({int(*from), int(*to)});
  }
  return ranges;
}

}  // namespace

traces::Selection trace_selection(const std::string& sms, const std::string& window, int count) {
  traces::Selection selection;
  if (!sms.empty()) selection.sms = sms_of(sms, count);
  if (window.empty()) return selection;
  std::string_view rest = window;
  const std::string_view from = cut(rest, ':');
  const auto begin = from.empty() ? std::optional<int64_t>(0) : integer_of(from);
  const auto end = rest.empty() ? std::optional<int64_t>(INT64_MAX) : integer_of(rest);
  if (window.find(':') == std::string::npos || (from.empty() && rest.empty()) || !begin || !end || *begin < 0 ||
      *end <= *begin)
    throw InputError(
        fmt::format("--trace-window {}: allowed are two cycles, as 1000:2000, 1000: or :2000", window));
  selection.begin = uint64_t(*begin);
  if (!rest.empty()) selection.end = uint64_t(*end);
  return selection;
}

}  // namespace sm100::sim::cli
