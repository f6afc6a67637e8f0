// SPDX-License-Identifier: Apache-2.0
/// A run's result as JSON, and back: what `run --json` shows and what processes send each other.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sim/run_result.h"

namespace sm100::sim {

using Json = nlohmann::ordered_json;

/// null for an empty text, and for a negative number: what does not apply.
Json text_or_null(std::string_view text);
Json number_or_null(int64_t value);

/// The keys of `run --json` (docs/json.md), and "details" with what only programs of ours need; nothing is lost.
/// Each finding has a "count" of 1.
void to_json(Json& json, const RunResult& result);
/// Throws nlohmann's exception when it is no such object.
void from_json(const Json& json, RunResult& result);

void to_json(Json& json, const Finding& finding);
void from_json(const Json& json, Finding& finding);

}  // namespace sm100::sim
