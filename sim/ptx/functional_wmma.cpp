// SPDX-License-Identifier: Apache-2.0
// wmma.load, wmma.mma and wmma.store without models.
#include <cstring>

#include "sim/ptx/functional_warp.h"
#include "sim/ptx/wmma_accesses.h"

namespace sm100::sim {

using lanes::WmmaAccess;
using ptx::Instr;
using ptx::LaneMask;
using ptx::Space;
using Together = PtxServiceEntry::Together;

namespace {

bool move(FunctionalWarp& w, const ServiceOperands& c, const Instr&) {
  const auto found = lanes::wmma_move_of(c.service);
  if (!found) return w.not_implemented(lanes::kNoSuchWmma);
  const lanes::WmmaPlan& plan = found->plan();
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (const std::string why = found->misaligned(c, lane); !why.empty())
      return w.fail(FunctionalEnd::misaligned, "GM1", lane, why);
  }
  std::vector<uint8_t> image = found->load ? std::vector<uint8_t>(plan.image_bytes) : found->from_registers(c);
  const bool shared = found->space == Space::shared;
  for (const WmmaAccess& access : plan.accesses) {
    const LaneMask by = access.matrices == 0   ? c.lanes
                        : access.matrices == 4 ? ptx::kAllLanes
                                               : (LaneMask{1} << 8 * access.matrices) - 1;
    for (LaneMask left = by; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const uint64_t address = found->address_of(c, access, lane);
      uint8_t* const there =
          w.bytes_at(found->space, shared ? uint32_t(address) : address, access.bytes, lane, !found->load);
      if (!there) return false;
      w.record(there, access.bytes, found->load, !found->load, false);
      uint8_t* const here = &image[plan.in_image(access, lane)];
      found->load ? std::memcpy(here, there, access.bytes) : std::memcpy(there, here, access.bytes);
    }
  }
  if (found->load) found->to_registers(c, image);
  return true;
}

/// The sums in f32; their last bits are nobody's promise.
bool wmma(FunctionalWarp& w, const ServiceOperands& c, const Instr&) {
  const auto form = lanes::wmma_of(c.service);
  if (!form) return w.not_implemented(lanes::kNoSuchWmma);
  lanes::wmma(c, *form, models::Accumulation::fast, models::MmaSyncCore::blackwell);
  return true;
}

}  // namespace

std::vector<FunctionalService> functional_wmma() {
  return {
      {"wmma.load", move, Together::all}, {"wmma.store", move, Together::all}, {"wmma.mma", wmma, Together::all}};
}

}  // namespace sm100::sim
