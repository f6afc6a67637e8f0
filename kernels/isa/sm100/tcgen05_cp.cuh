// SPDX-License-Identifier: Apache-2.0
/// tcgen05.cp (PTX 9.7.16.9): shape, multicast, source format and cta_group are parts of the opcode.
#pragma once

#include "kernels/isa/sm100/target.cuh"
#include "kernels/isa/tmem_copy.h"

namespace sm100::device {

#define SM100_CP(group, form, format) \
  asm volatile("tcgen05.cp.cta_group::" group "." form format " [%0], %1;" ::"r"(to), "l"(source) : "memory")
#define SM100_CP_OF_SHAPE(group, format)                                                                \
  switch (shape) {                                                                                      \
    case TmemCopyShape::s128x256b: SM100_CP(group, "128x256b", format); break;                          \
    case TmemCopyShape::s128x128b: SM100_CP(group, "128x128b", format); break;                          \
    case TmemCopyShape::s4x256b: SM100_CP(group, "4x256b", format); break;                              \
    case TmemCopyShape::s64x128b_warpx2_02_13: SM100_CP(group, "64x128b.warpx2::02_13", format); break; \
    case TmemCopyShape::s64x128b_warpx2_01_23: SM100_CP(group, "64x128b.warpx2::01_23", format); break; \
    case TmemCopyShape::s32x128b_warpx4: SM100_CP(group, "32x128b.warpx4", format); break;              \
  }
#define SM100_CP_OF_FORMAT(group)                                                          \
  switch (decompression) {                                                                 \
    case TmemDecompression::none: SM100_CP_OF_SHAPE(group, "") break;                      \
    case TmemDecompression::b6x16_p32: SM100_CP_OF_SHAPE(group, ".b8x16.b6x16_p32") break; \
    case TmemDecompression::b4x16_p64: SM100_CP_OF_SHAPE(group, ".b8x16.b4x16_p64") break; \
  }

SM100_KERNEL void cp_cta_group_1(TmemCopyShape shape, TmemDecompression decompression, uint32_t to,
                                 uint64_t source) {
  SM100_CP_OF_FORMAT("1");
}
SM100_KERNEL void cp_cta_group_2(TmemCopyShape shape, TmemDecompression decompression, uint32_t to,
                                 uint64_t source) {
  SM100_CP_OF_FORMAT("2");
}

#undef SM100_CP
#undef SM100_CP_OF_SHAPE
#undef SM100_CP_OF_FORMAT

}  // namespace sm100::device
