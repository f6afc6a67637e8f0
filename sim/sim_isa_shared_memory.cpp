// SPDX-License-Identifier: Apache-2.0
// SimIsa's loads and stores of warps in shared memory: addresses checked, the SM's data port shared, bytes moved.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/sim_isa.h"

namespace sm100::sim {

using models::now;

uint32_t SimIsa::ld_shared_u32(SmemAddr address, Loc loc) {
  charge(issue_.ld_shared);
  settle(loc);
  if (!in_shared(address, 4, 4, "ld.shared.u32", loc)) return 0;
  touch(address, 4, false, loc);
  return own_.smem.load<uint32_t>(address.offset());
}

ClcResponse SimIsa::ld_shared_b128(SmemAddr address, Loc loc) {
  charge(issue_.ld_shared);
  settle(loc);
  if (!in_shared(address, 16, 16, "ld.shared.b128", loc)) return {};
  touch(address, 16, false, loc);
  return own_.smem.load<ClcResponse>(address.offset());
}

models::Cycles SimIsa::access_shared(uint32_t bytes_per_lane, double issue, Loc loc) {
  use_global_loads();
  charge(issue);
  settle(loc);
  const auto wavefronts = double(bytes_per_lane) * active_lanes() / double(profile_.smem.bytes_per_cycle);
  const models::Cycles through = sm_.shared_memory.pass(now(), models::Cycles(std::ceil(wavefronts)));
  warp_.ahead += double(through - now());
  return through;
}

LaneArray<uint32_t, 4> SimIsa::ld_shared_v4(const LaneArray<SmemAddr, 1>& addresses, Loc loc) {
  shared_loads_.push_back(access_shared(16, issue_.ld_shared, loc) +
                          models::Cycles(profile_.smem.ld_latency_cycles));
  LaneArray<uint32_t, 4> values;
  if (!sm_.with_data) return values;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!(active_ >> lane & 1)) continue;
    if (!in_shared(addresses[lane][0], 16, 16, "ld.shared.v4", loc)) return values;
    std::memcpy(values[lane], own_.smem.data(addresses[lane][0].offset()), 16);
  }
  touch(addresses, kWarpLanes, 16, false, loc);
  return values;
}

void SimIsa::st_shared_v4(const LaneArray<SmemAddr, 1>& addresses, const LaneArray<uint32_t, 4>& values, Loc loc) {
  uses_registers(&values[0][0], loc);
  // The registers may still be on their way from shared memory; they are stored in the order of their loads.
  if (!shared_loads_.empty()) {
    if (shared_loads_.front() > issue_cycle()) warp_.ahead = double(shared_loads_.front() - now());
    shared_loads_.pop_front();
  }
  access_shared(16, issue_.st_shared, loc);
  store_lanes(addresses, &values[0][0], 4, 16, "st.shared.v4", loc);
}

void SimIsa::st_shared_v2(const LaneArray<SmemAddr, 1>& addresses, const LaneArray<uint32_t, 2>& values, Loc loc) {
  uses_registers(&values[0][0], loc);
  access_shared(8, issue_.st_shared, loc);
  store_lanes(addresses, &values[0][0], 2, 8, "st.shared.v2", loc);
}

void SimIsa::st_shared_b16(const LaneArray<SmemAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values, Loc loc) {
  uses_registers(&values[0][0], loc);
  access_shared(2, issue_.st_shared, loc);
  store_lanes(addresses, &values[0][0], 1, 2, "st.shared.b16", loc);
}

void SimIsa::st_shared_b32(const LaneArray<SmemAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values, Loc loc) {
  uses_registers(&values[0][0], loc);
  access_shared(4, issue_.st_shared, loc);
  store_lanes(addresses, &values[0][0], 1, 4, "st.shared.b32", loc);
}

void SimIsa::store_lanes(const LaneArray<SmemAddr, 1>& addresses, const uint32_t* values, uint32_t words,
                         uint32_t bytes, const char* what, Loc loc) {
  if (!sm_.with_data) return;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!(active_ >> lane & 1)) continue;
    if (!in_shared(addresses[lane][0], bytes, bytes, what, loc)) return;
    std::memcpy(own_.smem.data(addresses[lane][0].offset()), values + uint32_t(lane) * words, bytes);
  }
  touch(addresses, kWarpLanes, bytes, true, loc);
}

void SimIsa::stmatrix_x2(const LaneArray<SmemAddr, 1>& rows, const LaneArray<uint32_t, 2>& values, Loc loc) {
  stmatrix(rows, &values[0][0], 2, false, loc);
}

void SimIsa::stmatrix_x4(const LaneArray<SmemAddr, 1>& rows, const LaneArray<uint32_t, 4>& values, Loc loc) {
  stmatrix(rows, &values[0][0], 4, false, loc);
}

/// stmatrix.m8n8: lane 8q + r addresses row r of matrix q; register q of lane t holds row t/4, elements
/// 2(t%4) and 2(t%4)+1, with .trans column t/4 instead of the row (PTX 9.7.14.5.16).
void SimIsa::stmatrix(const LaneArray<SmemAddr, 1>& rows, const uint32_t* values, int matrices, bool transposed,
                      Loc loc) {
  uses_registers(values, loc);
  access_shared(4 * uint32_t(matrices), issue_.stmatrix, loc);
  if (!converged("stmatrix", loc) || !sm_.with_data) return;
  for (int q = 0; q < matrices; ++q)
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      const uint32_t pair = values[lane * matrices + q];
      for (int i = 0; i < 2; ++i) {
        const int r = transposed ? 2 * (lane % 4) + i : lane / 4, c = transposed ? lane / 4 : 2 * (lane % 4) + i;
        const SmemAddr row = rows[8 * q + r][0];
        if (!in_shared(row, 16, 16, "stmatrix", loc)) return;
        own_.smem.store(row.offset() + 2u * uint32_t(c), uint16_t(pair >> (16 * i)));
      }
    }
  touch(rows, 8 * matrices, 16, true, loc);
}

Footprints::Id SimIsa::footprint(HazardChecker& checker, const LaneArray<SmemAddr, 1>& addresses, int lanes,
                                 uint32_t bytes) const {
  uint64_t key = 0xcbf29ce484222325u ^ bytes;
  for (int lane = 0; lane < lanes; ++lane)
    if (active_ >> lane & 1) key = (key ^ addresses[lane][0].offset()) * 0x100000001b3u, key ^= key >> 29;
  return checker.smem_sets().intern(key | uint64_t{1} << 62, [&] {
    std::vector<Footprints::Interval> all;
    for (int lane = 0; lane < lanes; ++lane)
      if (active_ >> lane & 1) {
        const uint32_t at = addresses[lane][0].offset();
        all.push_back({at, at + bytes});
      }
    return all;
  });
}

void SimIsa::touch(const LaneArray<SmemAddr, 1>& addresses, int lanes, uint32_t bytes, bool write, Loc loc) {
  if (HazardChecker* h = hazards()) h->generic(thread(loc), footprint(*h, addresses, lanes, bytes), write);
}

}  // namespace sm100::sim
