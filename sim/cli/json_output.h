// SPDX-License-Identifier: Apache-2.0
/// What all JSON of the commands has in common (docs/user-guide.md, "JSON").
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sm100::sim::cli {

using Json = nlohmann::ordered_json;

/// "sm100sim 0.1.0"
std::string tool_version();

/// An object that begins with "schema", "schema_version" and "tool_version".
/// @param command  "run" for the schema "sm100sim.run"
Json json_document(std::string_view command, int schema_version = 1);

/// null for an empty text, and for a negative number: what does not apply.
Json text_or_null(std::string_view text);
Json number_or_null(int64_t value);

/// Writes the object, indented; `path` "-" is standard output.  Throws InputError that begins with "--json".
void write_json(const std::string& path, const Json& json);

/// Throws InputError unless the object can be written there; `input` must not be overwritten.
void check_json_path(const std::string& path, const std::string& input);

}  // namespace sm100::sim::cli
