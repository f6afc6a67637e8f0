// SPDX-License-Identifier: Apache-2.0
/// Variables of a module's scope that have an address: `.global` and `.const`, in the order of
/// ptx::Module::variables.  Whoever keeps a module over several launches gives each its bytes once; launches are
/// told the addresses (PtxLaunch::variables).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ptx/module.h"

namespace sm100::sim {

/// They lie in global memory.
std::vector<const ptx::Variable*> variables_with_address(const ptx::Module& module);

/// One behind the other from `base` on, each at its alignment and at a multiple of 16 at least.
struct VariableLayout {
  std::vector<uint64_t> addresses;
  uint64_t bytes = 0;  ///< from `base` to the last one's end
};
VariableLayout lay_out_variables(const ptx::Module& module, uint64_t base);

/// What a variable holds before the first launch: its initialiser, with the addresses of other variables in it, and
/// zeros.
/// @param addresses  of all variables_with_address()
std::vector<uint8_t> initial_bytes(const ptx::Module& module, const ptx::Variable& variable,
                                   std::span<const uint64_t> addresses);

}  // namespace sm100::sim
