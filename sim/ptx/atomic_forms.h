// SPDX-License-Identifier: Apache-2.0
/// What an atom or red of PTX says of itself (PTX 9.7.13.3, .4).
#pragma once

#include <string>

#include "kernels/isa/reduction.h"
#include "ptx/program.h"

namespace sm100::sim {

struct AtomicForm {
  std::string missing;  ///< why it is not implemented; empty: it is
  ReduceOp op = ReduceOp::exch;
  ReduceType type = ReduceType::none;
  uint32_t bytes = 0;  ///< of an element
  bool cas = false, returns = false;
  ptx::Space space = ptx::Space::generic;

  /// atom.add.f32 flushes subnormals in global memory and keeps them in shared memory.
  ReduceType type_in(bool shared) const { return type == ReduceType::f32_ftz && shared ? ReduceType::f32 : type; }
  uint64_t masked(uint64_t value) const { return bytes >= 8 ? value : value & ((uint64_t{1} << 8 * bytes) - 1); }
};

AtomicForm atomic_form(const ptx::Service& service);

}  // namespace sm100::sim
