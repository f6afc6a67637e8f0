// SPDX-License-Identifier: Apache-2.0
/// wgmma (PTX, Asynchronous warpgroup level matrix instructions), sm_90a only: D of 32-bit floats in registers, A
/// and B in shared memory, K-major; bf16, f16, e4m3 and e5m2; N a power of two from 8 to 256.
///
/// Registers of D belong to the tensor core from wgmma.mma_async until a wait.  The compiler does not know that;
/// the overloads of wgmma_fence and wgmma_wait_group that take D keep its reads and writes outside.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

// clang-format off
#define SM100_D_4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SM100_D_8(i) SM100_D_4(i), SM100_D_4(i + 4)
#define SM100_D_16(i) SM100_D_8(i), SM100_D_8(i + 8)
#define SM100_D_32(i) SM100_D_16(i), SM100_D_16(i + 16)
#define SM100_D_64(i) SM100_D_32(i), SM100_D_32(i + 32)
#define SM100_D_128(i) SM100_D_64(i), SM100_D_64(i + 64)
#define SM100_D_TEXT_4 "%0, %1, %2, %3"
#define SM100_D_TEXT_8 SM100_D_TEXT_4 ", " "%4, %5, %6, %7"
#define SM100_D_TEXT_16 SM100_D_TEXT_8 ", " "%8, %9, %10, %11, %12, %13, %14, %15"
#define SM100_D_TEXT_32 SM100_D_TEXT_16 ", " "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define SM100_D_TEXT_64 SM100_D_TEXT_32 ", " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define SM100_D_TEXT_128 SM100_D_TEXT_64 ", " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

#define SM100_WGMMA(registers, n, k, type, majors, a_operand, b_operand, scale_operand)            \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, " scale_operand ", 0;\n\t"                     \
               "wgmma.mma_async.sync.aligned.m64n" #n "k" #k ".f32." type "." type " {" SM100_D_TEXT_##registers \
               "}, " a_operand ", " b_operand ", p, 1, 1" majors ";\n\t}"                           \
               : SM100_D_##registers(0)                                                             \
               : "l"(a.bits), "l"(b.bits), "r"(uint32_t(scale_d))                                   \
               : "memory")
#define SM100_WGMMA_OF_TYPE(registers, n, a_operand, b_operand, scale_operand)                      \
  if constexpr (kForm.a == DataType::bf16)                                                          \
    SM100_WGMMA(registers, n, 16, "bf16", ", 0, 0", a_operand, b_operand, scale_operand);           \
  else if constexpr (kForm.a == DataType::f16)                                                      \
    SM100_WGMMA(registers, n, 16, "f16", ", 0, 0", a_operand, b_operand, scale_operand);            \
  else if constexpr (kForm.a == DataType::e4m3)                                                     \
    SM100_WGMMA(registers, n, 32, "e4m3", "", a_operand, b_operand, scale_operand);                 \
  else                                                                                              \
    SM100_WGMMA(registers, n, 32, "e5m2", "", a_operand, b_operand, scale_operand)
// clang-format on

template <bool kAvailable = kTargetHasWgmma>
class Wgmma {
 public:
  SM100_KERNEL void wgmma_fence(Loc = Loc::current()) const {
    SM100_REQUIRE_WGMMA(kAvailable);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  }
  template <int R>
  SM100_KERNEL void wgmma_fence(LaneArray<float, R>& sums, Loc = Loc::current()) const {
    pin(sums);
    wgmma_fence();
  }

  template <WgmmaForm kForm>
  SM100_KERNEL void wgmma_mma_async(LaneArray<float, wgmma_d_registers(kForm)>& sums, SmemDescriptor a,
                                    SmemDescriptor b, bool scale_d, Loc = Loc::current()) const {
    SM100_REQUIRE_WGMMA(kAvailable);
    static_assert(kForm == WgmmaForm{.n = kForm.n, .a = kForm.a, .b = kForm.a},
                  "the device side has D in f32, A in shared memory, equal types, both K-major");
    static_assert(kForm.a == DataType::bf16 || kForm.a == DataType::f16 || kForm.a == DataType::e4m3 ||
                      kForm.a == DataType::e5m2,
                  "the device side has bf16, f16, e4m3 and e5m2");
    static_assert(kForm.n >= 8 && kForm.n <= 256 && (kForm.n & (kForm.n - 1)) == 0,
                  "the device side has powers of two from 8 to 256 for N");
    float(&d)[wgmma_d_registers(kForm)] = sums.registers;
    if constexpr (kForm.n == 8) {
      SM100_WGMMA_OF_TYPE(4, 8, "%4", "%5", "%6");
    } else if constexpr (kForm.n == 16) {
      SM100_WGMMA_OF_TYPE(8, 16, "%8", "%9", "%10");
    } else if constexpr (kForm.n == 32) {
      SM100_WGMMA_OF_TYPE(16, 32, "%16", "%17", "%18");
    } else if constexpr (kForm.n == 64) {
      SM100_WGMMA_OF_TYPE(32, 64, "%32", "%33", "%34");
    } else if constexpr (kForm.n == 128) {
      SM100_WGMMA_OF_TYPE(64, 128, "%64", "%65", "%66");
    } else {
      SM100_WGMMA_OF_TYPE(128, 256, "%128", "%129", "%130");
    }
  }

  SM100_KERNEL void wgmma_commit_group(Loc = Loc::current()) const {
    SM100_REQUIRE_WGMMA(kAvailable);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  }

  /// Returns when at most the kPending latest groups are pending.
  template <int kPending>
  SM100_KERNEL void wgmma_wait_group(Loc = Loc::current()) const {
    SM100_REQUIRE_WGMMA(kAvailable);
    static_assert(kPending >= 0 && kPending <= 7, "at most 7 groups are pending");
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
  }
  template <int kPending, int R>
  SM100_KERNEL void wgmma_wait_group(LaneArray<float, R>& sums, Loc = Loc::current()) const {
    wgmma_wait_group<kPending>();
    pin(sums);
  }

 private:
  /// No instruction: the compiler moves no access of these registers across.
  template <int R>
  SM100_KERNEL static void pin(LaneArray<float, R>& sums) {
#pragma unroll
    for (int i = 0; i < R; ++i) asm volatile("" : "+f"(sums.registers[i])::"memory");
  }
};

#undef SM100_D_4
#undef SM100_D_8
#undef SM100_D_16
#undef SM100_D_32
#undef SM100_D_64
#undef SM100_D_128
#undef SM100_D_TEXT_4
#undef SM100_D_TEXT_8
#undef SM100_D_TEXT_16
#undef SM100_D_TEXT_32
#undef SM100_D_TEXT_64
#undef SM100_D_TEXT_128
#undef SM100_WGMMA
#undef SM100_WGMMA_OF_TYPE

}  // namespace sm100::device
