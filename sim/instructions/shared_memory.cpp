// SPDX-License-Identifier: Apache-2.0
// Loads and stores of warps in shared memory on the model: addresses checked, the SM's data port shared, bytes
// moved.
#include "kernels/isa/instructions/shared_memory.h"

#include <cstring>

#include "models/provenance.h"
#include "sim/warp_context.h"

namespace sm100::instructions {

using models::Cycles;
using models::now;
using sim::WarpContext;

uint32_t LdSharedU32::execute(WarpContext& w) const {
  w.charge(w.issue.ld_shared);
  w.settle();
  if (!w.in_shared(address, 4, 4, "ld.shared.u32")) return 0;
  w.touch(address, 4, false);
  w.loaded_from_shared(address, w.own.smem.data(address.offset()), 4);
  return w.own.smem.load<uint32_t>(address.offset());
}

ClcResponse LdSharedB128::execute(WarpContext& w) const {
  w.charge(w.issue.ld_shared);
  w.settle();
  if (!w.in_shared(address, 16, 16, "ld.shared.b128")) return {};
  w.touch(address, 16, false);
  return w.own.smem.load<ClcResponse>(address.offset());
}

namespace {

const char* name_of_store(uint32_t bytes) {
  switch (bytes) {
    case 2: return "st.shared.b16";
    case 4: return "st.shared.b32";
    case 8: return "st.shared.v2";
    default: return "st.shared.v4";
  }
}

}  // namespace

namespace {

/// Bytes of each lane's address to its registers.
void load_lanes(WarpContext& w, const LaneArray<SmemAddr, 1>& addresses, uint32_t bytes, uint32_t* registers,
                const char* what) {
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!w.is_active(lane)) continue;
    const SmemAddr address = addresses[lane][0];
    if (!w.in_shared(address, bytes, bytes, what)) return;
    std::memcpy(registers + uint32_t(lane) * (bytes / 4), w.own.smem.data(address.offset()), bytes);
    w.loaded_from_shared(address, w.own.smem.data(address.offset()), bytes);
    if (models::Provenance* p = w.sm.provenance)
      p->shared_read(w.own.slot, lane, address.offset(), bytes, registers + uint32_t(lane) * (bytes / 4),
                     w.source());
  }
  w.touch(addresses, kWarpLanes, bytes, false);
}

}  // namespace

void LdSharedV4::execute(WarpContext& w) const {
  constexpr uint32_t kBytes = 16;
  w.shared_loads.push_back(w.access_shared(kBytes, w.issue.ld_shared) + Cycles(w.profile.smem.ld_latency_cycles));
  if (w.sm.with_data) load_lanes(w, *addresses, kBytes, registers, "ld.shared.v4");
}

namespace {

/// What uses the registers first is taken to be a store to tensor memory; else only tensor loads, which take as
/// long, and waits lie between in the kernels that read words.
template <class Word>
void load_words(WarpContext& w, const LaneArray<SmemAddr, 1>& addresses, int offset, uint32_t* registers,
                const char* what) {
  w.shared_words_done = w.access_shared(sizeof(Word), w.issue.ld_shared) + Cycles(w.profile.smem.ld_latency_cycles);
  if (!w.sm.with_data) return;
  LaneArray<SmemAddr, 1> at;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!w.is_active(lane)) continue;
    at(lane) = addresses[lane][0] + uint32_t(offset);
    if (!w.in_shared(at(lane), sizeof(Word), sizeof(Word), what)) return;
    registers[lane] = w.own.smem.load<Word>(at(lane).offset());
    w.loaded_from_shared(at(lane), &registers[lane], sizeof(Word));
    if (models::Provenance* p = w.sm.provenance)
      p->shared_read(w.own.slot, lane, at(lane).offset(), sizeof(Word), &registers[lane], w.source());
  }
  w.touch(at, kWarpLanes, sizeof(Word), false);
}

}  // namespace

void LdSharedB32::execute(WarpContext& w) const {
  load_words<uint32_t>(w, *addresses, offset, registers, "ld.shared.b32");
}

void LdSharedB16::execute(WarpContext& w) const {
  load_words<uint16_t>(w, *addresses, offset, registers, "ld.shared.b16");
}

void StShared::execute(WarpContext& w) const {
  w.uses_registers(registers);
  // The registers may still be on their way from shared memory; they are stored in the order of their loads.
  if (bytes == 16 && !w.shared_loads.empty()) {
    w.hold_issue(w.shared_loads.front());
    w.shared_loads.pop_front();
  }
  w.use_global_loads();  // what it stores may follow from them
  w.access_shared(bytes, w.issue.st_shared);
  if (!w.sm.with_data) return;
  const uint32_t words = (bytes + 3) / 4;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!w.is_active(lane)) continue;
    const SmemAddr address = (*addresses)[lane][0];
    if (!w.in_shared(address, bytes, bytes, name_of_store(bytes))) return;
    std::memcpy(w.own.smem.data(address.offset()), registers + uint32_t(lane) * words, bytes);
    if (models::Provenance* p = w.sm.provenance)
      p->shared_written(w.own.slot, lane, address.offset(), bytes, registers + uint32_t(lane) * words, w.source());
  }
  w.touch(*addresses, kWarpLanes, bytes, true);
}

void StSharedB128::execute(WarpContext& w) const {
  constexpr uint32_t kBytes = 16;
  w.use_global_loads();  // what it stores may follow from them
  w.access_shared(kBytes, w.issue.st_shared);
  if (!w.in_shared(address, kBytes, kBytes, name_of_store(kBytes))) return;
  w.own.smem.store(address.offset(), value);
  if (models::Provenance* p = w.sm.provenance)
    p->shared_written(w.own.slot, 0, address.offset(), kBytes, nullptr, w.source());
  w.touch(address, kBytes, true);
}

void StSharedUniform::execute(WarpContext& w) const {
  w.use_global_loads();  // what it stores may follow from them
  w.access_shared(sizeof words.w / kWarpLanes, w.issue.st_shared);
  if (!w.in_shared(address, sizeof words.w, sizeof words.w, "st.shared.v4")) return;
  std::memcpy(w.own.smem.data(address.offset()), words.w, sizeof words.w);
  if (models::Provenance* p = w.sm.provenance)
    p->shared_written(w.own.slot, 0, address.offset(), sizeof words.w, nullptr, w.source());
  w.touch(address, sizeof words.w, true);
}

void Stmatrix::execute(WarpContext& w) const {
  w.uses_registers(registers);
  w.use_global_loads();  // what it stores may follow from them
  w.access_shared(4 * uint32_t(matrices), w.issue.stmatrix);
  if (!w.sm.with_data) return;
  for (int q = 0; q < matrices; ++q)
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      const uint32_t pair = registers[lane * matrices + q];
      for (int i = 0; i < 2; ++i) {
        const int r = transposed ? 2 * (lane % 4) + i : lane / 4, c = transposed ? lane / 4 : 2 * (lane % 4) + i;
        const SmemAddr row = (*rows)[8 * q + r][0];
        if (!w.in_shared(row, 16, 16, "stmatrix")) return;
        w.own.smem.store(row.offset() + 2u * uint32_t(c), uint16_t(pair >> (16 * i)));
      }
    }
  if (models::Provenance* p = w.sm.provenance)
    for (int row = 0; row < 8 * matrices; ++row)
      p->shared_written(w.own.slot, row, (*rows)[row][0].offset(), 16, nullptr, w.source());
  w.touch(*rows, 8 * matrices, 16, true);
}

}  // namespace sm100::instructions
