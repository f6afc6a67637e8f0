// SPDX-License-Identifier: Apache-2.0
/// What an atom or red of PTX says of itself (PTX 9.7.13.3, .4).
#pragma once

#include <cstring>
#include <string>

#include "kernels/isa/reduction.h"
#include "sim/ptx/service_operands.h"

namespace sm100::sim {

struct AtomicForm {
  std::string missing;  ///< why it is not implemented; empty: it is
  ReduceOp op = ReduceOp::exch;
  ReduceType type = ReduceType::none;
  uint32_t bytes = 0;  ///< of an element
  bool cas = false, returns = false;
  ptx::Space space = ptx::Space::generic;

  /// atom.add.f32 flushes subnormals in global memory and keeps them in shared memory.
  ReduceType type_in(bool shared) const { return type == ReduceType::f32 && !shared ? ReduceType::f32_ftz : type; }
  uint64_t masked(uint64_t value) const { return bytes >= 8 ? value : value & ((uint64_t{1} << 8 * bytes) - 1); }
};

AtomicForm atomic_form(const ptx::Service& service);

/// A word that nobody else changes meanwhile.
struct PlainWord {
  template <class T, class F>
  static T modify(uint8_t* at, F&& f) {
    T old;
    std::memcpy(&old, at, sizeof old);
    const T value = f(old);
    std::memcpy(at, &value, sizeof value);
    return old;
  }
};

/// Two 64-bit registers.
struct Wide {
  uint64_t low = 0, high = 0;
  bool operator==(const Wide&) const = default;
};

/// Element `v` of one lane's access, at its bytes.
/// @param word  how a word is changed: word.modify<T>(at, f) makes it f(old) and returns old
template <class Word>
void atomic_element(const ServiceOperands& c, const AtomicForm& form, size_t v, int lane, uint8_t* at, bool shared,
                    const Word& word) {
  const size_t first = form.returns ? 1 : 0;
  const ptx::Operand& value = registers_of(c.operand(first + 1))[v];
  const auto wide = [&](const ptx::Operand& o) {
    return Wide{c.file().read<uint64_t>(o.row)[lane], c.file().read<uint64_t>(o.row.next_half())[lane]};
  };
  if (form.bytes == 16) {
    const Wide given = wide(value), swapped = form.cas ? wide(c.operand(first + 2)) : given;
    const Wide old = word.template modify<Wide>(
        at, [&](const Wide& held) { return !form.cas || held == given ? swapped : held; });
    const ptx::Operand& to = c.operand(0);
    if (to.kind == ptx::Operand::Kind::sink) return;
    c.file().write<uint64_t>(to.row)[lane] = old.low;
    c.file().write<uint64_t>(to.row.next_half())[lane] = old.high;
    return;
  }
  const uint64_t operand = form.masked(c.value(value, lane));
  const ReduceType type = form.type_in(shared);
  const auto changed = [&](uint64_t held) -> uint64_t {
    if (form.cas) return held == operand ? c.value(c.operand(first + 2), lane) : held;
    return form.op == ReduceOp::exch ? operand : reduce(form.op, type, held, operand);
  };
  const uint64_t old =
      form.bytes == 2   ? word.template modify<uint16_t>(at, [&](uint64_t h) { return uint16_t(changed(h)); })
      : form.bytes == 4 ? word.template modify<uint32_t>(at, [&](uint64_t h) { return uint32_t(changed(h)); })
                        : word.template modify<uint64_t>(at, changed);
  if (form.returns) c.set(registers_of(c.operand(0))[v], lane, old);
}

}  // namespace sm100::sim
