// SPDX-License-Identifier: Apache-2.0
// Atomics on the models (PTX 9.7.13.3, .4).
#include <array>

#include "sim/ptx/atomic_forms.h"
#include "sim/ptx/lane_memory.h"
#include "sim/ptx/services.h"

namespace sm100::sim {

using namespace instructions;
using ptx::LaneMask;
using ptx::Operand;

namespace {

MemorySem sem_of(const ServiceCall& c) {
  if (c.has(".acq_rel")) return MemorySem::acq_rel;
  if (c.has(".acquire")) return MemorySem::acquire;
  return c.has(".release") ? MemorySem::release : MemorySem::relaxed;
}

/// Registers of the lanes as the instruction takes them.
struct Lanes {
  alignas(8) uint32_t words[ptx::kLanes];
  uint64_t wide[ptx::kLanes];
  bool is_wide;
  Lanes(const ServiceCall& c, const Operand* o, bool is_wide) : words{}, wide{}, is_wide(is_wide) {
    for (LaneMask left = o ? c.lanes : 0; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      words[lane] = uint32_t(c.value(*o, lane)), wide[lane] = c.value(*o, lane);
    }
  }
  void* data() { return is_wide ? static_cast<void*>(wide) : words; }
  uint64_t of(int lane) const { return is_wide ? wide[lane] : words[lane]; }
};

/// One element of the lanes, at their addresses + `offset`, in global memory as the seam has it.
void atomic_global(ServiceCall& c, const AtomicForm& form, size_t element, const LaneArray<GlobalAddr, 1>& at) {
  const size_t first = form.returns ? 1 : 0;
  const Operand& value = registers_of(c.operand(first + 1))[element];
  LaneArray<GlobalAddr, 1> addresses{};
  for (int lane = 0; lane < ptx::kLanes; ++lane) addresses(lane) = at[lane][0] + element * form.bytes;
  const bool wide = form.bytes == 8;
  Lanes values(c, &value, wide), results(c, nullptr, wide);
  if (form.cas) {
    Lanes swapped(c, &c.operand(first + 2), wide);
    c.execute(AtomCasGlobal{{ReduceOp::exch, form.type, sem_of(c), memory_scope(c), &addresses, swapped.data()},
                            values.data(),
                            results.data()});
  } else {
    const AtomicOperands operands{form.op, form.type, sem_of(c), memory_scope(c), &addresses, values.data()};
    if (form.returns)
      c.execute(AtomGlobal{operands, results.data()});
    else
      c.execute(RedGlobal{operands});
  }
  if (!form.returns) return;
  for (LaneMask left = c.lanes; left != 0; left &= left - 1)
    c.set(registers_of(c.operand(0))[element], std::countr_zero(left), results.of(std::countr_zero(left)));
}

/// All elements of some lanes' accesses, on their bytes: in shared memory, and types that AtomGlobal has not.
void atomic_bytes(ServiceCall& c, const AtomicForm& form, LaneMask by, bool shared, bool cluster) {
  const Operand& address = c.operand(form.returns ? 1 : 0);
  const size_t elements = registers_of(c.operand(form.returns ? 2 : 1)).size();
  LaneArray<ClusterSmemAddr, 1> in_shared{};
  LaneArray<GlobalAddr, 1> in_global{};
  for (LaneMask left = by; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    in_shared(lane) = {c.shared(address, lane)}, in_global(lane) = {c.address(address, lane)};
  }
  const std::function<void(int, uint8_t*)> modify = [&](int lane, uint8_t* at) {
    for (size_t v = 0; v < elements; ++v)
      atomic_element(c, form, v, lane, at + v * form.bytes, shared, PlainWord{});
  };
  models::Cycles arrives = 0;
  const MemorySem sem = sem_of(c);
  c.execute(AtomLanes{form.bytes * uint32_t(elements),
                      shared ? &in_shared : nullptr,
                      cluster,
                      &in_global,
                      &modify,
                      &arrives,
                      {.strong = true, .acquires = acquires(sem), .releases = releases(sem)}},
            by);
  if (!form.returns) return;
  for (const Operand& to : registers_of(c.operand(0)))
    if (to.kind == Operand::Kind::reg) c.warp.arrives(to.row, to.width, arrives);
}

/// The word that all lanes of a loop of atomics try; nullopt: it is no such loop, they try several, or other lanes
/// of the warp may go on.
std::optional<GlobalAddr> tried_word(ServiceCall& c, const LaneArray<GlobalAddr, 1>& at) {
  if (!c.warp.code.atomic_poll(c.at) || !c.warp.alone()) return std::nullopt;
  const GlobalAddr address = at[c.first()][0];
  for (LaneMask left = c.lanes; left != 0; left &= left - 1)
    if (at[std::countr_zero(left)][0] != address) return std::nullopt;
  return address;
}

uint64_t held_at(ServiceCall& c, GlobalAddr address, uint32_t bytes) {
  uint64_t held = 0;
  if (const uint8_t* from = c.context().cta.gpu().memory().data(address, bytes)) std::memcpy(&held, from, bytes);
  return held;
}

/// A loop that tries a word in global memory with an atomic: from the third try on that has changed nothing, the
/// warp sleeps until somebody has written the word, as it does in loops of loads.
void await_change(ServiceCall& c, const AtomicForm& form, GlobalAddr address) {
  WarpContext& w = c.context();
  models::GlobalWords& words = w.cta.gpu().words();
  const PtxWarp::AtomicPolls& polls = c.warp.atomic_polls;
  if (polls.at != c.at || polls.address != address || polls.alike < 2) return;
  w.settle();
  words.finish_own(address, w.source());
  while (held_at(c, address, form.bytes) == polls.value) {
    words.watch(address, w.warp.waiter);
    w.warp.suspend(
        {.on = Blocked::On::global_word, .loc = c.loc, .address = address, .value = uint32_t(polls.value)});
  }
}

void note_try(ServiceCall& c, const AtomicForm& form, GlobalAddr address) {
  PtxWarp::AtomicPolls& polls = c.warp.atomic_polls;
  const Operand& result = c.operand(0);
  const uint64_t held = held_at(c, address, form.bytes);
  const uint64_t mask = form.bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * form.bytes) - 1;
  bool unchanged = result.kind == Operand::Kind::reg;
  for (LaneMask left = c.lanes; unchanged && left != 0; left &= left - 1)
    unchanged = (c.value(result, std::countr_zero(left)) & mask) == held;
  const bool again = polls.at == c.at && polls.address == address && polls.value == held;
  polls = {.at = c.at, .address = address, .value = held, .alike = unchanged ? (again ? polls.alike + 1 : 1) : 0};
}

PtxOutcome atomic(ServiceCall& c) {
  const AtomicForm form = atomic_form(c.service);
  if (!form.missing.empty()) return c.warp.not_implemented(form.missing);
  const Operand& address = c.operand(form.returns ? 1 : 0);
  c.warp.tried_lock |= form.cas || form.op == ReduceOp::exch || c.warp.code.atomic_poll(c.at);
  LaneMask shared = form.space == ptx::Space::shared ? c.lanes : 0;
  LaneArray<GlobalAddr, 1> addresses{};
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    addresses(lane) = {c.address(address, lane)};
    if (form.space == ptx::Space::generic && c.file().windows.shared.has(addresses(lane).value))
      shared |= left & -left;
  }
  if (shared != 0)
    atomic_bytes(c, form, shared, true, form.space == ptx::Space::generic || c.has(".shared::cluster"));
  if (shared == c.lanes || c.warp.over()) return kDone;
  if (shared != 0)
    return c.warp.not_implemented("an atomic whose lanes are partly in shared and partly in global memory");
  if (form.type == ReduceType::none) return atomic_bytes(c, form, c.lanes, false, false), kDone;
  const auto word = form.returns ? tried_word(c, addresses) : std::nullopt;
  if (word) await_change(c, form, *word);
  for (size_t v = 0; v < registers_of(c.operand(form.returns ? 2 : 1)).size() && !c.warp.over(); ++v)
    atomic_global(c, form, v, addresses);
  if (word && !c.warp.over()) note_try(c, form, *word);
  return kDone;
}

}  // namespace

std::vector<PtxServiceEntry> atomic_services() { return {{"atom", atomic}, {"red", atomic}}; }

}  // namespace sm100::sim
