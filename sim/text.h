// SPDX-License-Identifier: Apache-2.0
/// Small formatting helpers shared by reports: 12,345, mma_warp.h:57, and words that a shell takes as they are.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "kernels/isa/portability.h"

namespace sm100::sim {

inline std::string grouped(int64_t n) {
  std::string digits = std::to_string(n < 0 ? -n : n);
  for (int i = int(digits.size()) - 3; i > 0; i -= 3) digits.insert(size_t(i), ",");
  return n < 0 ? "-" + digits : digits;
}

/// File name and line of the role code, "gemm.cu:143 (x.ptx:547)" of PTX with line information; empty when unknown.
std::string line_of(const Loc& loc);

/// A word of a shell command.
inline std::string shell_word(const std::string& text) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=/,:@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (char c : text) c == '\'' ? quoted += "'\\''" : quoted += c;
  return quoted + "'";
}

}  // namespace sm100::sim
