// SPDX-License-Identifier: Apache-2.0
/// What lies at an address of global memory, in words.
#pragma once

#include <string>

#include "models/memory_system.h"

namespace sm100::sim {

/// "C, row 130, column 0", "workspace, byte 1,024"; empty: no tensor holds the address.
std::string tensor_place(const models::MemorySystem& memory, GlobalAddr address);

}  // namespace sm100::sim
