// SPDX-License-Identifier: Apache-2.0
/// Where the shared symbols of a PTX entry lie in a CTA's window.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kernels/isa/address.h"
#include "ptx/program.h"

namespace sm100::host {

/// Offsets of the first static symbol, from which the offsets of all count, and of the dynamic ones, behind all
/// static ones.
struct SharedLayout {
  uint64_t first_static = kSmemUserBase, first_dynamic = kSmemUserBase;
};

inline SharedLayout shared_layout(const ptx::Program& program) {
  const auto rounded_up = [](uint64_t offset, uint64_t align) {
    align = std::max<uint64_t>(1, align);
    return (offset + align - 1) / align * align;
  };
  SharedLayout layout;
  layout.first_static = rounded_up(kSmemUserBase, std::max(program.shared_align, program.dynamic_shared_align));
  layout.first_dynamic =
      layout.first_static + rounded_up(program.static_shared_bytes, program.dynamic_shared_align);
  return layout;
}

/// Immediates and addresses as the CTA of rank 0 sees them.
inline std::vector<std::byte> placed_constants(const ptx::Program& program, const SharedLayout& layout) {
  std::vector<std::byte> constants = program.constants;
  for (const ptx::Symbol& symbol : program.symbols)
    if (symbol.space == ptx::Space::shared)
      program.set_address(constants, symbol, layout.first_static + symbol.offset);
  return constants;
}

}  // namespace sm100::host
