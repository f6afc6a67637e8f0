// SPDX-License-Identifier: Apache-2.0
/// Tables of instructions by the beginning of their text.
#pragma once

#include <string_view>
#include <vector>

namespace sm100::sim {

/// The entry whose opcode is the longest beginning of an instruction's text, up to a dot; nullptr: none.
template <class Entry>
const Entry* longest_match(const std::vector<Entry>& entries, std::string_view opcode) {
  const Entry* best = nullptr;
  for (const Entry& entry : entries) {
    if (!opcode.starts_with(entry.opcode)) continue;
    const size_t n = entry.opcode.size();
    if (opcode.size() > n && opcode[n] != '.' && opcode[n] != ':') continue;
    if (!best || n > best->opcode.size()) best = &entry;
  }
  return best;
}

}  // namespace sm100::sim
