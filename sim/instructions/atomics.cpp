// SPDX-License-Identifier: Apache-2.0
// Atomics in global memory on the model: at L2, half an L2 hit after their issue, lane by lane at one cycle.
#include "kernels/isa/instructions/atomics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "models/global_words.h"
#include "sim/warp_context.h"

namespace sm100::instructions {

using models::Cycles;
using models::now;
using sim::HazardChecker;
using sim::WarpContext;

namespace {

/// Of a lane's registers: those of the type's size, of 16-bit types the lower half.
uint64_t register_of(const void* registers, int lane, ReduceType type) {
  uint64_t value = 0;
  const size_t size = register_bytes(type);
  std::memcpy(&value, static_cast<const uint8_t*>(registers) + size_t(lane) * size, size);
  return bytes_of(type) == 2 ? value & 0xffff : value;
}

/// PTX: atom.add.f32 of global memory flushes subnormals.
ReduceType at_l2(ReduceType type) { return type == ReduceType::f32 ? ReduceType::f32_ftz : type; }

/// Performs f(lane, old value) on every lane's word and puts what it held into `results`, if there are any.
/// @param waits  for the results
/// @param compares  before it stores
template <class F>
void perform(WarpContext& w, const AtomicOperands& atomic, const char* what, void* results, bool waits,
             bool compares, F&& f) {
  const uint32_t bytes = bytes_of(atomic.type);
  w.use_global_loads();
  w.charge(w.issue.ld_shared);  // assumed as long as a load
  w.settle();
  const Cycles latency = w.profile.cycles_of_ns(w.profile.memory.l2_hit_ns);
  if (releases(atomic.sem)) {  // after all that the CTA's warps have written up to here
    w.warp.pass(std::max(now(), w.released_by_cta()) - now());
  }
  w.warp.pass(latency / 2);
  models::GlobalWords& words = w.cta.gpu().words();
  HazardChecker* h = w.hazards();
  bool outside = false;
  w.for_each_thread([&](models::Source by) {
    if (outside) return;
    const GlobalAddr address = (*atomic.addresses)[by.lane][0];
    // A run without data has no bytes but those that protocols depend on.
    if (!w.sm.with_data && !w.cta.gpu().memory().data(address, bytes) &&
        !w.cta.gpu().memory().place(address).first.empty())
      return;
    if (!w.global_bytes(address, bytes, by.lane, what)) return void(outside = true);
    w.check_prerequisites(address, what);
    if (h) {
      const auto* last = words.last_store(address);
      const uint32_t before = last ? last->by.op : 0;
      if (acquires(atomic.sem)) h->acquire_word(w.thread(), before);
      h->atomic(w.thread(), address, compares, results != nullptr);
      // What follows the value's release in the order of its atomics belongs to it (PTX 8.8, release sequences).
      const bool relaxed = !releases(atomic.sem) && !acquires(atomic.sem);
      by.op = relaxed                ? h->relaxed_atomic(w.thread(), before)
              : releases(atomic.sem) ? h->release_word(w.thread(), before)
                                     : before;
    }
    const uint64_t old = words.modify(address, bytes, by, [&](uint64_t held) { return f(by.lane, held); });
    const size_t size = register_bytes(atomic.type);
    if (results) std::memcpy(static_cast<uint8_t*>(results) + size_t(by.lane) * size, &old, size);
  });
  if (waits)
    w.warp.pass(latency - latency / 2);
  else
    w.warp.stores_visible = std::max(w.warp.stores_visible, w.cta.gpu().memory().visible(now()));
}

bool exists(WarpContext& w, const AtomicOperands& atomic, const char* what) {
  if (atomic_global(atomic.op, atomic.type)) return true;
  w.violate("TM14",
            fmt::format("{}.global.{}.{}: PTX has no such operation", what, name(atomic.op), name(atomic.type)));
  return false;
}

uint64_t combined(const AtomicOperands& atomic, int lane, uint64_t old) {
  return reduce(atomic.op, at_l2(atomic.type), old, register_of(atomic.registers, lane, atomic.type));
}

}  // namespace

void AtomGlobal::execute(WarpContext& w) const {
  if (!exists(w, atomic, "atom")) return;
  perform(w, atomic, "atom.global", results, true, false,
          [&](int lane, uint64_t old) { return combined(atomic, lane, old); });
}

void RedGlobal::execute(WarpContext& w) const {
  if (!exists(w, atomic, "red")) return;
  perform(w, atomic, "red.global", nullptr, false, false,
          [&](int lane, uint64_t old) { return combined(atomic, lane, old); });
}

void AtomCasGlobal::execute(WarpContext& w) const {
  perform(w, atomic, "atom.global.cas", results, true, true, [&](int lane, uint64_t old) {
    return old == register_of(compare, lane, atomic.type) ? register_of(atomic.registers, lane, atomic.type) : old;
  });
}

}  // namespace sm100::instructions
