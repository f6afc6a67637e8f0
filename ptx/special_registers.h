// SPDX-License-Identifier: Apache-2.0
/// Special registers (PTX 10): names, widths, and which of them change while a warp runs.
#pragma once

#include <cstdint>
#include <string_view>

namespace sm100::ptx {

struct SpecialRegister {
  std::string_view name;  ///< without a component: "%tid"
  uint8_t width;          ///< bytes; 1: a predicate
  bool vector;            ///< has .x, .y, .z, .w
  bool changes;           ///< another value at each reading
};

/// nullptr: there is none of that name.  Takes "%tid" and "%tid.x", "%envreg3".
const SpecialRegister* find_special_register(std::string_view name);
inline bool is_special_register(std::string_view name) { return find_special_register(name) != nullptr; }

}  // namespace sm100::ptx
