// SPDX-License-Identifier: Apache-2.0
/// wgmma.mma_async of sm_90a as a value: forms, fragments in registers, descriptors (PTX, Asynchronous warpgroup
/// level matrix instructions).  M is 64 and K is 32 bytes, whatever the types.
///
/// Thread t of the warpgroup, w = t / 32, l = t % 32:
///   D, register r of 32 bits   row 16 w + l / 4 + 8 (r >> 1 & 1), column 8 (r >> 2) + 2 (l % 4) + (r & 1);
///                              of an f16 D the two halves of register r are r' = 2 r and 2 r + 1
///   A, register r of four      row 16 w + l / 4 + 8 (r & 1), bytes 4 (l % 4) + 16 (r >> 1) ... of the 32 along K
/// Both as measured on an H200, all threads and N.
#pragma once

#include "kernels/isa/instr_descriptor.h"
#include "kernels/isa/smem_descriptor.h"

namespace sm100 {

inline constexpr int kWgmmaM = 64;
inline constexpr int kWarpgroupWarps = 4;
inline constexpr int kWgmmaARegisters = 4;  ///< of a thread, where A lies in registers

enum class WgmmaD : uint8_t { f32, f16, s32 };

struct WgmmaForm {
  int n = 8;
  DataType a = DataType::bf16, b = DataType::bf16;
  WgmmaD d = WgmmaD::f32;
  bool a_in_registers = false;
  Major a_major = Major::k, b_major = Major::k;
  bool negate_a = false, negate_b = false;
  bool saturate = false;  ///< .satfinite of integers
  constexpr bool operator==(const WgmmaForm&) const = default;
};

SM100_HD constexpr int wgmma_k(const WgmmaForm& form) { return 32 * 8 / element_bits(form.a); }
/// Registers of a thread that D takes.
SM100_HD constexpr int wgmma_d_registers(const WgmmaForm& form) {
  return form.d == WgmmaD::f16 ? form.n / 4 : form.n / 2;
}

struct WgmmaCell {
  int row, column;
};
/// Of a 32-bit D, or of half r' of an f16 one.
constexpr WgmmaCell wgmma_d_cell(int warp, int lane, int r) {
  return {16 * warp + lane / 4 + 8 * (r >> 1 & 1), 8 * (r >> 2) + 2 * (lane % 4) + (r & 1)};
}
/// Row of A and first of the four bytes along K that a register holds.
constexpr WgmmaCell wgmma_a_cell(int warp, int lane, int r) {
  return {16 * warp + lane / 4 + 8 * (r & 1), 4 * (lane % 4) + 16 * (r >> 1)};
}

/// A descriptor for wgmma.  Offsets in bytes, multiples of 16; the CTA's rank in `start` is dropped.
SM100_HD constexpr SmemDescriptor make_wgmma_descriptor(SmemAddr start, uint32_t lbo, uint32_t sbo,
                                                        Swizzle swizzle) {
  const uint64_t code = swizzle == Swizzle::b128  ? 1
                        : swizzle == Swizzle::b64 ? 2
                        : swizzle == Swizzle::b32 ? 3
                                                  : 0;
  return {uint64_t{(start.value & kDescriptorWindowMask) >> 4} |
          uint64_t{(lbo & kDescriptorWindowMask) >> 4} << 16 | uint64_t{(sbo & kDescriptorWindowMask) >> 4} << 32 |
          code << 62};
}

/// A Hopper descriptor has its swizzle in bits 63:62 (0 none, 1 128B, 2 64B, 3 32B).  Bits 15:14, 31:30, 48:46 and
/// 61:52 are ignored, as measured on an H200.
constexpr SmemDescriptorFields decode_wgmma(SmemDescriptor descriptor) {
  constexpr uint32_t kCodes[] = {code_of_swizzle(Swizzle::none), code_of_swizzle(Swizzle::b128),
                                 code_of_swizzle(Swizzle::b64), code_of_swizzle(Swizzle::b32)};
  SmemDescriptorFields f = decode(descriptor);
  f.swizzle_code = kCodes[descriptor.bits >> 62];
  f.version = f.reserved = 0, f.lbo_absolute = false;
  return f;
}

}  // namespace sm100
