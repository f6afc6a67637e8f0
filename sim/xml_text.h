// SPDX-License-Identifier: Apache-2.0
/// Any text as XML 1.0 has it.
#pragma once

#include <string>
#include <string_view>

namespace sm100::sim {

/// For text and for attributes in double quotes: markup is escaped; what XML cannot hold (control characters, bytes
/// that are no UTF-8) becomes U+FFFD.
std::string xml_text(std::string_view text);

}  // namespace sm100::sim
