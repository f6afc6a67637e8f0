// SPDX-License-Identifier: Apache-2.0
/// Which instructions of the processor the hot loops use.
///
/// They are compiled once for each instruction set (kernels.inl) and chosen when the program runs: the widest that
/// the processor has, or the one that the environment variable SM100SIM_INSTRUCTION_SET names.  All compute the
/// same bits.
#pragma once

#include <span>
#include <string>

namespace sm100::vector {

/// x86-64's levels are those of its psABI: SSE4.2, AVX2 with FMA, AVX-512 (F, BW, CD, DQ, VL).
enum class InstructionSet { portable, x86_64_v2, x86_64_v3, x86_64_v4 };

/// "portable", "x86-64-v2", "x86-64-v3" or "x86-64-v4".
const char* name(InstructionSet set);

/// Those that this program was compiled for and this processor has, narrowest first.
std::span<const InstructionSet> available_instruction_sets();

/// The one in use.
/// @throws std::invalid_argument when SM100SIM_INSTRUCTION_SET names one that is not available; the text says which
/// are
InstructionSet chosen_instruction_set();

}  // namespace sm100::vector
