// SPDX-License-Identifier: Apache-2.0
/// What lies at an address of global memory, in words.
#pragma once

#include <string>

#include "models/memory_system.h"

namespace sm100::sim {

/// "C, row 130, column 0", "workspace, byte 1,024"; empty: no tensor holds the address.
std::string tensor_place(const models::MemorySystem& memory, GlobalAddr address);

/// Of bytes that no tensor holds all of: ": 128 bytes past the end of C (551 x 203 f32), where row 551, column 32
/// would be", ": 4 bytes before the beginning of locks"; empty: no tensor is near.
std::string beside_tensors(const models::MemorySystem& memory, GlobalAddr address, uint64_t bytes);

}  // namespace sm100::sim
