// SPDX-License-Identifier: Apache-2.0
/// An entry of a PTX file, as a scenario names it.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "kernels/host/toml_reader.h"
#include "ptx/module.h"

namespace sm100::host {

struct PtxFile {
  std::filesystem::path path;
  std::shared_ptr<const ptx::Module> module;
  size_t entry_index = 0;
  const ptx::Entry& entry() const { return module->entries[entry_index]; }
};

/// Reads the file that `file_key` names, relative to `folder`, and finds the entry whose name is that of
/// `entry_key`, or the only one that has it as a part.  Throws InputError: no such file, a parse error with its
/// line, no or several such entries.
PtxFile read_ptx_file(const TomlTable& table, std::string_view file_key, std::string_view entry_key,
                      const std::filesystem::path& folder);

}  // namespace sm100::host
