// SPDX-License-Identifier: Apache-2.0
/// Runs a program under `sm100sim exec --sms 2`.
#pragma once

#include <string>

#include "sim/program.h"

namespace sm100::sim {

inline Ran exec_program(const std::string& program, const std::string& what, const std::string& options = "") {
  return run(ScratchDirectory(), "exec --sms 2 " + options + " " + program + " " + what);
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace sm100::sim
