// SPDX-License-Identifier: Apache-2.0
/// What all JSON of the commands has in common (docs/json.md).
#pragma once

#include <string>
#include <string_view>

#include "sim/run_json.h"  // Json, text_or_null

namespace sm100::sim::cli {

/// "sm100sim 0.1.0"
std::string tool_version();

/// An object that begins with "schema", "schema_version" and "tool_version".
/// @param command  "run" for the schema "sm100sim.run"
Json json_document(std::string_view command, int schema_version = 1);

/// Writes the object, indented; `path` "-" is standard output.  Throws InputError that begins with the option.
void write_json(const std::string& path, const Json& json, std::string_view option = "--json");

/// Throws InputError unless the object can be written there; `input` must not be overwritten.
void check_json_path(const std::string& path, const std::string& input);

}  // namespace sm100::sim::cli
