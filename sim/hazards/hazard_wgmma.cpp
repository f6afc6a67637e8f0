// SPDX-License-Identifier: Apache-2.0
// Operands of wgmma in shared memory.  The instructions of a warpgroup follow each other: they are one component,
// and whichever of its warps has waited for one knows that all four have read.
#include "models/umma_operands.h"
#include "sim/hazards/hazard_checker.h"

namespace sm100::sim {

uint32_t HazardChecker::wgmma_component(const Thread& t) {
  constexpr uint32_t kOfWarpgroup = 0;  // no lane's
  return lanes_component(rank(t.slot), t.by.warp / kWarpgroupWarps * kWarpgroupWarps, kMma, kOfWarpgroup);
}

Footprints::Id HazardChecker::wgmma_operand_set(const models::WgmmaCommand& c, bool a) {
  const SmemDescriptor descriptor = a ? c.a : c.b;
  const Major major = a ? c.form.a_major : c.form.b_major;
  const uint32_t rows = uint32_t(a ? kWgmmaM : c.form.n), bytes = models::container_bytes(a ? c.form.a : c.form.b),
                 row_bytes = wgmma_row_bytes(c.form, a);
  constexpr uint64_t kHopper = 0x517cc1b727220a95u;  // apart from tcgen05's descriptors
  uint64_t key = (descriptor.bits ^ kHopper) * 0x9e3779b97f4a7c15u ^
                 (uint64_t{row_bytes} << 20 | rows << 8 | bytes << 1 | uint32_t(major == Major::mn));
  key |= uint64_t{1} << 63;  // apart from ranges
  return descriptor_set(key, decode_wgmma(descriptor), major, bytes, rows, row_bytes);
}

void HazardChecker::wgmma(const Thread& t, const models::WgmmaCommand& command, uint32_t number) {
  if (postponed(t, [command, number](HazardChecker& h, const Thread& by) { h.wgmma(by, command, number); })) return;
  const Access read = access(t, AccessKind::wgmma_operand, false, {wgmma_component(t), number});
  if (!command.form.a_in_registers) touch_smem(t, rank(t.slot), wgmma_operand_set(command, true), read);
  touch_smem(t, rank(t.slot), wgmma_operand_set(command, false), read);
}

void HazardChecker::wgmma_wait(const Thread& t, uint32_t number) {
  if (postponed(t, [number](HazardChecker& h, const Thread& by) { h.wgmma_wait(by, number); })) return;
  warp(t).known.happened.advance({wgmma_component(t), number});
}

}  // namespace sm100::sim
