// SPDX-License-Identifier: Apache-2.0
/// Parts of an opcode that are template arguments: text that inline PTX takes as a "C" operand.
#pragma once

#include "kernels/isa/memory_order.h"
#include "kernels/isa/reduction.h"

namespace sm100::device {

#define SM100_TEXT(Template, value, text)       \
  template <>                                   \
  struct Template<value> {                      \
    static constexpr const char kText[] = text; \
  };

template <ReduceOp>
struct OpText;
SM100_TEXT(OpText, ReduceOp::add, "add")
SM100_TEXT(OpText, ReduceOp::min, "min")
SM100_TEXT(OpText, ReduceOp::max, "max")
SM100_TEXT(OpText, ReduceOp::inc, "inc")
SM100_TEXT(OpText, ReduceOp::dec, "dec")
SM100_TEXT(OpText, ReduceOp::bit_and, "and")
SM100_TEXT(OpText, ReduceOp::bit_or, "or")
SM100_TEXT(OpText, ReduceOp::bit_xor, "xor")
SM100_TEXT(OpText, ReduceOp::exch, "exch")

template <ReduceType>
struct TypeText;
SM100_TEXT(TypeText, ReduceType::u32, "u32")
SM100_TEXT(TypeText, ReduceType::s32, "s32")
SM100_TEXT(TypeText, ReduceType::u64, "u64")
SM100_TEXT(TypeText, ReduceType::s64, "s64")
SM100_TEXT(TypeText, ReduceType::b32, "b32")
SM100_TEXT(TypeText, ReduceType::b64, "b64")
SM100_TEXT(TypeText, ReduceType::f16, "f16")
SM100_TEXT(TypeText, ReduceType::bf16, "bf16")
SM100_TEXT(TypeText, ReduceType::f32, "f32")
SM100_TEXT(TypeText, ReduceType::f64, "f64")
SM100_TEXT(TypeText, ReduceType::f16x2, "f16x2")
SM100_TEXT(TypeText, ReduceType::bf16x2, "bf16x2")

/// Sums of 16-bit floats are written with it.
template <bool>
struct NoftzText;
SM100_TEXT(NoftzText, true, ".noftz")
SM100_TEXT(NoftzText, false, "")

template <MemorySem>
struct SemText;
SM100_TEXT(SemText, MemorySem::relaxed, "relaxed")
SM100_TEXT(SemText, MemorySem::acquire, "acquire")
SM100_TEXT(SemText, MemorySem::release, "release")
SM100_TEXT(SemText, MemorySem::acq_rel, "acq_rel")

template <MemoryScope>
struct ScopeText;
SM100_TEXT(ScopeText, MemoryScope::cta, "cta")
SM100_TEXT(ScopeText, MemoryScope::cluster, "cluster")
SM100_TEXT(ScopeText, MemoryScope::gpu, "gpu")
SM100_TEXT(ScopeText, MemoryScope::sys, "sys")

#undef SM100_TEXT

/// Whether the opcode has .noftz.
constexpr bool has_noftz(ReduceOp op, ReduceType type) {
  return op == ReduceOp::add && (type == ReduceType::f16 || type == ReduceType::bf16 || type == ReduceType::f16x2 ||
                                 type == ReduceType::bf16x2);
}

}  // namespace sm100::device
