// SPDX-License-Identifier: Apache-2.0
/// Reads device profiles.  DeviceProfile::visit names every entry; the file must have exactly these.

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <map>

#include "kernels/host/built_in_profiles.h"
#include "kernels/host/data_directory.h"
#include "kernels/host/scenario.h"
#include "kernels/host/toml_reader.h"

namespace sm100::host {
namespace {

struct Range {
  double low, high;
};

/// Rates divide, so they are above zero.
Range range_of(const std::string& key) {
  if (key == "device.sm_clock_ghz" || key == "power.full_ghz") return {0.1, 5};
  if (key == "power.limit_watts") return {1, 1e6};
  if (key == "power.tensor_drop" || key == "power.error") return {0, 0.5};
  if (key == "power.energy_exponent" || key == "power.tensor_exponent" || key == "power.first_drop") return {0, 10};
  if (key == "umma.i8_cycles" || key == "umma.pair_i8_cycles") return {-100, INT_MAX};  // beyond other kinds'
  if (key == "memory.dram_channels" || key == "memory.dram_interleave_bytes" || key == "memory.dram_wait_lines" ||
      key == "memory.translation_mib")
    return {1, 1 << 20};
  if (key == "memory.line_bytes") return {32, 1 << 20};
  if (key == "memory.l2_gpc_spread" || key == "memory.dram_spread") return {0, 1};
  if (key == "memory.l2_early_share") return {0, 0.3};
  if (key == "device.sms" || key == "device.gpc_sms") return {1, 1024};
  if (key == "device.ctas_per_sm" || key == "device.warps_per_sm") return {1, 64};
  if (key == "device.smem_unit" || key == "device.register_unit") return {1, 1 << 20};
  const bool is_rate = key.ends_with("_per_cycle") || key.ends_with("_per_s") || key == "tma.row_bytes";
  return {is_rate ? 0.001 : 0, INT_MAX};
}

/// Sections of the units that devices before sm_100 lack.  A profile has all of them or none.
constexpr const char* kTensorCoreSections[] = {"umma", "tmem", "clc"};

bool is_tensor_core_section(const std::string& section) {
  return std::find(std::begin(kTensorCoreSections), std::end(kTensorCoreSections), section) !=
         std::end(kTensorCoreSections);
}

struct EntryReader {
  std::map<std::string, TomlTable>& sections;

  const TomlTable& section(const std::string& key) const { return sections.at(key.substr(0, key.find('.'))); }
  bool present(const std::string& key) const { return sections.count(key.substr(0, key.find('.'))) > 0; }
  static std::string entry(const std::string& key) { return key.substr(key.find('.') + 1); }

  void operator()(const char* key, int& value) const {
    if (!present(key)) return;
    const auto [low, high] = range_of(key);
    value = int(section(key).integer(entry(key), low > 0 ? std::max(1, int(low)) : int(low), int(high)));
  }
  void operator()(const char* key, double& value) const {
    if (!present(key)) return;
    const auto [low, high] = range_of(key);
    value = section(key).number(entry(key), low, high);
  }
};

std::vector<std::string> profile_files() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(profile_directory(), error))
    if (file.path().extension() == ".toml") names.push_back(file.path().stem().string());
  return names;
}

/// True where the program lies without its files and nobody says where they are.
bool use_built_in_profiles() {
  std::error_code error;
  return !std::getenv("SM100SIM_PROFILES") && !std::filesystem::is_directory(profile_directory(), error);
}

TomlDocument named_document(const std::string& name) {
  if (use_built_in_profiles())
    for (const BuiltInProfile& profile : built_in_profiles())
      if (profile.name == name) return TomlDocument::of_text(profile.text, name + " (built-in profile)");
  return TomlDocument(profile_directory() / (name + ".toml"));
}

}  // namespace

models::DeviceProfile load_profile(const std::string& name) {
  const bool is_path = std::filesystem::path(name).extension() == ".toml";
  if (!is_path) {
    const auto known = list_profiles();
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InputError(one_line(
          fmt::format("profile '{}': allowed are {} or a path that ends in .toml", name, fmt::join(known, ", "))));
  }
  const TomlDocument document = is_path ? TomlDocument(std::filesystem::path(name)) : named_document(name);

  models::DeviceProfile profile;
  std::map<std::string, std::vector<std::string>> keys;  // section -> entries
  const bool has_tensor_core = std::any_of(std::begin(kTensorCoreSections), std::end(kTensorCoreSections),
                                           [&](const char* section) { return document.has(section); });
  const bool has_wgmma = document.has("wgmma");
  profile.visit([&](const std::string& key, auto&) {
    const std::string section = key.substr(0, key.find('.'));
    if (section == "wgmma" && !has_wgmma) return;
    if (has_tensor_core || !is_tensor_core_section(section)) keys[section].push_back(EntryReader::entry(key));
  });
  profile.has_tensor_core = has_tensor_core;
  profile.has_wgmma = has_wgmma;
  std::vector<std::string> top = {"name"};
  for (const auto& [section, entries] : keys) top.push_back(section);
  const TomlTable root = document.root(top);
  profile.name = root.string("name");
  std::map<std::string, TomlTable> sections;
  for (const auto& [section, entries] : keys) sections.emplace(section, root.table(section, entries));
  profile.visit(EntryReader{sections});
  return profile;
}

std::vector<std::string> list_profiles() {
  std::vector<std::string> names = profile_files();
  if (names.empty() && use_built_in_profiles())
    for (const BuiltInProfile& profile : built_in_profiles()) names.emplace_back(profile.name);
  std::sort(names.begin(), names.end());
  if (names.empty())
    throw InputError(fmt::format("{}: no device profiles here (SM100SIM_PROFILES names their directory)",
                                 profile_directory().string()));
  return names;
}

}  // namespace sm100::host
