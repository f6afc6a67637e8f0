// SPDX-License-Identifier: Apache-2.0
#include "sim/instructions/lane_stores.h"

#include <algorithm>
#include <array>
#include <bit>

#include "sim/warp_context.h"

namespace sm100::instructions {

using models::Cycles;
using sim::WarpContext;

namespace {

uint64_t first_byte(const LaneStores& stores, int lane) {
  return stores.addresses[lane][0].value + uint64_t(stores.offset);
}

/// What the store takes of the SM's way out.
models::StorePath::Lines lines_of(const models::DeviceProfile& profile, const LaneStores& stores) {
  const auto sector_bytes = uint64_t(profile.tma.sector_bytes), line_bytes = uint64_t(profile.memory.line_bytes);
  std::array<uint64_t, 2 * kWarpLanes> sectors;  // a lane's bytes, 32 at most, are in two at most
  size_t touched = 0;
  for (uint32_t left = stores.lanes; left != 0; left &= left - 1) {
    const uint64_t at = first_byte(stores, std::countr_zero(left));
    sectors[touched++] = at / sector_bytes;
    if (const uint64_t last = (at + stores.bytes - 1) / sector_bytes; last != sectors[touched - 1])
      sectors[touched++] = last;
  }
  std::sort(sectors.begin(), sectors.begin() + long(touched));
  const size_t all = size_t(std::unique(sectors.begin(), sectors.begin() + long(touched)) - sectors.begin());
  const uint64_t in_line = line_bytes / sector_bytes;
  models::StorePath::Lines lines{0, 0};
  for (size_t i = 0, first = 0; i < all; first = i) {
    while (i < all && sectors[i] / in_line == sectors[first] / in_line) ++i;
    lines.cycles +=
        std::max(profile.global_store.line_cycles, double(i - first) * profile.global_store.sector_cycles);
    ++lines.count;
  }
  return lines;
}

/// What L2 is asked to write.
models::MemorySystem::Write write_of(WarpContext& w, const LaneStores& stores) {
  const auto sector_bytes = uint64_t(w.profile.tma.sector_bytes);
  std::array<uint64_t, kWarpLanes> begins;
  size_t lanes = 0;
  for (uint32_t left = stores.lanes; left != 0; left &= left - 1)
    begins[lanes++] = first_byte(stores, std::countr_zero(left));
  std::sort(begins.begin(), begins.begin() + long(lanes));
  models::MemorySystem::Write write;
  write.share = w.profile.global_store.l2_share;
  for (size_t i = 0; i < lanes;) {
    const uint64_t from = begins[i];
    uint64_t to = from + stores.bytes;
    for (++i; i < lanes && begins[i] / sector_bytes <= (to - 1) / sector_bytes + 1; ++i)
      to = std::max(to, begins[i] + stores.bytes);
    w.cta.gpu().memory().touch(write, {from}, to - from);
  }
  return write;
}

/// The warp waits for room on the way out of the SM. @return when the store has left it
Cycles send(WarpContext& w, const models::MemorySystem::Write& write, const models::StorePath::Lines& lines) {
  models::StorePath& path = w.sm.global_stores;
  const Cycles at = path.has_room(w.enqueue_cycle(), w.profile.global_store.room);
  w.hold_issue(at);
  return path.pass(at, lines, w.cta.gpu().memory().accept(write, at, {.sm = w.sm.id, .cluster = -1}));
}

}  // namespace

void store_to_global(WarpContext& w, const LaneStores& stores) {
  if (stores.lanes == 0) return w.charge(w.issue.alu);  // predicates are off: it is issued, and that is all
  const auto& costs = w.profile.global_store;
  const double handed_over = double(std::popcount(stores.lanes)) * stores.bytes / costs.handover_bytes_per_cycle;
  w.charge(std::max(w.issue.st_shared, handed_over));  // at least as long as a store to shared memory: assumed
  const Cycles left = send(w, write_of(w, stores), lines_of(w.profile, stores));
  const Cycles late = w.jitter().delay(models::JitterSite::global_store, w.point());
  w.warp.stores_visible = std::max(w.warp.stores_visible, w.cta.gpu().memory().visible(left) + late);
}

void store_unseen(WarpContext& w, GlobalAddr address, uint32_t bytes) {
  const auto& costs = w.profile.global_store;
  models::MemorySystem::Write write;
  write.share = costs.l2_share;
  w.cta.gpu().memory().touch(write, address, bytes);
  send(w, write, {1, std::max(costs.line_cycles, costs.sector_cycles)});
}

}  // namespace sm100::instructions
