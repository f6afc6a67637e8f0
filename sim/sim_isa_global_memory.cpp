// SPDX-License-Identifier: Apache-2.0
// SimIsa's loads and stores of warps in global memory: addresses checked, bytes moved, traffic charged.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "sim/sim_isa.h"

namespace sm100::sim {

using models::now;

uint8_t* SimIsa::global_bytes(GlobalAddr address, uint32_t bytes, int lane, const char* what, Loc loc) {
  if (address.value % bytes != 0) {
    violate("GM2", fmt::format("{} at {:#x} by lane {}: must be {}-byte aligned", what, address.value, lane, bytes),
            loc);
    return nullptr;
  }
  uint8_t* data = cta_.gpu().memory().data(address, bytes);
  if (!data)
    violate("GM1",
            fmt::format("{} of {} bytes at {:#x} by lane {}, which no allocation holds", what, bytes, address.value,
                        lane),
            loc);
  return data;
}

/// Approximated: an L2 hit; what uses the registers first is taken to be the next store.
void SimIsa::load_global(const LaneArray<GlobalAddr, 1>& addresses, uint32_t* values, uint32_t words,
                         const LaneArray<bool, 1>* predicates, uint32_t bytes, const char* what, Loc loc) {
  charge(issue_.ld_shared);  // assumed as long as a load from shared memory
  global_loads_done_ = issue_cycle() + profile_.cycles_of_ns(profile_.memory.l2_hit_ns);
  std::memset(values, 0, sizeof(uint32_t) * words * kWarpLanes);
  if (!sm_.with_data) return;
  if (HazardChecker* h = hazards(); h && !predicates)
    h->global(thread(loc), addresses[first_active_lane()][0], false);
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!(active_ >> lane & 1) || (predicates && !(*predicates)[lane][0])) continue;
    const uint8_t* from = global_bytes(addresses[lane][0], bytes, lane, what, loc);
    if (!from) return;
    check_prerequisites(addresses[lane][0], what, loc);
    std::memcpy(values + size_t(lane) * words, from, bytes);
  }
}

void SimIsa::pass_stores(const LaneArray<GlobalAddr, 1>& addresses, uint32_t bytes, Loc loc) {
  const uint64_t line_bytes = uint64_t(profile_.memory.line_bytes);
  std::array<uint64_t, 2 * kWarpLanes> touched;
  size_t n = 0;
  for (int lane = 0; lane < kWarpLanes; ++lane)
    if (active_ >> lane & 1) {
      touched[n++] = addresses[lane][0].value / line_bytes;
      touched[n++] = (addresses[lane][0].value + bytes - 1) / line_bytes;
    }
  std::sort(touched.begin(), touched.begin() + long(n));
  const auto lines = double(std::unique(touched.begin(), touched.begin() + long(n)) - touched.begin());
  settle(loc);
  const auto taken = models::Cycles(std::ceil(lines / profile_.smem.store_lines_per_cycle));
  warp_.ahead += double(sm_.shared_memory.pass(now(), taken) - now());
}

void SimIsa::store_global(const LaneArray<GlobalAddr, 1>& addresses, const uint32_t* values, uint32_t words,
                          const LaneArray<bool, 1>* predicates, uint32_t bytes, const char* what, Loc loc) {
  use_global_loads();  // what it stores may follow from them
  uses_registers(values, loc);
  charge(issue_.st_shared);  // assumed as long as a store to shared memory
  models::MemorySystem& memory = cta_.gpu().memory();
  // Predicates are data: a run without data must offer memory the same bytes.
  const models::Cycles accepted =
      memory.accept_write(uint64_t(bytes) * uint64_t(active_lanes()), enqueue_cycle(loc));
  const models::Cycles late = jitter().delay(models::JitterSite::global_store, point(loc));
  warp_.stores_visible = std::max(warp_.stores_visible, memory.write(accepted) + late);
  if (!sm_.with_data) return;
  if (HazardChecker* h = hazards(); h && !predicates)
    h->global(thread(loc), addresses[first_active_lane()][0], true);
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!(active_ >> lane & 1) || (predicates && !(*predicates)[lane][0])) continue;
    uint8_t* target = global_bytes(addresses[lane][0], bytes, lane, what, loc);
    if (!target) return;
    std::memcpy(target, values + size_t(lane) * words, bytes);  // little-endian: b16 is the lower half
  }
}

uint32_t SimIsa::ld_acquire_gpu_global_u32(GlobalAddr address, Loc loc) {
  models::GlobalWords& words = cta_.gpu().words();
  charge(issue_.ld_shared);
  settle(loc);
  const models::Cycles asked = now(), latency = profile_.cycles_of_ns(profile_.memory.l2_hit_ns);
  const int lane = first_active_lane();
  if (!global_bytes(address, 4, lane, "ld.acquire.gpu", loc)) return 0;
  warp_.pass(latency);
  Warp::Polls& polls = warp_.polls;
  const auto look = [&] {  // whether the word has changed
    const uint32_t before = std::exchange(polls.value, words.load(address));
    polls.changes += polls.value != before;
    return polls.value != before;
  };
  if (polls.address != address || polls.loc.line() != loc.line())
    polls = {.address = address, .loc = loc, .value = words.load(address), .since = asked};
  else
    polls.alike = look() ? 0 : polls.alike + 1;
  // The first polls may be by code that wants any value; from the third on, the loop waits for another one.
  if (polls.alike >= 2) {
    while (words.load(address) == polls.value) {
      words.watch(address, warp_.waiter);
      warp_.suspend({.on = Blocked::On::global_word, .loc = loc, .address = address, .value = polls.value});
    }
    const models::Cycles period = latency + models::Cycles(issue_.ld_shared + issue_.alu);
    warp_.pass((period - (now() - asked) % period) % period);
    look();
  }
  if (HazardChecker* h = hazards())
    if (const auto* last = words.last_store(address)) h->acquire_word(thread(loc), last->by.op);
  return polls.value;
}

void SimIsa::st_release_gpu_global_u32(GlobalAddr address, uint32_t value, Loc loc) {
  charge(issue_.st_shared);
  settle(loc);
  if (!global_bytes(address, 4, first_active_lane(), "st.release.gpu", loc)) return;
  warp_.released = loc;
  // Release: after all that this thread knows of, which is what the CTA's warps have written up to the barrier before.
  models::Cycles visible =
      cta_.gpu().memory().write(now()) + jitter().delay(models::JitterSite::global_store, point(loc));
  for (const auto& warp : cta_.warps()) visible = std::max(visible, warp->stores_visible);
  warp_.stores_visible = std::max(warp_.stores_visible, visible);
  models::Source by = source(loc);
  if (HazardChecker* h = hazards()) by.op = h->release_word(thread(loc));
  cta_.gpu().words().store(address, value, visible, by);
}

}  // namespace sm100::sim
