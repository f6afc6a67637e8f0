// SPDX-License-Identifier: Apache-2.0
/// The tables of kernels.h for each instruction set that this build has (models/CMakeLists.txt defines
/// SM100_X86_64).
#pragma once

#include "models/vector/kernels.h"

namespace sm100::vector {

extern const Kernels kPortableKernels;
#ifdef SM100_X86_64
extern const Kernels kX86V2Kernels, kX86V3Kernels, kX86V4Kernels;
#endif

}  // namespace sm100::vector
