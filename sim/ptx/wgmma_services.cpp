// SPDX-License-Identifier: Apache-2.0
// wgmma of PTX on the models (PTX, Asynchronous warpgroup level matrix instructions).
#include <charconv>

#include "sim/ptx/services.h"

namespace sm100::sim {

using namespace instructions;
using ptx::Operand;
using Together = PtxServiceEntry::Together;

namespace {

constexpr PtxOutcome kDone = PtxOutcome::done;

template <class T, size_t n>
std::optional<T> named(std::string_view modifier, const std::pair<std::string_view, T> (&names)[n]) {
  for (const auto& [name, value] : names)
    if (modifier == name) return value;
  return std::nullopt;
}
constexpr std::pair<std::string_view, DataType> kTypes[] = {
    {".f16", DataType::f16},   {".bf16", DataType::bf16}, {".tf32", DataType::tf32}, {".e4m3", DataType::e4m3},
    {".e5m2", DataType::e5m2}, {".s8", DataType::s8},     {".u8", DataType::u8}};
constexpr std::pair<std::string_view, WgmmaD> kResults[] = {
    {".f32", WgmmaD::f32}, {".f16", WgmmaD::f16}, {".s32", WgmmaD::s32}};

/// N of ".m64n128k16"; 0: no shape.
int columns_of(std::string_view modifier) {
  int n = 0;
  constexpr std::string_view kStart = ".m64n";
  if (modifier.starts_with(kStart))
    std::from_chars(modifier.data() + kStart.size(), modifier.data() + modifier.size(), n);
  return n;
}

/// Shape and types as the opcode has them; n = 0: another form.
WgmmaForm form_of(const ServiceCall& c) {
  WgmmaForm form{.n = 0};
  std::optional<WgmmaD> d;  // the type of D comes first, then A's and B's
  std::vector<DataType> types;
  for (const std::string_view modifier : c.service.modifiers.list) {
    if (const int n = columns_of(modifier)) form.n = n;
    if (const auto type = d ? named(modifier, kTypes) : std::nullopt) types.push_back(*type);
    if (!d) d = named(modifier, kResults);
  }
  form.saturate = c.has(".satfinite");
  if (!d || types.size() != 2) return {.n = 0};
  form.d = *d, form.a = types[0], form.b = types[1];
  form.a_in_registers = c.size() > 1 && c.operand(1).kind == Operand::Kind::vector;
  return form;
}

/// What stands behind scale-d: imm-scale-a and -b, then which operands are MN-major.
void read_immediates(const ServiceCall& c, WgmmaForm& form) {
  constexpr size_t kFirst = 4;
  if (c.size() <= kFirst + 1) return;
  form.negate_a = int32_t(c.value(kFirst)) < 0, form.negate_b = int32_t(c.value(kFirst + 1)) < 0;
  size_t at = kFirst + 2;
  const auto major = [&] { return c.value(at++) != 0 ? Major::mn : Major::k; };
  if (!form.a_in_registers && at < c.size()) form.a_major = major();
  if (at < c.size()) form.b_major = major();
}

bool without_unit(ServiceCall& c) { return !c.context().profile.has_wgmma; }
PtxOutcome no_unit(ServiceCall& c) {
  return c.warp.not_implemented("wgmma on " + c.context().profile.name +
                                ", which has none: it is of sm_90a (--profile h200)");
}

PtxOutcome mma_async(ServiceCall& c) {
  if (without_unit(c)) return no_unit(c);
  WgmmaForm form = form_of(c);
  if (form.n == 0 || c.size() < 4) return c.warp.not_implemented("wgmma.mma_async of this form");
  read_immediates(c, form);
  const std::span<const Operand> d = registers_of(c.operand(0));
  if (d.size() != size_t(wgmma_d_registers(form)))
    return c.warp.not_implemented("wgmma.mma_async with another number of registers than its shape has");
  WgmmaMmaAsync instruction{
      .form = form, .a = {}, .a_registers = nullptr, .b = {c.value(2)}, .scale_d = false, .d = nullptr};
  const Operand& scale = c.operand(3);
  instruction.scale_d =
      scale.kind == Operand::Kind::predicate ? (c.predicate(scale) >> c.first() & 1) != 0 : c.value(3) != 0;
  std::span<const Operand> a{};
  uint32_t fragment[ptx::kLanes * kWgmmaARegisters];
  if (form.a_in_registers) {
    a = registers_of(c.operand(1));
    if (a.size() != kWgmmaARegisters)
      return c.warp.not_implemented("wgmma.mma_async with other than four registers of A");
    for (int lane = 0; lane < ptx::kLanes; ++lane)
      for (size_t r = 0; r < a.size(); ++r) fragment[size_t(lane) * a.size() + r] = uint32_t(c.value(a[r], lane));
    instruction.a_registers = fragment;
  } else {
    instruction.a = {c.value(1)};
  }
  instruction.d = c.warp.accumulators(d, instruction.scale_d);
  c.execute(instruction);
  if (!c.warp.over()) c.warp.accumulates(d, a, c.context().own.wgmma.executed(c.context().warp.index));
  return kDone;
}

PtxOutcome fence(ServiceCall& c) {
  if (without_unit(c)) return no_unit(c);
  return c.execute(WgmmaFence{}), kDone;
}
PtxOutcome commit_group(ServiceCall& c) {
  if (without_unit(c)) return no_unit(c);
  return c.execute(WgmmaCommitGroup{}), kDone;
}
PtxOutcome wait_group(ServiceCall& c) {
  if (without_unit(c)) return no_unit(c);
  constexpr uint64_t kMostPending = 7;  // what the machine's field holds: larger ones become it
  const int pending = int(std::min(c.value(0), kMostPending));
  c.execute(WgmmaWaitGroup{pending});
  c.warp.accumulated(c.context().own.wgmma.covered(c.context().warp.index, pending));
  return kDone;
}

}  // namespace

std::vector<PtxServiceEntry> wgmma_services() {
  return {{"wgmma.fence", fence, Together::all},
          {"wgmma.mma_async", mma_async, Together::all, true, {".sp", ".b1"}, TraceEvent::mma_issue, true},
          {"wgmma.commit_group", commit_group, Together::all},
          {"wgmma.wait_group", wait_group, Together::all}};
}

}  // namespace sm100::sim
