// SPDX-License-Identifier: Apache-2.0
/// What an opcode is made of: "ld.shared::cta.u32" is a base and modifiers, which stand in any order.
#pragma once

#include <string_view>
#include <vector>

#include "ptx/program.h"

namespace sm100::ptx {

/// Parts between the dots: "ld", "shared::cta", "u32".
std::vector<std::string_view> parts_of(std::string_view opcode);

/// The name of a service in front of the modifiers whose order is free: "cp.async.bulk.tensor"; empty: no service.
std::string_view service_stem(std::string_view opcode);

/// Modifiers behind a stem of that length, with dots.
Modifiers modifiers_behind(std::string_view opcode, size_t stem);

}  // namespace sm100::ptx
