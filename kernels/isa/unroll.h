// SPDX-License-Identifier: Apache-2.0
/// In front of a loop whose index chooses registers: on the device it must be unrolled, or they lie in local
/// memory.
#pragma once

#if defined(__CUDACC__)
#define SM100_UNROLL _Pragma("unroll")
#else
#define SM100_UNROLL
#endif
