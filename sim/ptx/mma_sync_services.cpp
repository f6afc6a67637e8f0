// SPDX-License-Identifier: Apache-2.0
// mma.sync, mma.sp and movmatrix on the models (PTX 9.7.14.5, 6).
#include <cmath>

#include "sim/ptx/matrix_exchange.h"
#include "sim/ptx/services.h"

namespace sm100::sim {

using Together = PtxServiceEntry::Together;

namespace {

PtxOutcome mma_sync(ServiceCall& c) {
  const auto form = lanes::mma_sync_of(c.service);
  if (!form) return c.warp.not_implemented(lanes::kNoSuchMma);
  WarpContext& w = c.context();
  const models::DeviceProfile& profile = w.profile;
  const models::MmaSyncCycles cycles = models::mma_sync_cycles(*form, profile);
  w.at(c.loc, c.lanes);
  if (!w.converged("mma.sync")) return PtxOutcome::stop;
  w.charge_private(cycles.issue);
  lanes::mma_sync(
      c, *form, w.own.accumulation,
      profile.wgmma.columns_per_cycle > 0 ? models::MmaSyncCore::hopper : models::MmaSyncCore::blackwell);
  const auto arrives = models::now() + models::Cycles(std::ceil(w.warp.ahead + cycles.latency - cycles.issue));
  for (const ptx::Operand& o : registers_of(c.operand(0)))
    if (o.kind == ptx::Operand::Kind::reg) c.warp.arrives(o.row, o.width, arrives);
  return PtxOutcome::done;
}

PtxOutcome movmatrix(ServiceCall& c) {
  c.context().at(c.loc, c.lanes);
  if (!c.context().converged("movmatrix")) return PtxOutcome::stop;
  c.context().charge_private(c.context().issue.alu);
  lanes::movmatrix(c);
  return PtxOutcome::done;
}

}  // namespace

std::vector<PtxServiceEntry> mma_sync_services() {
  return {{"mma", mma_sync, Together::all, false}, {"movmatrix", movmatrix, Together::all, false}};
}

}  // namespace sm100::sim
