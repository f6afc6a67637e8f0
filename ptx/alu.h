// SPDX-License-Identifier: Apache-2.0
/// All forms of scalar instructions: the table that the decoder asks, that tests go through and that `list` prints.
/// A form's name has its types in order and its other modifiers sorted behind the base: order in the text is free.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/program.h"

namespace sm100::ptx {

/// An operand of a form, for immediates and for checks.
struct AluOperand {
  Type type = Type::none;
  bool written = false;
};

struct AluForm {
  std::string name;  ///< "add.sat.s32": base, modifiers sorted, types in order
  AluFunction function = nullptr;
  std::vector<AluOperand> operands;  ///< in the order of rows
  Cost cost = Cost::integer;
  uint32_t aux = 0;
  double max_ulps = 0;  ///< how far hardware may be from the result (.approx, by the PTX text); 0: exact
};

/// In the order of names.
std::span<const AluForm> alu_forms();

/// `opcode` as written; nullptr: unknown.
const AluForm* find_alu_form(std::string_view opcode);

/// The name under which a form with this opcode stands in the table.
std::string canonical(std::string_view opcode);

}  // namespace sm100::ptx
