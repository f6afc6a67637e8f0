// SPDX-License-Identifier: Apache-2.0
// atom and red without models: on the host's own atomics, since CTAs run on several threads.
#include <atomic>
#include <cstring>
#include <mutex>

#include "sim/ptx/atomic_forms.h"
#include "sim/ptx/functional_warp.h"

namespace sm100::sim {

using ptx::Instr;
using ptx::LaneMask;
using ptx::Operand;
using ptx::Space;

namespace {

/// f(old) -> new on the word; what it held.
template <class T, class F>
uint64_t modify(uint8_t* at, F&& f) {
  std::atomic_ref<T> word(*reinterpret_cast<T*>(at));
  T old = word.load();
  while (!word.compare_exchange_weak(old, T(f(uint64_t{old})))) {}
  return old;
}
template <class F>
uint64_t modify(uint8_t* at, uint32_t bytes, F&& f) {
  if (bytes == 2) return modify<uint16_t>(at, f);
  if (bytes == 4) return modify<uint32_t>(at, f);
  return modify<uint64_t>(at, f);
}

struct Wide {
  uint64_t low, high;
  bool operator==(const Wide&) const = default;
};
Wide wide_of(const ServiceOperands& c, const Operand& o, int lane) {
  return {c.file().read<uint64_t>(o.row)[lane], c.file().read<uint64_t>(o.row.next_half())[lane]};
}

/// atom.exch.b128 and atom.cas.b128; the host has no such atomic, so all take turns.
bool atomic_of_16_bytes(FunctionalWarp& w, const ServiceOperands& c, const AtomicForm& form) {
  static std::mutex one_at_a_time;
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    uint8_t* at = w.bytes_at(form.space, c.address(c.operand(1), lane), 16, lane, true);
    if (!at) return false;
    const Wide first = wide_of(c, c.operand(2), lane);
    Wide old;
    {
      const std::lock_guard lock(one_at_a_time);
      std::memcpy(&old, at, 16);
      const Wide value = form.cas ? wide_of(c, c.operand(3), lane) : first;
      if (!form.cas || old == first) std::memcpy(at, &value, 16);
    }
    const Operand& to = c.operand(0);
    if (to.kind == Operand::Kind::sink) continue;
    c.file().write<uint64_t>(to.row)[lane] = old.low;
    c.file().write<uint64_t>(to.row.next_half())[lane] = old.high;
  }
  return true;
}

bool atomic(FunctionalWarp& w, const ServiceOperands& c, const Instr& i) {
  const AtomicForm form = atomic_form(c.service);
  if (!form.missing.empty())
    return w.not_implemented(std::string(w.code.code.program().text(i)) + ", " + form.missing);
  w.tried_lock |= form.cas || form.op == ReduceOp::exch;
  if (form.bytes == 16) return atomic_of_16_bytes(w, c, form);
  const size_t at = form.returns ? 1 : 0;
  const std::span<const Operand> values = registers_of(c.operand(at + 1));
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t address = c.address(c.operand(at), lane);
    uint8_t* bytes = w.bytes_at(form.space, address, form.bytes * uint32_t(values.size()), lane, true);
    if (!bytes) return false;
    const bool shared = form.space == Space::shared || w.file.windows.shared.has(address);
    for (size_t v = 0; v < values.size(); ++v, bytes += form.bytes) {
      const uint64_t operand = form.masked(c.value(values[v], lane));
      uint64_t old;
      if (form.cas) {
        const uint64_t swapped = c.value(c.operand(at + 2), lane);
        old = modify(bytes, form.bytes, [&](uint64_t held) { return held == operand ? swapped : held; });
      } else {
        const ReduceType type = form.type_in(shared);
        old = modify(bytes, form.bytes, [&](uint64_t held) { return reduce(form.op, type, held, operand); });
      }
      if (form.returns) c.set(registers_of(c.operand(0))[v], lane, old);
    }
  }
  return true;
}

}  // namespace

std::vector<FunctionalService> functional_atomics() { return {{"atom", atomic}, {"red", atomic}}; }

}  // namespace sm100::sim
