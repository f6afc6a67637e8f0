// SPDX-License-Identifier: Apache-2.0
/// Where the source tree, the built program and the measured data are, for tests.  One source file is compiled with
/// the paths, so that the tests' objects are the same in every checkout.
#pragma once

#include <string>

namespace sm100 {

std::string source_dir();
std::string scenario_dir();
std::string profile_dir();
std::string sm100sim_binary();
/// Folder with b200/*.csv; empty where there is none.  The environment variable SM100_MEASURED_DIR, else CMake's.
std::string measured_dir();

}  // namespace sm100
