// SPDX-License-Identifier: Apache-2.0
#include "exec/given_ptx.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "kernels/host/scenario.h"
#include "ptx/module.h"

namespace sm100::exec {
namespace {

/// The text defines an entry of that name.
bool has_entry(const std::string& text, const std::string& name) {
  const std::string head = ".entry " + name;
  for (size_t at = text.find(head); at != std::string::npos; at = text.find(head, at + 1)) {
    const size_t end = at + head.size();
    if (end == text.size() || text[end] == '(' || text[end] == '\n' || text[end] == ' ' || text[end] == '\r')
      return true;
  }
  return false;
}

}  // namespace

GivenPtx::GivenPtx(const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file.good() && text.empty())
      throw host::InputError(fmt::format("--ptx {}: cannot be read", path.string()));
    File& added = files_.emplace_back(File{path, std::move(text), {}});
    try {
      for (const ptx::Entry& entry : ptx::parse(added.text, path.string()).entries)
        if (!entry.external) added.entries.emplace_back(entry.name);
    } catch (const ptx::PtxError& error) { throw host::InputError(fmt::format("--ptx {}", error.what())); }
    if (added.entries.empty()) throw host::InputError(fmt::format("--ptx {}: it has no .entry", path.string()));
  }
}

const GivenPtx::File* GivenPtx::for_module(const std::string& text) {
  File* found = nullptr;
  for (File& file : files_) {
    const bool fits = text.empty() ? !file.used
                                   : std::any_of(file.entries.begin(), file.entries.end(),
                                                 [&](const std::string& name) { return has_entry(text, name); });
    if (fits && !found) found = &file;
  }
  if (!found && text.empty() && !files_.empty()) found = &files_.back();
  if (found) found->used = true;
  return found;
}

std::vector<std::filesystem::path> GivenPtx::unused() const {
  std::vector<std::filesystem::path> paths;
  for (const File& file : files_)
    if (!file.used) paths.push_back(file.path);
  return paths;
}

}  // namespace sm100::exec
