// SPDX-License-Identifier: Apache-2.0
/// Functions of forms that most code consists of, compiled once more for each instruction set of the host and
/// chosen when the table is made (models/vector/instruction_set.h).  They are the same C++, so the results are the
/// same.
#pragma once

#include "models/vector/instruction_set.h"
#include "ptx/program.h"

namespace sm100::ptx {

#if defined(__x86_64__)
template <AluFunction kFunction>
__attribute__((target("avx2,bmi,bmi2"), flatten)) void with_v3(RegisterFile& file, const Instr& in, LaneMask mask) {
  kFunction(file, in, mask);
}
#if defined(__clang__)
#define SM100_PTX_V4 "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi,bmi2"
#else
#define SM100_PTX_V4 "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi,bmi2,prefer-vector-width=512"
#endif
template <AluFunction kFunction>
__attribute__((target(SM100_PTX_V4), flatten)) void with_v4(RegisterFile& file, const Instr& in, LaneMask mask) {
  kFunction(file, in, mask);
}
#undef SM100_PTX_V4
#endif

/// The function, with the widest vectors that this program may use.
template <AluFunction kFunction>
AluFunction wide() {
#if defined(__x86_64__)
  switch (vector::chosen_instruction_set()) {
    case vector::InstructionSet::x86_64_v4: return &with_v4<kFunction>;
    case vector::InstructionSet::x86_64_v3: return &with_v3<kFunction>;
    default: break;
  }
#endif
  return kFunction;
}

}  // namespace sm100::ptx
