// SPDX-License-Identifier: Apache-2.0
/// How a scenario's [problem] and [config] are read, one function per kernel, and what they share.
#pragma once

#include <algorithm>
#include <climits>
#include <string>
#include <string_view>

#include "kernels/host/scenario.h"
#include "kernels/host/toml_reader.h"

namespace sm100::host {

/// Read [problem] and [config] of a scenario of that kernel, apply the kernel's rules, resolve omitted stage counts.
void read_matmul(const TomlDocument& document, const TomlTable& root, Scenario& scenario);
void read_copy(const TomlDocument& document, const TomlTable& root, Scenario& scenario);
void read_fallback(const TomlDocument& document, const TomlTable& root, Scenario& scenario);
void read_umma_batches(const TomlDocument& document, const TomlTable& root, Scenario& scenario);
void read_tma_tiles(const TomlDocument& document, const TomlTable& root, Scenario& scenario);
void read_direct(const TomlDocument& document, const TomlTable& root, Scenario& scenario);

std::string matmul_configuration_json(const Scenario& scenario);
std::string copy_configuration_json(const Scenario& scenario);
std::string fallback_configuration_json(const Scenario& scenario);
std::string umma_batches_configuration_json(const Scenario& scenario);
std::string tma_tiles_configuration_json(const Scenario& scenario);
std::string direct_configuration_json(const Scenario& scenario);

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
