// SPDX-License-Identifier: Apache-2.0
/// What the kernels share that read a scenario's [problem] and [config].
#pragma once

#include <algorithm>
#include <climits>
#include <string>
#include <string_view>

#include "kernels/host/scenario.h"
#include "kernels/host/toml_reader.h"
#include "kernels/isa/swizzle.h"
#include "kernels/scheduler/rasterization.h"

namespace sm100::host {

inline constexpr std::pair<std::string_view, RasterOrder> kRasterOrderWords[] = {{"along_m", RasterOrder::along_m},
                                                                                 {"along_n", RasterOrder::along_n}};
inline const TomlTable::Words<RasterOrder> kRasterOrders(std::begin(kRasterOrderWords),
                                                         std::end(kRasterOrderWords));

template <class T>
std::string word_of(const TomlTable::Words<T>& words, T value) {
  for (const auto& [word, meaning] : words)
    if (meaning == value) return std::string(word);
  return "?";
}

inline int read_int(const TomlTable& table, std::string_view key, int low, int high = INT_MAX) {
  return int(table.integer(key, low, high));
}

/// For values that rules judge later: what exceeds int becomes its end, which no rule allows either.
inline int clamp_to_int(int64_t value) { return int(std::clamp<int64_t>(value, INT_MIN, INT_MAX)); }
inline int read_unjudged(const TomlTable& table, std::string_view key) {
  return clamp_to_int(table.integer(key, INT64_MIN, INT64_MAX));
}

/// [problem] of a product: m, n and k, which rules judge later.
template <class Problem>
void read_extents(const TomlTable& root, Problem& product) {
  const TomlTable table = root.table("problem", {"m", "n", "k"});
  product.m = read_unjudged(table, "m");
  product.n = read_unjudged(table, "n");
  product.k = read_unjudged(table, "k");
}

/// config.swizzle
inline Swizzle read_swizzle(const TomlDocument& document, const TomlTable& table) {
  switch (table.integer("swizzle", INT64_MIN, INT64_MAX)) {
    case 128: return Swizzle::b128;
    case 64: return Swizzle::b64;
    case 32: return Swizzle::b32;
    default: throw document.error("config.swizzle", "allowed are 128, 64, 32 (bytes of one row of the k tile)");
  }
}

}  // namespace sm100::host
