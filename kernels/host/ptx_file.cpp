// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/ptx_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <sstream>

namespace sm100::host {
namespace {

constexpr size_t kNamesShown = 8;

std::string entry_names(const ptx::Module& module) {
  std::vector<std::string_view> names;
  for (const ptx::Entry& entry : module.entries)
    if (names.size() < kNamesShown) names.push_back(entry.name);
  const size_t more = module.entries.size() - names.size();
  return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

std::vector<size_t> entries_like(const ptx::Module& module, const std::string& part) {
  std::vector<size_t> found;
  for (size_t i = 0; i < module.entries.size(); ++i) {
    if (module.entries[i].name == part) return {i};
    if (module.entries[i].name.find(part) != std::string_view::npos) found.push_back(i);
  }
  return found;
}

}  // namespace

PtxFile read_ptx_file(const TomlTable& table, std::string_view file_key, std::string_view entry_key,
                      const std::filesystem::path& folder) {
  PtxFile file{.path = table.string(file_key)};
  if (file.path.is_relative()) file.path = folder / file.path;
  std::ifstream in(file.path, std::ios::binary);
  std::stringstream text;
  if (!in || !(text << in.rdbuf())) throw table.wrong(file_key, fmt::format("cannot read {}", file.path.string()));
  try {
    file.module = std::make_shared<const ptx::Module>(ptx::parse(text.str(), file.path.filename().string()));
  } catch (const ptx::PtxError& wrong) { throw InputError(wrong.what()); }
  if (file.module->entries.empty()) throw table.wrong(file_key, "the file has no .entry");
  const std::vector<size_t> found = entries_like(*file.module, table.has(entry_key) ? table.string(entry_key) : "");
  if (found.size() != 1)
    throw table.wrong(entry_key,
                      fmt::format("{} entries have this in their name; name one of {}",
                                  found.empty() ? "no" : std::to_string(found.size()), entry_names(*file.module)));
  file.entry_index = found[0];
  return file;
}

}  // namespace sm100::host
