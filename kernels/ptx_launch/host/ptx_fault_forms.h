// SPDX-License-Identifier: Apache-2.0
/// Which statement of PTX is which instruction of a fault, and where its operands stand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sm100::host {

struct PtxOperandPlace {
  std::string_view name;
  int index;                      ///< of the operands as PTX has them
  std::string_view type = "b32";  ///< of its register
};

/// A form of PTX under the name by which faults call it.
struct PtxForm {
  std::string_view function;
  std::string_view opcode;                  ///< how it begins
  std::vector<std::string_view> with = {};  ///< parts it has
  std::vector<std::string_view> without = {};
  int barrier = -1;  ///< operand that is the mbarrier's address
  std::vector<PtxOperandPlace> operands = {};
};

const std::vector<PtxForm>& ptx_forms();

/// nullptr: no fault can mean it.
const PtxForm* ptx_form_of(std::string_view opcode);

/// "[%r1], {%r2, %r3}, 4" as its three operands.
std::vector<std::string> split_operands(std::string_view operands);

}  // namespace sm100::host
