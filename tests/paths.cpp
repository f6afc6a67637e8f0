// SPDX-License-Identifier: Apache-2.0
#include "paths.h"

#include <cstdlib>

namespace sm100 {

std::string source_dir() { return SM100_SOURCE_DIR; }
std::string scenario_dir() { return SM100_SOURCE_DIR "/scenarios"; }
std::string profile_dir() { return SM100_SOURCE_DIR "/models/profiles"; }
std::string sm100sim_binary() { return SM100SIM_BINARY; }
std::string measured_dir() {
  const char* chosen = std::getenv("SM100_MEASURED_DIR");
  return chosen ? chosen : SM100_MEASURED_DIR;
}

}  // namespace sm100
