// SPDX-License-Identifier: Apache-2.0
/// wgmma.mma_async of sm_90a as a value: forms, fragments in registers, descriptors (PTX, Asynchronous warpgroup
/// level matrix instructions).  M is 64, and a row of A has 32 bytes along K, whatever the types.
///
/// Thread t of the warpgroup, w = t / 32, l = t % 32:
///   D, register r of 32 bits   row 16 w + l / 4 + 8 (r >> 1 & 1), column 8 (r >> 2) + 2 (l % 4) + (r & 1);
///                              of an f16 D the two halves of register r are r' = 2 r and 2 r + 1
///   A, register r of four      row 16 w + l / 4 + 8 (r & 1), bytes 4 (l % 4) + 16 (r >> 1) ... of the 32 along K
/// Both as measured on an H200, all threads and N.
///
/// Sparse A (.sp): the 32 bytes are half of the elements of a K twice as long, of which B has 64 bytes a row.  Each
/// warp has metadata for its 16 rows, four bits for each chunk of K: of tf32 one of two elements is given (0b0100
/// the first, 0b1110 the second), else two of four, by their places.  Chunk c of row r of the warp:
///   tf32, f16, bf16    lane 4 (r % 8) + 2 selector + c / 4, bits 16 (r / 8) + 4 (c % 4) and on
///   8 bits             lane 4 (r % 8) + r / 8 + 2 (c / 8), bits 4 (c % 8) and on
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
  bool sparse = false;    ///< .sp
  int selector = 0;       ///< its sparsity selector: whose metadata count
  constexpr bool operator==(const WgmmaForm&) const = default;
};

/// Elements of a row of A: the products of a sum.
SM100_HD constexpr int wgmma_terms(const WgmmaForm& form) { return 32 * 8 / element_bits(form.a); }
SM100_HD constexpr int wgmma_k(const WgmmaForm& form) { return wgmma_terms(form) * (form.sparse ? 2 : 1); }
/// Bytes along K of a row of A, or of B.
constexpr uint32_t wgmma_row_bytes(const WgmmaForm& form, bool a) { return form.sparse && !a ? 64 : 32; }
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

/// Sparse A: elements of K that four bits of metadata are for, and values that the sparsity selector may have.
constexpr int wgmma_chunk(const WgmmaForm& form) { return form.a == DataType::tf32 ? 2 : 4; }
constexpr int wgmma_selectors(const WgmmaForm& form) { return element_bits(form.a) == 8 ? 1 : 2; }

struct WgmmaMetadataBits {
  int lane, shift;
};
/// Where the four bits of a chunk are.
/// @param row  of the warp's 16
constexpr WgmmaMetadataBits wgmma_metadata_bits(const WgmmaForm& form, int row, int chunk) {
  const int first = 4 * (row % 8), upper = row / 8;
  if (element_bits(form.a) == 8) return {first + upper + 2 * (chunk / 8), 4 * (chunk % 8)};
  return {first + 2 * form.selector + chunk / 4, 16 * upper + 4 * (chunk % 4)};
}

/// Whether PTX has the instruction: its types, N and sparsity selector.
constexpr bool is_wgmma_form(const WgmmaForm& f) {
  const auto is_fp8 = [](DataType type) { return type == DataType::e4m3 || type == DataType::e5m2; };
  const auto is_integer = [](DataType type) { return type == DataType::s8 || type == DataType::u8; };
  if (f.n < 8 || f.n > 256 || f.n % 8 != 0) return false;
  if (f.selector < 0 || f.selector >= (f.sparse ? wgmma_selectors(f) : 1)) return false;
  const bool k_major = f.a_major == Major::k && f.b_major == Major::k;
  if (is_integer(f.a))
    return is_integer(f.b) && f.d == WgmmaD::s32 && (f.n <= 32 || f.n % 16 == 0) && k_major && !f.negate_a &&
           !f.negate_b;
  if (f.saturate) return false;
  if (is_fp8(f.a)) return is_fp8(f.b) && f.d != WgmmaD::s32 && k_major;
  if (f.a != f.b) return false;
  if (f.a == DataType::f16) return f.d != WgmmaD::s32;
  return (f.a == DataType::bf16 || (f.a == DataType::tf32 && k_major)) && f.d == WgmmaD::f32;
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
