// SPDX-License-Identifier: Apache-2.0
/// The page of `sm100sim play`: report/play.html, built into the program by CMake.
#pragma once

#include <string_view>

namespace sm100::sim::cli {

std::string_view play_page();

}  // namespace sm100::sim::cli
