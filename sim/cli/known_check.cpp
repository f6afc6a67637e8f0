// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/known_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "kernels/host/scenario.h"
#include "kernels/host/toml_reader.h"

namespace sm100::sim::cli {

using host::InputError;
namespace {

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// Edits (a letter more, less or another) from one word to the other.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same =
          std::tolower(static_cast<unsigned char>(a[i - 1])) == std::tolower(static_cast<unsigned char>(b[j - 1]));
      const size_t replaced = diagonal + (same ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// The checks of the same unit (MB1, MB2 ... for an MB that does not exist), else those that are spelled alike,
/// else none.
std::string near_ids(std::string_view id) {
  std::string text;
  const auto collect = [&](auto&& near) {
    for (const Check& check : kChecks)
      if (near(check.id)) text += fmt::format("{}{}", text.empty() ? "" : ", ", check.id);
  };
  if (id.size() > 2)
    collect([&](std::string_view known) { return same_letters(known.substr(0, 2), id.substr(0, 2)); });
  if (text.empty()) collect([&](std::string_view known) { return distance(known, id) <= 1 + id.size() / 4; });
  return text;
}

}  // namespace

const Check& known_check(const std::string& id) {
  for (const Check& check : kChecks)
    if (same_letters(check.id, id)) return check;
  const std::string near = near_ids(id);
  throw InputError(fmt::format("sm100sim: '{}' is not a check; {}", id,
                               near.empty() ? "sm100sim list checks shows all" : "near ones are " + near));
}

bool is_shown_by(const Check& check, const std::filesystem::path& scenario) {
  try {
    const host::Expectation expect = host::load_scenario(scenario).expect;
    return expect.id == std::string(check.id) || expect.warning == std::string(check.id);
  } catch (const InputError&) { return false; }  // `list scenarios` says what is wrong with it
}

}  // namespace sm100::sim::cli
