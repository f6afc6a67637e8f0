// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/data_directory.h"

#include <sys/auxv.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace sm100::host {
namespace {

namespace fs = std::filesystem;

/// Names the source tree in a build folder; CMake writes it.
constexpr const char* kSourceTreeFile = "sm100sim-source-tree.txt";

struct DataDirectories {
  fs::path profiles, scenarios, lessons;
};

bool has_data(const DataDirectories& d) {
  std::error_code error;
  return fs::is_directory(d.profiles, error);
}

DataDirectories of_source_tree(const fs::path& tree) {
  return {tree / "models" / "profiles", tree / "scenarios", tree / "docs" / "lessons"};
}
DataDirectories of_prefix(const fs::path& prefix) {
  const fs::path share = prefix / "share" / "sm100sim";
  return {share / "profiles", share / "scenarios", share / "lessons"};
}

fs::path named_source_tree(const fs::path& build) {
  std::ifstream file(build / kSourceTreeFile);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Looks from the program's own folder upwards: PREFIX/bin finds PREFIX/share/sm100sim, a build folder the source
/// tree that its file names, and a build folder that was moved the source tree that it lies in.
DataDirectories find_data() {
  std::error_code error;
  const fs::path program = program_file();
  for (fs::path folder = program.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    const fs::path tree = named_source_tree(folder);
    if (!tree.empty() && has_data(of_source_tree(tree))) return of_source_tree(tree);
    if (has_data(of_prefix(folder))) return of_prefix(folder);
    if (has_data(of_source_tree(folder))) return of_source_tree(folder);
    if (folder == folder.root_path()) break;
  }
  return of_prefix(program.parent_path().parent_path());  // for the message: where an installation would have them
}

const DataDirectories& data() {
  static const DataDirectories found = find_data();
  return found;
}

fs::path chosen(const char* variable, const fs::path& otherwise) {
  const char* value = std::getenv(variable);
  return value && *value ? fs::path(value) : otherwise;
}

}  // namespace

fs::path program_file() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) return program;
  const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return started ? fs::canonical(started, error) : fs::path();
}

fs::path profile_directory() { return chosen("SM100SIM_PROFILES", data().profiles); }
fs::path scenario_directory() { return chosen("SM100SIM_SCENARIOS", data().scenarios); }
fs::path lesson_directory() { return chosen("SM100SIM_LESSONS", data().lessons); }

std::string scenario_name(const fs::path& file) {
  const std::string stem = file.stem().string();
  const size_t digits = stem.find_first_not_of("0123456789");
  return digits == 2 && stem[2] == '_' && stem.size() > 3 ? stem.substr(3) : stem;
}

}  // namespace sm100::host
