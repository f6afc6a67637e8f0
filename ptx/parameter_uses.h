// SPDX-License-Identifier: Apache-2.0
/// What a program does with its parameters, by its text: which bytes are tensor maps, which are addresses of global
/// memory, which are read as numbers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ptx/program.h"

namespace sm100::ptx {

struct ParameterUse {
  enum class As : uint8_t {
    tensor_map,  ///< of copies of tensors, or prefetched
    address,     ///< of global memory
    number,      ///< read, and neither
  };
  As as = As::number;
  uint64_t offset = 0;       ///< in the parameter window
  Type type = Type::none;    ///< number, address: as the first load reads it
  uint32_t instruction = 0;  ///< the first one that shows it
  int rank = 0;              ///< tensor_map: coordinates; 0: only prefetched
  bool stored = false;       ///< tensor_map: written through
  bool written = false;      ///< address: st or a reduction goes there
};

/// In the order of offsets.  A register that several instructions write is not followed.
std::vector<ParameterUse> parameter_uses(const Program& program);

}  // namespace sm100::ptx
