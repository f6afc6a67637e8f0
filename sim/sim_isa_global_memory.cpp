// SimIsa's loads and stores of warps in global memory: addresses checked, bytes moved, traffic charged.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/sim_isa.h"

namespace sm100::sim {

/// Approximated: an L2 hit; what uses the registers first is taken to be the next store.
LaneArray<uint32_t, 1> SimIsa::load_global(const LaneArray<GlobalAddr, 1>& addresses,
                                           const LaneArray<bool, 1>& predicates, uint32_t bytes, const char* what,
                                           Loc loc) {
  charge(issue_.ld_shared);  // assumed as long as a load from shared memory
  global_loads_done_ = issue_cycle() + profile_.cycles_of_ns(profile_.memory.l2_hit_ns);
  LaneArray<uint32_t, 1> values{};
  if (!sm_.with_data) return values;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!(active_ >> lane & 1) || !predicates[lane][0]) continue;
    const GlobalAddr address = addresses[lane][0];
    const uint8_t* from = cta_.gpu().memory().data(address, bytes);
    if (address.value % bytes != 0 || !from) {
      violate(from ? "GM2" : "GM1",
              fmt::format("{} of {} bytes at {:#x} by lane {}: {}", what, bytes, address.value, lane,
                          from ? "not aligned to its size" : "no allocation holds it"),
              loc);
      return values;
    }
    check_prerequisites(address, what, loc);
    std::memcpy(&values[lane][0], from, bytes);
  }
  return values;
}

void SimIsa::store_global(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                          const LaneArray<bool, 1>& predicates, uint32_t bytes, const char* what, Loc loc) {
  charge(issue_.st_shared);  // assumed as long as a store to shared memory
  models::MemorySystem& memory = cta_.gpu().memory();
  // Predicates are data: a run without data must offer memory the same bytes.
  const models::Cycles accepted = memory.accept_write(uint64_t(bytes) * uint64_t(active_lanes()), enqueue_cycle());
  warp_.stores_visible = std::max(warp_.stores_visible, memory.write(accepted));
  if (!sm_.with_data) return;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!(active_ >> lane & 1) || !predicates[lane][0]) continue;
    const GlobalAddr address = addresses[lane][0];
    if (address.value % bytes != 0)
      return violate(
          "GM2", fmt::format("{} at {:#x} by lane {}: must be {}-byte aligned", what, address.value, lane, bytes),
          loc);
    uint8_t* target = memory.data(address, bytes);
    if (!target)
      return violate("GM1",
                     fmt::format("{} of {} bytes at {:#x} by lane {}, which no allocation holds", what, bytes,
                                 address.value, lane),
                     loc);
    std::memcpy(target, &values[lane][0], bytes);  // little-endian: b16 is the lower half
  }
}

}  // namespace sm100::sim
