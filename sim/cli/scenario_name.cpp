// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/scenario_name.h"

#include <fmt/format.h>

#include <vector>

#include "kernels/host/toml_reader.h"
#include "sim/cli/scenario_directory.h"

namespace sm100::sim::cli {

namespace fs = std::filesystem;

namespace {

/// "copy/four_stages" for "four_stages" and for "copy/fuor_stages"; empty: nothing is near.
std::string near_names(const std::string& text) {
  std::vector<std::string> known;
  std::string same;
  const std::string wanted =
      fs::path(text).extension() == ".toml" ? fs::path(text).replace_extension() : fs::path(text);
  for (const fs::path& file : scenario_files()) {
    const fs::path folder = file.lexically_relative(scenario_directory()).parent_path();
    const std::string name = (folder / host::scenario_name(file)).string();
    if (host::scenario_name(file) == fs::path(wanted).filename()) same += (same.empty() ? "" : ", ") + name;
    known.push_back(name);
  }
  return same.empty() ? host::nearest_word(wanted, known) : same;
}

/// The lesson of this name, whatever its number ("dense_small" is 01_dense_small.toml); empty: there is none.
fs::path lesson(const fs::path& wanted) {
  for (const fs::path& file : scenario_files())
    if (file.parent_path() == scenario_directory() && host::scenario_name(file) == wanted) return file;
  return {};
}

}  // namespace

fs::path scenario_file(const std::string& text) {
  std::error_code ignored;
  const fs::path path(text);
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_directory(status)) return path;
  if (!path.empty() && path.is_relative())
    for (const fs::path& name : {path, fs::path(text + ".toml")})
      if (const fs::path file = scenario_directory() / name; fs::is_regular_file(file, ignored)) return file;
  // As the documents write it, wherever we are: "scenarios/02_one_stage.toml".
  if (path.is_relative() && !path.empty() && *path.begin() == "scenarios")
    if (const fs::path file = scenario_directory() / path.lexically_relative("scenarios");
        fs::is_regular_file(file, ignored))
      return file;
  if (const fs::path file = lesson(path.extension() == ".toml" ? fs::path(path).replace_extension() : path);
      !file.empty())
    return file;
  if (fs::exists(status)) return path;  // a directory: whoever reads it says so
  if (!fs::is_directory(scenario_directory(), ignored))
    throw host::InputError(host::one_line(
        fmt::format("{}: no such file, and {} has no scenarios to name (SM100SIM_SCENARIOS names their directory)",
                    text, scenario_directory().string())));
  const std::string near = near_names(text);
  throw host::InputError(host::one_line(
      fmt::format("{}: no such file, and no scenario of this name{}", text,
                  near.empty() ? "; sm100sim list scenarios shows all" : "; near ones are " + near)));
}

}  // namespace sm100::sim::cli
