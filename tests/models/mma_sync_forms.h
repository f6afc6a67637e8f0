// SPDX-License-Identifier: Apache-2.0
/// Forms of mma.sync and mma.sp by their text.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/mma_sync.h"

namespace sm100::models {

/// "m16n8k16.row.col.f32.f16.f16.f32", behind ".sync.aligned".
/// @param variant  ".sp" or ".sp::ordered_metadata" in front of that
inline std::optional<MmaSyncForm> form_of(const std::string& text, const std::string& variant = "") {
  const std::string all = variant + ".sync.aligned." + text;
  std::vector<std::string_view> modifiers;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find('.', at + 1), all.size());
    modifiers.push_back(std::string_view(all).substr(at, end - at));
    at = end;
  }
  return mma_sync_form(modifiers);
}

}  // namespace sm100::models
