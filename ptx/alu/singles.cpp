// SPDX-License-Identifier: Apache-2.0
/// add, sub, mul and fma of f32, rounded to nearest, for whole warps: most of what kernels compute.  The host's own
/// f32 arithmetic rounds as PTX does, so lanes are computed side by side; fma needs the host's instruction
/// (x86-64-v3) and keeps its other form elsewhere.  The results are those of floats.cpp, bit for bit.

#include <cfloat>
#include <cmath>

#include "models/vector/instruction_set.h"
#include "ptx/alu/form_table.h"
#include "ptx/alu/rounding.h"

namespace sm100::ptx {

namespace {

enum class Op { add, sub, mul, fma, div };

#if defined(__x86_64__)
#define SM100_V3 __attribute__((target("avx2,fma")))
#else
#define SM100_V3
#endif
#define SM100_INLINE inline __attribute__((always_inline))

template <Op kOp>
SM100_INLINE float result_of(float a, float b, float c) {
  if constexpr (kOp == Op::add) return a + b;
  if constexpr (kOp == Op::sub) return a - b;
  if constexpr (kOp == Op::mul) return a * b;
  if constexpr (kOp == Op::div) return a / b;
  return __builtin_fmaf(a, b, c);
}
/// Twice the result, with the fraction of a format without a least exponent.
template <Op kOp>
SM100_INLINE float twice(float a, float b, float c) {
  if constexpr (kOp == Op::mul) return (a + a) * b;
  if constexpr (kOp == Op::fma) return __builtin_fmaf(a + a, b, c + c);
  return result_of<kOp>(a + a, b + b, c);
}
SM100_INLINE float flushed(float x) { return std::fabs(x) < FLT_MIN ? std::copysign(0.0f, x) : x; }

template <Op kOp, bool kFlush>
SM100_INLINE uint32_t one(uint32_t x, uint32_t y, uint32_t z) {
  float a = std::bit_cast<float>(x), b = std::bit_cast<float>(y), c = std::bit_cast<float>(z);
  if (kFlush) a = flushed(a), b = flushed(b), c = flushed(c);
  float d = result_of<kOp>(a, b, c);
  if (kFlush) d = std::fabs(twice<kOp>(a, b, c)) < 2 * FLT_MIN ? std::copysign(0.0f, d) : d;
  return d == d ? std::bit_cast<uint32_t>(d) : 0x7fffffffu;
}

template <Op kOp, bool kFlush>
SM100_INLINE void compute(RegisterFile& file, const Instr& in, LaneMask mask) {
  uint32_t* const to = file.write<uint32_t>(in.rows[0]);
  const uint32_t *const x = file.read<uint32_t>(in.rows[1]), *const y = file.read<uint32_t>(in.rows[2]),
                        *const z = kOp == Op::fma ? file.read<uint32_t>(in.rows[3]) : x;
  if (mask != kAllLanes && is_few(mask)) {
    for (; mask != 0; mask &= mask - 1) {
      const int lane = std::countr_zero(mask);
      to[lane] = one<kOp, kFlush>(x[lane], y[lane], z[lane]);
    }
    return;
  }
  uint32_t before[kLanes];
  if (mask != kAllLanes) std::memcpy(before, to, sizeof before);
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#pragma GCC ivdep
#endif
  for (int lane = 0; lane < kLanes; ++lane) to[lane] = one<kOp, kFlush>(x[lane], y[lane], z[lane]);
  if (mask != kAllLanes) keep_lanes(to, before, mask);
}

template <Op kOp, bool kFlush>
void any_host(RegisterFile& file, const Instr& in, LaneMask mask) {
  compute<kOp, kFlush>(file, in, mask);
}
template <Op kOp, bool kFlush>
SM100_V3 void host_v3(RegisterFile& file, const Instr& in, LaneMask mask) {
  compute<kOp, kFlush>(file, in, mask);
}

bool has_fma() {
#if defined(__x86_64__)
  return vector::chosen_instruction_set() >= vector::InstructionSet::x86_64_v3;
#else
  return false;
#endif
}

template <Op kOp, bool kFlush>
void replace(FormTable& table, const std::string& opcode) {
  const bool v3 = has_fma();
  if (kOp == Op::fma && !v3) return;
  for (AluForm& form : table.forms)
    for (const char* mode : {"", ".rn"})
      if (form.name == opcode + mode + (kFlush ? ".ftz" : "") + ".f32")
        form.function = v3 ? &host_v3<kOp, kFlush> : &any_host<kOp, kFlush>;
}
template <Op kOp>
void replace_both(FormTable& table, const std::string& opcode) {
  replace<kOp, false>(table, opcode), replace<kOp, true>(table, opcode);
}

}  // namespace

void replace_single_forms(FormTable& table) {
  replace_both<Op::add>(table, "add"), replace_both<Op::sub>(table, "sub"), replace_both<Op::mul>(table, "mul");
  replace_both<Op::fma>(table, "fma"), replace_both<Op::fma>(table, "mad");
  replace<Op::div, false>(table, "div"), replace<Op::div, false>(table, "div.full");
  replace<Op::div, false>(table, "div.approx");
}

}  // namespace sm100::ptx
