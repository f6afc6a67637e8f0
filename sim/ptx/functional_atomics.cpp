// SPDX-License-Identifier: Apache-2.0
// atom and red without models: on the host's own atomics, since CTAs run on several threads.
#include <atomic>
#include <mutex>

#include "sim/ptx/atomic_forms.h"
#include "sim/ptx/functional_warp.h"

namespace sm100::sim {

using ptx::Instr;
using ptx::LaneMask;
using ptx::Operand;
using ptx::Space;

namespace {

/// On the host's own atomics; of 16 bytes it has none, so all of those take turns.
struct HostAtomic {
  template <class T, class F>
  static T modify(uint8_t* at, F&& f) {
    if constexpr (sizeof(T) == 16) {
      static std::mutex one_at_a_time;
      const std::lock_guard lock(one_at_a_time);
      return PlainWord::modify<T>(at, f);
    } else {
      std::atomic_ref<T> word(*reinterpret_cast<T*>(at));
      T old = word.load();
      while (!word.compare_exchange_weak(old, f(old))) {}
      return old;
    }
  }
};

bool functional_atomic(FunctionalWarp& w, const ServiceOperands& c, const Instr& i) {
  const AtomicForm form = atomic_form(c.service);
  if (!form.missing.empty())
    return w.not_implemented(std::string(w.code.code.program().text(i)) + ", " + form.missing);
  w.tried_lock |= form.cas || form.op == ReduceOp::exch;
  const Operand& address = c.operand(form.returns ? 1 : 0);
  const size_t elements = registers_of(c.operand(form.returns ? 2 : 1)).size();
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t to = c.address(address, lane);
    uint8_t* at = w.bytes_at(form.space, to, form.bytes * uint32_t(elements), lane, true);
    if (!at) return false;
    w.record(at, form.bytes * elements, true, true, true);
    const bool shared = form.space == Space::shared || w.file.windows.shared.has(to);
    for (size_t v = 0; v < elements; ++v)
      atomic_element(c, form, v, lane, at + v * form.bytes, shared, HostAtomic{});
  }
  return true;
}

}  // namespace

std::vector<FunctionalService> functional_atomics() {
  return {{"atom", functional_atomic}, {"red", functional_atomic}};
}

}  // namespace sm100::sim
