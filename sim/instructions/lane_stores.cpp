// SPDX-License-Identifier: Apache-2.0
#include "sim/instructions/lane_stores.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "sim/warp_context.h"

namespace sm100::instructions {

using models::Cycles;
using models::now;
using sim::WarpContext;

namespace {

uint64_t first_byte(const LaneStores& stores, int lane) {
  return stores.addresses[lane][0].value + uint64_t(stores.offset);
}

}  // namespace

void pass_lines(WarpContext& w, const LaneStores& stores) {
  const auto line_bytes = uint64_t(w.profile.memory.line_bytes);
  std::array<uint64_t, 2 * kWarpLanes> lines;  // a lane's bytes are in two at most
  size_t touched = 0;
  for (uint32_t left = stores.lanes; left != 0; left &= left - 1) {
    const uint64_t at = first_byte(stores, std::countr_zero(left));
    lines[touched++] = at / line_bytes;
    lines[touched++] = (at + stores.bytes - 1) / line_bytes;
  }
  std::sort(lines.begin(), lines.begin() + long(touched));
  const auto n = double(std::unique(lines.begin(), lines.begin() + long(touched)) - lines.begin());
  w.settle();
  const auto taken = Cycles(std::ceil(n / w.profile.smem.store_lines_per_cycle));
  w.warp.ahead += double(w.sm.shared_memory.pass(now(), taken) - now());
}

void write_to_l2(WarpContext& w, const LaneStores& stores) {
  const auto sector = uint64_t(w.profile.tma.sector_bytes);
  std::array<uint64_t, kWarpLanes> begins;
  size_t lanes = 0;
  for (uint32_t left = stores.lanes; left != 0; left &= left - 1)
    begins[lanes++] = first_byte(stores, std::countr_zero(left));
  if (lanes == 0) return;
  std::sort(begins.begin(), begins.begin() + long(lanes));
  models::MemorySystem& memory = w.cta.gpu().memory();
  models::MemorySystem::Write written;
  for (size_t i = 0; i < lanes;) {
    const uint64_t from = begins[i];
    uint64_t to = from + stores.bytes;
    for (++i; i < lanes && begins[i] / sector <= (to - 1) / sector + 1; ++i)
      to = std::max(to, begins[i] + stores.bytes);
    memory.touch(written, {from}, to - from);
  }
  const Cycles accepted = memory.accept(written, w.enqueue_cycle(), {.sm = w.sm.id, .cluster = -1});
  const Cycles late = w.jitter().delay(models::JitterSite::global_store, w.point());
  w.warp.stores_visible = std::max(w.warp.stores_visible, memory.visible(accepted) + late);
}

}  // namespace sm100::instructions
