// SPDX-License-Identifier: Apache-2.0
/// Whole files: the PTX that nvcc made of this project's kernels, or any in the folder that SM100_PTX_DIR names.

#include <cstdlib>
#include <filesystem>

#include "catch.h"
#include "ptx/program.h"
#include "scratch_directory.h"

using namespace sm100::ptx;

namespace {

std::vector<std::filesystem::path> files() {
  const char* named = std::getenv("SM100_PTX_DIR");
  std::vector<std::filesystem::path> found;
  const std::filesystem::path folder = named ? named : SM100_KERNEL_PTX_DIR;
  if (std::filesystem::is_directory(folder))
    for (const auto& file : std::filesystem::directory_iterator(folder))
      if (file.path().extension() == ".ptx") found.push_back(file.path());
  return found;
}

/// Statements by another way: what ends with ';' inside of braces and is no directive.  Compilers write labels on
/// lines of their own or in front of an instruction, and no ';' in comments.
size_t count_statements(const std::string& text) {
  size_t count = 0;
  int depth = 0;
  std::string statement;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '/' && text[i + 1] == '/') {
      while (i < text.size() && text[i] != '\n') ++i;
      continue;
    }
    // A brace that opens a block follows the end of a statement; others are vectors.
    const size_t last = statement.find_last_not_of(" \t\r\n");
    const bool blank = last == std::string::npos || statement[last] == ':' ||
                       (depth == 0 && statement.find('=') == std::string::npos);
    if (c == '{' && blank)
      ++depth, statement.clear();
    else if (c == '}' && blank && depth > 0)
      --depth, statement.clear();
    else if (c == ';') {
      const size_t start = statement.find_first_not_of(" \t\r\n");
      if (depth > 0 && start != std::string::npos && statement[start] != '.' &&
          statement.find(".pragma") == std::string::npos && statement.find(".branchtargets") == std::string::npos &&
          statement.find(".callprototype") == std::string::npos)
        ++count;
      statement.clear();
    } else if (c == '\n' && statement.find(".loc") != std::string::npos) {
      statement.clear();
    } else {
      statement += c;
    }
  }
  return count;
}

}  // namespace

TEST_CASE("Compiled kernels are read in full: every statement, no unknown form") {
  if (files().empty()) SM100_SKIP("no PTX files: nvcc is needed to make them");
  for (const auto& path : files()) {
    const std::string text = sm100::read_whole(path);
    const Module module = parse(text, path.filename().string());
    size_t statements = 0;
    for (const Entry& entry : module.entries) {
      statements += entry.body.statements.size();
      for (const UnsupportedForm& form : unsupported(decode(module, entry)))
        FAIL_CHECK(module.name << ":" << form.line << ": " << form.opcode << ": " << form.why);
    }
    for (const Entry& function : module.functions) statements += function.body.statements.size();
    INFO(module.name);
    CHECK(statements == count_statements(text));
  }
}
