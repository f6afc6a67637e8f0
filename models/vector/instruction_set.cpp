// SPDX-License-Identifier: Apache-2.0
#include "models/vector/instruction_set.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "models/vector/kernel_tables.h"
#include "models/vector/panel_buffer.h"

namespace sm100::vector {
namespace {

constexpr const char* kVariable = "SM100SIM_INSTRUCTION_SET";

/// Each level's newest parts; the processors that have them have the rest of the level too.
bool processor_has(InstructionSet set) {
#ifdef SM100_X86_64
  switch (set) {
    case InstructionSet::portable: return true;
    case InstructionSet::x86_64_v2: return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    case InstructionSet::x86_64_v3:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    case InstructionSet::x86_64_v4:
      return processor_has(InstructionSet::x86_64_v3) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }
#endif
  return set == InstructionSet::portable;
}

InstructionSet choose() {
  const auto available = available_instruction_sets();
  const char* wanted = std::getenv(kVariable);
  if (!wanted || !*wanted) return available.back();
  std::string names;
  for (InstructionSet set : available) {
    if (name(set) == std::string(wanted)) return set;
    names += (names.empty() ? "" : ", ") + std::string(name(set));
  }
  throw std::invalid_argument(std::string(kVariable) + " = " + wanted + ": this machine has " + names);
}

}  // namespace

const char* name(InstructionSet set) {
  switch (set) {
    case InstructionSet::portable: return "portable";
    case InstructionSet::x86_64_v2: return "x86-64-v2";
    case InstructionSet::x86_64_v3: return "x86-64-v3";
    default: return "x86-64-v4";
  }
}

std::span<const InstructionSet> available_instruction_sets() {
  static const std::vector<InstructionSet> available = [] {
    std::vector<InstructionSet> all = {InstructionSet::portable, InstructionSet::x86_64_v2,
                                       InstructionSet::x86_64_v3, InstructionSet::x86_64_v4};
    std::erase_if(all, [](InstructionSet set) { return !processor_has(set); });
    return all;
  }();
  return available;
}

InstructionSet chosen_instruction_set() {
  static const InstructionSet chosen = choose();
  return chosen;
}

const Kernels& kernels_of(InstructionSet set) {
  switch (set) {
#ifdef SM100_X86_64
    case InstructionSet::x86_64_v2: return kX86V2Kernels;
    case InstructionSet::x86_64_v3: return kX86V3Kernels;
    case InstructionSet::x86_64_v4: return kX86V4Kernels;
#endif
    default: return kPortableKernels;
  }
}

const Kernels& kernels() {
  static const Kernels& chosen = kernels_of(chosen_instruction_set());
  return chosen;
}

void* panel_buffer(size_t bytes) {
  constexpr size_t kAlignment = 64;
  thread_local std::vector<std::byte> buffer;
  if (buffer.size() < bytes + kAlignment) buffer.resize(bytes + kAlignment);
  const auto address = reinterpret_cast<uintptr_t>(buffer.data());
  return buffer.data() + (kAlignment - address % kAlignment) % kAlignment;
}

}  // namespace sm100::vector
