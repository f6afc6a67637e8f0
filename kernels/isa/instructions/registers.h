// SPDX-License-Identifier: Apache-2.0
/// Registers of a thread, by all warps of a warpgroup (PTX, Miscellaneous Instructions: setmaxnreg).
#pragma once

#include "kernels/isa/instructions/instruction.h"

namespace sm100::instructions {

/// Waits until the CTA's pool has enough.
struct SetmaxnregInc {
  static constexpr Description kIs{.function = "setmaxnreg_inc", .opcode = "setmaxnreg.inc", .aligned = true};
  static constexpr SupportLine kSupport[] = {
      {"setmaxnreg.inc, .dec", Support::modelled,
       "a pool for each partition; without run.registers every request is served"}};
  int registers;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("registers", i.registers);
  }
  void execute(sim::WarpContext&) const;
};

struct SetmaxnregDec {
  static constexpr Description kIs{.function = "setmaxnreg_dec", .opcode = "setmaxnreg.dec", .aligned = true};
  static constexpr auto& kSupport = SetmaxnregInc::kSupport;
  int registers;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("registers", i.registers);
  }
  void execute(sim::WarpContext&) const;
};

using RegisterGroup = List<SetmaxnregInc, SetmaxnregDec>;

}  // namespace sm100::instructions
