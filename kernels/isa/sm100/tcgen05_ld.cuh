// SPDX-License-Identifier: Apache-2.0
/// tcgen05.ld.16x256b.xR and .32x32b.xR (PTX 9.7.16.8): 4R and R registers of each lane, for every R.
///
/// inline PTX names each result, so the operand lists are spelled out by doubling.
#pragma once

#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

// clang-format off
#define SM100_LD_OUT_1(i) "=r"(v[i])
#define SM100_LD_OUT_2(i) "=r"(v[i]), "=r"(v[i + 1])
#define SM100_LD_OUT_4(i) "=r"(v[i]), "=r"(v[i + 1]), "=r"(v[i + 2]), "=r"(v[i + 3])
#define SM100_LD_OUT_8(i) SM100_LD_OUT_4(i), SM100_LD_OUT_4(i + 4)
#define SM100_LD_OUT_16(i) SM100_LD_OUT_8(i), SM100_LD_OUT_8(i + 8)
#define SM100_LD_OUT_32(i) SM100_LD_OUT_16(i), SM100_LD_OUT_16(i + 16)
#define SM100_LD_OUT_64(i) SM100_LD_OUT_32(i), SM100_LD_OUT_32(i + 32)
#define SM100_LD_OUT_128(i) SM100_LD_OUT_64(i), SM100_LD_OUT_64(i + 64)
#define SM100_LD_TEXT_1 "%0"
#define SM100_LD_TEXT_2 "%0, %1"
#define SM100_LD_TEXT_4 "%0, %1, %2, %3"
#define SM100_LD_TEXT_8 SM100_LD_TEXT_4 ", " "%4, %5, %6, %7"
#define SM100_LD_TEXT_16 SM100_LD_TEXT_8 ", " "%8, %9, %10, %11, %12, %13, %14, %15"
#define SM100_LD_TEXT_32 SM100_LD_TEXT_16 ", " "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define SM100_LD_TEXT_64 SM100_LD_TEXT_32 ", " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define SM100_LD_TEXT_128 SM100_LD_TEXT_64 ", " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

#define SM100_LD(shape, repetitions, registers, address_operand)                               \
  SM100_KERNEL void ld_##shape(uint32_t (&v)[registers], uint32_t address) {                   \
    asm volatile("tcgen05.ld.sync.aligned." #shape ".x" #repetitions ".b32 {" SM100_LD_TEXT_##registers \
                 "}, [" address_operand "];"                                                   \
                 : SM100_LD_OUT_##registers(0)                                                 \
                 : "r"(address)                                                                \
                 : "memory");                                                                  \
  }
SM100_LD(16x256b, 1, 4, "%4")
SM100_LD(16x256b, 2, 8, "%8")
SM100_LD(16x256b, 4, 16, "%16")
SM100_LD(16x256b, 8, 32, "%32")
SM100_LD(16x256b, 16, 64, "%64")
SM100_LD(16x256b, 32, 128, "%128")
SM100_LD(32x32b, 1, 1, "%1")
SM100_LD(32x32b, 2, 2, "%2")
SM100_LD(32x32b, 4, 4, "%4")
SM100_LD(32x32b, 8, 8, "%8")
SM100_LD(32x32b, 16, 16, "%16")
SM100_LD(32x32b, 32, 32, "%32")
SM100_LD(32x32b, 64, 64, "%64")
SM100_LD(32x32b, 128, 128, "%128")
// clang-format on

#undef SM100_LD_OUT_1
#undef SM100_LD_TEXT_1
#undef SM100_LD_OUT_2
#undef SM100_LD_TEXT_2
#undef SM100_LD_OUT_4
#undef SM100_LD_TEXT_4
#undef SM100_LD_OUT_8
#undef SM100_LD_TEXT_8
#undef SM100_LD_OUT_16
#undef SM100_LD_TEXT_16
#undef SM100_LD_OUT_32
#undef SM100_LD_TEXT_32
#undef SM100_LD_OUT_64
#undef SM100_LD_TEXT_64
#undef SM100_LD_OUT_128
#undef SM100_LD_TEXT_128
#undef SM100_LD

}  // namespace sm100::device
