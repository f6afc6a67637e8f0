// SPDX-License-Identifier: Apache-2.0
/// PTX files that stand in for modules of a program: for one whose modules are machine code, or to try a change.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sm100::exec {

class GivenPtx {
 public:
  /// Reads the files.  Throws host::InputError, one line that begins with --ptx.
  explicit GivenPtx(const std::vector<std::filesystem::path>& files);

  bool empty() const { return files_.empty(); }

  struct File {
    std::filesystem::path path;
    std::string text;
    std::vector<std::string> entries;
    bool used = false;
  };
  /// What stands in for a module with this text; nullptr: nothing.  A module without text takes the first file that
  /// stands in for none yet, else the last.
  const File* for_module(const std::string& text);
  /// The files that have stood in for no module.
  std::vector<std::filesystem::path> unused() const;

 private:
  std::vector<File> files_;
};

}  // namespace sm100::exec
