// SPDX-License-Identifier: Apache-2.0
// wgmma of PTX on the models (PTX, Asynchronous warpgroup level matrix instructions).
#include <charconv>

#include "sim/ptx/services.h"

namespace sm100::sim {

using namespace instructions;
using ptx::Operand;
using Together = PtxServiceEntry::Together;

namespace {

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

struct Shape {
  int n = 0, k = 0;
};
/// Of ".m64n128k16"; zeros: no shape.
Shape wgmma_shape(std::string_view modifier) {
  Shape shape;
  constexpr std::string_view kStart = ".m64n";
  const char* const end = modifier.data() + modifier.size();
  if (!modifier.starts_with(kStart)) return {};
  const auto [behind, error] = std::from_chars(modifier.data() + kStart.size(), end, shape.n);
  if (behind == end || *behind != 'k') return {};
  std::from_chars(behind + 1, end, shape.k);
  return shape;
}

/// Where the operands behind B's descriptor stand: of .sp, metadata and sparsity selector first.
size_t scale_d_at(const WgmmaForm& form) { return form.sparse ? 5 : 3; }

/// Shape and types as the opcode has them; n = 0: another form.
WgmmaForm form_of(const ServiceCall& c) {
  WgmmaForm form{.n = 0};
  Shape shape;
  std::optional<WgmmaD> d;  // the type of D comes first, then A's and B's
  std::vector<DataType> types;
  for (const std::string_view modifier : c.service.modifiers.list) {
    if (const Shape given = wgmma_shape(modifier); given.n != 0) shape = given;
    if (const auto type = d ? named(modifier, kTypes) : std::nullopt) types.push_back(*type);
    if (!d) d = named(modifier, kResults);
  }
  form.saturate = c.has(".satfinite");
  form.sparse = c.has(".sp");
  if (!d || types.size() != 2) return {.n = 0};
  form.d = *d, form.a = types[0], form.b = types[1];
  form.a_in_registers = c.size() > 1 && c.operand(1).kind == Operand::Kind::vector;
  if (shape.k == wgmma_k(form)) form.n = shape.n;
  return form;
}

/// Operands that the form has: D, A, B, scale-d, negations of floats, majors of 16 bits, two of .sp.
size_t operands_of(const WgmmaForm& form) {
  const size_t negations = form.d == WgmmaD::s32 ? 0 : 2;
  const size_t majors = element_bits(form.a) != 16 ? 0 : form.a_in_registers ? 1 : 2;
  return scale_d_at(form) + 1 + negations + majors;
}

/// Metadata are one register, the sparsity selector is a number; else -1.
int selector_of(const ServiceCall& c) {
  constexpr size_t kMetadata = 3, kSelector = 4;
  constexpr int kSelectors = 4;  // of any shape
  const Operand& selector = c.operand(kSelector);
  if (registers_of(c.operand(kMetadata)).size() != 1 || !selector.is_immediate()) return -1;
  return selector.value >= 0 && selector.value < kSelectors ? int(selector.value) : -1;
}

/// What stands behind scale-d: imm-scale-a and -b, then which operands are MN-major.
void read_immediates(const ServiceCall& c, WgmmaForm& form) {
  const size_t first = scale_d_at(form) + 1;
  if (c.size() <= first + 1) return;
  form.negate_a = int32_t(c.value(first)) < 0, form.negate_b = int32_t(c.value(first + 1)) < 0;
  size_t at = first + 2;
  const auto major = [&] { return c.value(at++) != 0 ? Major::mn : Major::k; };
  if (!form.a_in_registers && at < c.size()) form.a_major = major();
  if (at < c.size()) form.b_major = major();
}

bool without_unit(ServiceCall& c) { return !c.context().profile.has_wgmma; }
PtxOutcome no_wgmma(ServiceCall& c) {
  return c.warp.not_implemented("wgmma on " + c.context().profile.name +
                                ", which has none: it is of sm_90a (--profile h200)");
}

PtxOutcome mma_async(ServiceCall& c) {
  if (without_unit(c)) return no_wgmma(c);
  WgmmaForm form = form_of(c);
  const char* const no_form = form.sparse ? "wgmma.mma_async.sp of this form" : "wgmma.mma_async of this form";
  if (form.n == 0 || c.size() != operands_of(form)) return c.warp.not_implemented(no_form);
  read_immediates(c, form);
  if (form.sparse) form.selector = selector_of(c);
  if (form.sparse && (form.selector < 0 || form.selector >= wgmma_selectors(form)))
    return c.warp.not_implemented("wgmma.mma_async.sp with a sparsity selector that the shape does not have");
  if (!is_wgmma_form(form)) return c.warp.not_implemented(no_form);
  const std::span<const Operand> d = registers_of(c.operand(0));
  if (d.size() != size_t(wgmma_d_registers(form)))
    return c.warp.not_implemented("wgmma.mma_async with another number of registers than its shape has");
  WgmmaMmaAsync instruction{
      .form = form, .a = {}, .a_registers = nullptr, .b = {c.value(2)}, .scale_d = false, .d = nullptr};
  const Operand& scale = c.operand(scale_d_at(form));
  instruction.scale_d = scale.kind == Operand::Kind::predicate ? (c.predicate(scale) >> c.first() & 1) != 0
                                                               : c.value(scale_d_at(form)) != 0;
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
  uint32_t metadata[ptx::kLanes];
  if (form.sparse) {
    for (int lane = 0; lane < ptx::kLanes; ++lane) metadata[lane] = uint32_t(c.value(c.operand(3), lane));
    instruction.metadata = metadata;
  }
  instruction.d = c.warp.accumulators(d, instruction.scale_d);
  c.execute(instruction);
  if (!c.warp.over()) c.warp.accumulates(d, a, c.context().own.wgmma.executed(c.context().warp.index));
  return kDone;
}

PtxOutcome wgmma_fence(ServiceCall& c) {
  if (without_unit(c)) return no_wgmma(c);
  return c.execute(WgmmaFence{}), kDone;
}
PtxOutcome commit_group(ServiceCall& c) {
  if (without_unit(c)) return no_wgmma(c);
  return c.execute(WgmmaCommitGroup{}), kDone;
}
PtxOutcome wait_group(ServiceCall& c) {
  if (without_unit(c)) return no_wgmma(c);
  constexpr uint64_t kMostPending = 7;  // what the machine's field holds: larger ones become it
  const int pending = int(std::min(c.value(0), kMostPending));
  c.execute(WgmmaWaitGroup{pending});
  c.warp.accumulated(c.context().own.wgmma.covered(c.context().warp.index, pending));
  return kDone;
}

}  // namespace

std::vector<PtxServiceEntry> wgmma_services() {
  return {{"wgmma.fence", wgmma_fence, Together::all},
          {"wgmma.mma_async", mma_async, Together::all, true, {".b1"}, TraceEvent::mma_issue, true},
          {"wgmma.commit_group", commit_group, Together::all},
          {"wgmma.wait_group", wait_group, Together::all}};
}

}  // namespace sm100::sim
