// SPDX-License-Identifier: Apache-2.0
// setmaxnreg on the model.
#include "kernels/isa/instructions/registers.h"

#include "sim/warp_context.h"

namespace sm100::instructions {

using sim::WarpContext;

namespace {

void set_registers(WarpContext& w, bool increase, int registers) {
  w.warp.begins_wait(w.loc());
  w.charge(w.issue.setmaxnreg);
  w.settle();
  models::RegisterPool& pool = w.own.registers;
  if (!pool.check(increase, registers, w.source())) return;
  if (!pool.known()) w.cta.observer().registers_unknown();
  if (!increase) return pool.decrease(registers, w.source());
  while (!pool.increase(registers, w.warp.waiter, w.source()))
    w.warp.suspend({.on = sim::Blocked::On::registers, .offset = uint32_t(registers), .loc = w.loc()});
}

}  // namespace

void SetmaxnregInc::execute(WarpContext& w) const { set_registers(w, true, registers); }
void SetmaxnregDec::execute(WarpContext& w) const { set_registers(w, false, registers); }

}  // namespace sm100::instructions
