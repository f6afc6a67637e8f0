// SPDX-License-Identifier: Apache-2.0
/// tcgen05.st.16x256b.xR and .32x32b.xR (PTX 9.7.16.8): 4R and R registers of each lane, up to 64.
///
/// inline PTX names each operand, so the lists are spelled out by doubling.  %0 is the address.
#pragma once

#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

// clang-format off
#define SM100_ST_IN_1(i) "r"(v[i])
#define SM100_ST_IN_2(i) "r"(v[i]), "r"(v[i + 1])
#define SM100_ST_IN_4(i) "r"(v[i]), "r"(v[i + 1]), "r"(v[i + 2]), "r"(v[i + 3])
#define SM100_ST_IN_8(i) SM100_ST_IN_4(i), SM100_ST_IN_4(i + 4)
#define SM100_ST_IN_16(i) SM100_ST_IN_8(i), SM100_ST_IN_8(i + 8)
#define SM100_ST_IN_32(i) SM100_ST_IN_16(i), SM100_ST_IN_16(i + 16)
#define SM100_ST_IN_64(i) SM100_ST_IN_32(i), SM100_ST_IN_32(i + 32)
#define SM100_ST_TEXT_1 "%1"
#define SM100_ST_TEXT_2 "%1, %2"
#define SM100_ST_TEXT_4 "%1, %2, %3, %4"
#define SM100_ST_TEXT_8 SM100_ST_TEXT_4 ", " "%5, %6, %7, %8"
#define SM100_ST_TEXT_16 SM100_ST_TEXT_8 ", " "%9, %10, %11, %12, %13, %14, %15, %16"
#define SM100_ST_TEXT_32 SM100_ST_TEXT_16 ", " "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32"
#define SM100_ST_TEXT_64 SM100_ST_TEXT_32 ", " \
  "%33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, " \
  "%49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64"

#define SM100_ST(shape, repetitions, registers)                                                \
  SM100_KERNEL void st_##shape(uint32_t address, const uint32_t (&v)[registers]) {             \
    asm volatile("tcgen05.st.sync.aligned." #shape ".x" #repetitions ".b32 [%0], {" SM100_ST_TEXT_##registers \
                 "};" ::"r"(address), SM100_ST_IN_##registers(0)                               \
                 : "memory");                                                                  \
  }
SM100_ST(16x256b, 1, 4)
SM100_ST(16x256b, 2, 8)
SM100_ST(16x256b, 4, 16)
SM100_ST(16x256b, 8, 32)
SM100_ST(16x256b, 16, 64)
SM100_ST(32x32b, 1, 1)
SM100_ST(32x32b, 2, 2)
SM100_ST(32x32b, 4, 4)
SM100_ST(32x32b, 8, 8)
SM100_ST(32x32b, 16, 16)
SM100_ST(32x32b, 32, 32)
SM100_ST(32x32b, 64, 64)
// clang-format on

#undef SM100_ST_IN_1
#undef SM100_ST_TEXT_1
#undef SM100_ST_IN_2
#undef SM100_ST_TEXT_2
#undef SM100_ST_IN_4
#undef SM100_ST_TEXT_4
#undef SM100_ST_IN_8
#undef SM100_ST_TEXT_8
#undef SM100_ST_IN_16
#undef SM100_ST_TEXT_16
#undef SM100_ST_IN_32
#undef SM100_ST_TEXT_32
#undef SM100_ST_IN_64
#undef SM100_ST_TEXT_64
#undef SM100_ST

}  // namespace sm100::device
