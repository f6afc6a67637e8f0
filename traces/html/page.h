// SPDX-License-Identifier: Apache-2.0
/// The page of an HTML report without data: report/page.html, built into the program by CMake.
#pragma once

#include <string_view>

namespace sm100::traces {

std::string_view html_page();

}  // namespace sm100::traces
