// SPDX-License-Identifier: Apache-2.0
/// Functions that most code consists of, compiled once more for each instruction set of the host and chosen when
/// the table is made (models/vector/instruction_set.h).  They are the same C++, so the results are the same.
#pragma once

#include "models/vector/instruction_set.h"

namespace sm100::ptx {

template <auto kFunction, class Function = decltype(kFunction)>
struct Wide;

/// kFunction, with everything that it calls compiled in.
template <auto kFunction, class Result, class... Arguments>
struct Wide<kFunction, Result (*)(Arguments...)> {
  using Function = Result (*)(Arguments...);
#if defined(__x86_64__)
  __attribute__((target("avx2,bmi,bmi2"), flatten)) static Result with_v3(Arguments... arguments) {
    return kFunction(arguments...);
  }
#if defined(__clang__)
#define SM100_PTX_V4 "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi,bmi2"
#else
#define SM100_PTX_V4 "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi,bmi2,prefer-vector-width=512"
#endif
  __attribute__((target(SM100_PTX_V4), flatten)) static Result with_v4(Arguments... arguments) {
    return kFunction(arguments...);
  }
#undef SM100_PTX_V4
#endif
};

/// The function, with the widest vectors that this program may use.
template <auto kFunction>
auto wide() -> decltype(kFunction) {
#if defined(__x86_64__)
  switch (vector::chosen_instruction_set()) {
    case vector::InstructionSet::x86_64_v4: return &Wide<kFunction>::with_v4;
    case vector::InstructionSet::x86_64_v3: return &Wide<kFunction>::with_v3;
    default: break;
  }
#endif
  return kFunction;
}

}  // namespace sm100::ptx
