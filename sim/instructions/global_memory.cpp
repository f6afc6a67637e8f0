// SPDX-License-Identifier: Apache-2.0
// Loads and stores of warps in global memory on the model: addresses checked, bytes moved, traffic charged.
#include "kernels/isa/instructions/global_memory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "models/provenance.h"
#include "sim/instructions/lane_stores.h"
#include "sim/warp_context.h"

namespace sm100::instructions {

using models::Cycles;
using models::now;
using sim::HazardChecker;
using sim::Warp;
using sim::WarpContext;

namespace {

uint32_t words_of(uint32_t bytes) { return (bytes + 3) / 4; }

const char* name_of(bool store, uint32_t bytes) {
  switch (bytes) {
    case 1: return "st.global.b8";
    case 2: return store ? "st.global.b16" : "ld.global.b16";
    case 4: return store ? "st.global.b32" : "ld.global.b32";
    case 8: return store ? "st.global.v2.b32" : "ld.global.v2.b32";
    case 16: return store ? "st.global.v4.b32" : "ld.global.v4.b32";
    default: return "st.global.v8.b32";
  }
}

}  // namespace

/// Approximated: an L2 hit; what uses the registers first is taken to be the next store.  Time counts all active
/// lanes, whatever their predicates say.
void LdGlobal::execute(WarpContext& w) const {
  const uint32_t words = words_of(bytes);
  const char* const what = name_of(false, bytes);
  w.charge(w.issue.ld_shared);  // assumed as long as a load from shared memory
  w.global_loads_done = w.issue_cycle() + w.profile.cycles_of_ns(w.profile.memory.l2_hit_ns);
  std::memset(registers, 0, sizeof(uint32_t) * words * kWarpLanes);
  if (!w.sm.with_data) return;
  if (HazardChecker* h = w.hazards(); h && !predicates)
    h->global(w.thread(), (*addresses)[w.first_active_lane()][0] + uint64_t(int64_t(offset)), false);
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!w.is_active(lane) || (predicates && !(*predicates)[lane][0])) continue;
    const GlobalAddr address = (*addresses)[lane][0] + uint64_t(int64_t(offset));
    const uint8_t* from = w.global_bytes(address, bytes, lane, what);
    if (!from) return;
    w.check_prerequisites(address, what);
    std::memcpy(registers + size_t(lane) * words, from, bytes);
    if (models::Provenance* p = w.sm.provenance)
      p->global_read(w.own.slot, lane, address.value, bytes, from, w.source());
  }
}

namespace {

/// Of tables that a kernel's walk depends on: their tensors have bytes in runs without data too.
template <int N>
UniformWords<N> load_uniform(WarpContext& w, GlobalAddr address, const char* what) {
  UniformWords<N> words{};
  w.charge(w.issue.ld_shared);
  w.settle();
  const uint8_t* from = w.global_bytes(address, sizeof words.w, w.first_active_lane(), what);
  if (!from) return words;
  w.check_prerequisites(address, what);
  std::memcpy(words.w, from, sizeof words.w);
  const uint64_t line = address.value / uint64_t(w.profile.memory.line_bytes);
  w.warp.pass(line == w.read_only_line ? Cycles(w.profile.smem.ld_latency_cycles)
                                       : w.profile.cycles_of_ns(w.profile.memory.l2_hit_ns));
  w.read_only_line = line;
  return words;
}

}  // namespace

UniformWords<4> LdGlobalNcV4::execute(WarpContext& w) const {
  return load_uniform<4>(w, address, "ld.global.nc.v4.b32");
}
UniformWords<2> LdGlobalNcB64::execute(WarpContext& w) const {
  return load_uniform<2>(w, address, "ld.global.nc.b64");
}

void StGlobal::execute(WarpContext& w) const {
  LaneStores stores{*addresses, w.lanes(), bytes, offset};
  if (predicates && !predicate)
    for (int lane = 0; lane < kWarpLanes; ++lane)
      if (!(*predicates)[lane][0]) stores.lanes &= ~(1u << lane);
  w.use_global_loads();  // what it stores may follow from them
  w.uses_registers(registers);
  store_to_global(w, stores);
  if (!w.sm.with_data) return;
  if (HazardChecker* h = w.hazards())
    h->global_stores(w.thread(), stores, predicates && !predicate, [&](int lane) {
      const uint8_t* there = w.cta.gpu().memory().data((*addresses)[lane][0] + uint64_t(int64_t{offset}), bytes);
      return there && std::memcmp(there, registers + size_t(lane) * words_of(bytes), bytes) == 0;
    });
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!(stores.lanes >> lane & 1)) continue;
    uint8_t* target =
        w.global_bytes((*addresses)[lane][0] + uint64_t(int64_t{offset}), bytes, lane, name_of(true, bytes));
    if (!target) return;
    std::memcpy(target, registers + size_t(lane) * words_of(bytes), bytes);  // little-endian: b16 is the lower half
    if (models::Provenance* p = w.sm.provenance)
      p->global_written(w.own.slot, (*addresses)[lane][0].value + uint64_t(int64_t{offset}), bytes, w.source());
  }
}

uint32_t LdGlobalU32::execute(WarpContext& w) const {
  w.charge(w.issue.ld_shared);
  w.settle();
  if (!w.global_bytes(address, 4, w.first_active_lane(), "ld.global.u32")) return 0;
  Warp::WordLoads& together = w.warp.word_loads;
  const Cycles latency = w.profile.cycles_of_ns(w.profile.memory.l2_hit_ns),
               issue = Cycles(std::ceil(w.issue.ld_shared));
  const bool follows = now() - together.done <= issue && w.loc().line() > together.line;
  if (!follows) w.warp.pass(latency);
  together = {.done = now(), .line = w.loc().line()};
  if (HazardChecker* h = w.hazards()) h->global(w.thread(), address, false);
  w.check_prerequisites(address, "ld.global.u32");
  w.cta.gpu().words().finish_own(address, w.source());
  return w.cta.gpu().words().load(address);
}

uint32_t LdAcquireGpuGlobalU32::execute(WarpContext& w) const {
  models::GlobalWords& words = w.cta.gpu().words();
  w.charge(w.issue.ld_shared);
  w.settle();
  const Cycles asked = now(), latency = w.profile.cycles_of_ns(w.profile.memory.l2_hit_ns);
  if (!w.global_bytes(address, 4, w.first_active_lane(), "ld.acquire.gpu")) return 0;
  words.finish_own(address, w.source());
  w.warp.pass(latency);
  Warp::Polls& polls = w.warp.polls;
  const auto look = [&] {  // whether the word has changed
    const uint32_t before = std::exchange(polls.value, words.load(address));
    polls.changes += polls.value != before;
    return polls.value != before;
  };
  if (polls.address != address || polls.loc.line() != w.loc().line())
    polls = {.address = address, .loc = w.loc(), .value = words.load(address), .since = asked};
  else
    polls.alike = look() ? 0 : polls.alike + 1;
  // The first polls may be by code that wants any value; from the third on, the loop waits for another one.
  if (this->polls && polls.alike >= 2) {
    while (words.load(address) == polls.value) {
      words.watch(address, w.warp.waiter);
      w.warp.suspend(
          {.on = sim::Blocked::On::global_word, .loc = w.loc(), .address = address, .value = polls.value});
    }
    const Cycles period = latency + Cycles(w.issue.ld_shared + w.issue.alu);
    w.warp.pass((period - (now() - asked) % period) % period);
    look();
  }
  if (HazardChecker* h = w.hazards()) {
    const auto* last = words.last_store(address);
    if (last && !relaxed) h->acquire_word(w.thread(), last->by.op);
    if (last && relaxed) h->relaxed_load(w.thread(), last->by.op);
    if (relaxed) h->global(w.thread(), address, false, /*strong=*/true);
  }
  return polls.value;
}

void StReleaseGpuGlobalU32::execute(WarpContext& w) const {
  w.charge(w.issue.st_shared);
  w.settle();
  if (!w.global_bytes(address, 4, w.first_active_lane(), "st.release.gpu")) return;
  w.warp.released = w.loc();
  // Release: after all that this thread knows of, which is what the CTA's warps have written up to the barrier
  // before.
  Cycles visible =
      w.cta.gpu().memory().visible(now()) + w.jitter().delay(models::JitterSite::global_store, w.point());
  visible = std::max(visible, w.released_by_cta());
  w.warp.stores_visible = std::max(w.warp.stores_visible, visible);
  models::Source by = w.source();
  if (HazardChecker* h = w.hazards()) {
    by.op = relaxed ? h->relaxed_atomic(w.thread(), 0) : h->release_word(w.thread());
    if (relaxed) h->global(w.thread(), address, true, /*strong=*/true);
  }
  if (relaxed)
    w.cta.gpu().words().store_now(address, value, visible, by);
  else
    w.cta.gpu().words().store(address, value, visible, by);
}

}  // namespace sm100::instructions
