// SPDX-License-Identifier: Apache-2.0
// Atomics of global memory on the models (PTX 9.7.13.3, .4).
#include <array>

#include "sim/ptx/services.h"

namespace sm100::sim {

using namespace instructions;
using ptx::LaneMask;
using ptx::Operand;

namespace {

constexpr PtxOutcome kDone = PtxOutcome::done;
using Together = PtxServiceEntry::Together;
const std::vector<std::string_view> kRefused = {".shared", ".shared::cta", ".shared::cluster", ".v2", ".v4", ".v8",
                                                ".b16",    ".b128"};

std::optional<ReduceOp> operation_of(const ServiceCall& c) {
  static constexpr std::pair<std::string_view, ReduceOp> kOps[] = {
      {".add", ReduceOp::add},   {".min", ReduceOp::min},     {".max", ReduceOp::max},
      {".inc", ReduceOp::inc},   {".dec", ReduceOp::dec},     {".and", ReduceOp::bit_and},
      {".or", ReduceOp::bit_or}, {".xor", ReduceOp::bit_xor}, {".exch", ReduceOp::exch}};
  for (const auto& [name, op] : kOps)
    if (c.has(name)) return op;
  return std::nullopt;
}

std::optional<ReduceType> type_of(const ServiceCall& c) {
  static constexpr std::pair<std::string_view, ReduceType> kTypes[] = {
      {".u32", ReduceType::u32},     {".s32", ReduceType::s32},       {".u64", ReduceType::u64},
      {".s64", ReduceType::s64},     {".b32", ReduceType::b32},       {".b64", ReduceType::b64},
      {".f16x2", ReduceType::f16x2}, {".bf16x2", ReduceType::bf16x2}, {".f16", ReduceType::f16},
      {".bf16", ReduceType::bf16},   {".f32", ReduceType::f32_ftz},   {".f64", ReduceType::f64}};
  for (const auto& [name, type] : kTypes)
    if (c.has(name)) return type;
  return std::nullopt;
}

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

PtxOutcome atomic(ServiceCall& c, bool returns) {
  const size_t at = returns ? 1 : 0;
  const auto type = type_of(c);
  if (!type || c.operand(at + 1).kind == Operand::Kind::vector)
    return c.warp.not_implemented("atom or red of vectors, or of this type");
  LaneArray<GlobalAddr, 1> addresses{};
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    addresses(lane) = {c.address(c.operand(at), lane)};
    if (c.has(".shared") || c.has(".shared::cta") || c.has(".shared::cluster") ||
        c.file().windows.shared.has(addresses(lane).value))
      return c.warp.not_implemented("atomics of shared memory");
  }
  const bool wide = register_bytes(*type) == 8;
  Lanes values(c, &c.operand(at + 1), wide), results(c, nullptr, wide);
  if (c.has(".cas")) {
    Lanes swapped(c, &c.operand(at + 2), wide);
    c.execute(AtomCasGlobal{{ReduceOp::exch, *type, sem_of(c), memory_scope(c), &addresses, swapped.data()},
                            values.data(),
                            results.data()});
  } else {
    const auto op = operation_of(c);
    if (!op) return c.warp.not_implemented("atom or red of this kind");
    const AtomicOperands operands{*op, *type, sem_of(c), memory_scope(c), &addresses, values.data()};
    if (returns)
      c.execute(AtomGlobal{operands, results.data()});
    else
      c.execute(RedGlobal{operands});
  }
  if (returns)
    for (LaneMask left = c.lanes; left != 0; left &= left - 1)
      c.set(c.operand(0), std::countr_zero(left), results.of(std::countr_zero(left)));
  return kDone;
}

PtxOutcome atom(ServiceCall& c) { return atomic(c, true); }
PtxOutcome red(ServiceCall& c) { return atomic(c, false); }

}  // namespace

std::vector<PtxServiceEntry> atomic_services() {
  return {{"atom", atom, Together::any, true, kRefused}, {"red", red, Together::any, true, kRefused}};
}

}  // namespace sm100::sim
