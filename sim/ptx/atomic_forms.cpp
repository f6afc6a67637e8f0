// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/atomic_forms.h"

#include <utility>

namespace sm100::sim {

namespace {

constexpr std::pair<std::string_view, ReduceOp> kOps[] = {
    {".add", ReduceOp::add},   {".min", ReduceOp::min},     {".max", ReduceOp::max},
    {".inc", ReduceOp::inc},   {".dec", ReduceOp::dec},     {".and", ReduceOp::bit_and},
    {".or", ReduceOp::bit_or}, {".xor", ReduceOp::bit_xor}, {".exch", ReduceOp::exch}};
constexpr std::pair<std::string_view, ReduceType> kTypes[] = {
    {".u32", ReduceType::u32},     {".s32", ReduceType::s32},       {".u64", ReduceType::u64},
    {".s64", ReduceType::s64},     {".b32", ReduceType::b32},       {".b64", ReduceType::b64},
    {".f16x2", ReduceType::f16x2}, {".bf16x2", ReduceType::bf16x2}, {".f16", ReduceType::f16},
    {".bf16", ReduceType::bf16},   {".f32", ReduceType::f32},       {".f64", ReduceType::f64}};

}  // namespace

AtomicForm atomic_form(const ptx::Service& service) {
  AtomicForm form;
  const ptx::Modifiers& m = service.modifiers;
  form.returns = service.base == "atom";
  form.cas = m.has(".cas");
  if (m.has(".global"))
    form.space = ptx::Space::global;
  else if (m.has(".shared") || m.has(".shared::cta") || m.has(".shared::cluster"))
    form.space = ptx::Space::shared;
  bool known = form.cas;
  for (const auto& [name, op] : kOps)
    if (m.has(name)) form.op = op, known = true;
  for (const auto& [name, type] : kTypes)
    if (form.type == ReduceType::none && m.has(name)) form.type = type, form.bytes = bytes_of(type);
  if (m.has(".b16")) form.bytes = 2;
  if (m.has(".b128")) form.bytes = 16;
  const bool swaps = form.cas || form.op == ReduceOp::exch;
  if (!known || form.bytes == 0 || (form.type == ReduceType::none && !swaps))
    form.missing = "this operation or type";
  return form;
}

}  // namespace sm100::sim
