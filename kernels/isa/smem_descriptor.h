// SPDX-License-Identifier: Apache-2.0
/// The 64-bit shared-memory (matrix) descriptor of tcgen05.mma and .cp, and the operand layouts it names.
/// Source: PTX 9.7.16 "Shared memory descriptor" (checked against CuTe).
///
///   13:0 start>>4   29:16 LBO>>4   45:32 SBO>>4   48:46 version 0b001   51:49 base offset   52 LBO absolute
///   63:61 swizzle   (15:14, 31:30 and 60:53 reserved)
/// Not modelled: base offset other than 0 and the absolute LBO mode (sm_103a).
#pragma once

#include "kernels/isa/address.h"
#include "kernels/isa/swizzle.h"

namespace sm100 {

inline constexpr uint32_t kDescriptorWindowMask = (1u << 18) - 1;  ///< descriptors see a 256 KiB window
inline constexpr uint32_t kSmemDescriptorVersion = 1;              ///< Hopper's wgmma descriptors have 0

struct SmemDescriptor {
  uint64_t bits = 0;
  constexpr bool operator==(const SmemDescriptor&) const = default;
};

struct SmemDescriptorFields {
  uint32_t start_address = 0;        ///< bytes
  uint32_t leading_byte_offset = 0;  ///< bytes
  uint32_t stride_byte_offset = 0;   ///< bytes
  uint32_t base_offset = 0;
  bool lbo_absolute = false;
  uint32_t version = 0;
  uint32_t reserved = 0;  ///< nonzero if any reserved bit is set
  uint32_t swizzle_code = 0;
};

enum class SmemDescriptorError : uint8_t { none, version, reserved_bits, swizzle_code, lbo_absolute, base_offset };

SM100_HD constexpr const char* message(SmemDescriptorError error) {
  switch (error) {
    case SmemDescriptorError::none: return "ok";
    case SmemDescriptorError::version: return "bits 48:46 must be 0b001 on sm_100 (wgmma descriptors have 0)";
    case SmemDescriptorError::reserved_bits: return "bits 15:14, 31:30 and 60:53 must be 0";
    case SmemDescriptorError::swizzle_code:
      return "swizzle (bits 63:61) must be 0 none, 1 128B with 32B atoms, 2 128B, 4 64B or 6 32B";
    case SmemDescriptorError::lbo_absolute: return "bit 52 (absolute LBO) must be 0: that mode is sm_103a only";
    case SmemDescriptorError::base_offset:
      return "base offset (bits 51:49) must be 0: align the tile to the swizzle repeat (other values not "
             "modelled)";
  }
  return "?";
}

/// Code of bits 63:61.  128B with 64-byte atoms has none: the invalid 3 makes validate() report it.
SM100_HD constexpr uint32_t code_of_swizzle(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none: return 0;
    case Swizzle::b128_atom_32b: return 1;
    case Swizzle::b128: return 2;
    case Swizzle::b64: return 4;
    case Swizzle::b32: return 6;
    case Swizzle::b128_atom_64b: return 3;
  }
  return 3;
}

SM100_HD constexpr bool is_swizzle_code(uint32_t code) {
  return code == 0 || code == 1 || code == 2 || code == 4 || code == 6;
}

/// Only for codes that validate() accepts; the invalid 3, 5 and 7 read as none.
SM100_HD constexpr Swizzle swizzle_of_code(uint32_t code) {
  switch (code) {
    case 1: return Swizzle::b128_atom_32b;
    case 2: return Swizzle::b128;
    case 4: return Swizzle::b64;
    case 6: return Swizzle::b32;
    default: return Swizzle::none;
  }
}

/// Offsets in bytes, multiples of 16.  The CTA rank in `start` is dropped: each CTA of a pair reads its own
/// memory.
SM100_HD constexpr SmemDescriptor make_smem_descriptor(SmemAddr start, uint32_t lbo, uint32_t sbo,
                                                       Swizzle swizzle) {
  return {uint64_t{(start.value & kDescriptorWindowMask) >> 4} |
          uint64_t{(lbo & kDescriptorWindowMask) >> 4} << 16 | uint64_t{(sbo & kDescriptorWindowMask) >> 4} << 32 |
          uint64_t{kSmemDescriptorVersion} << 46 | uint64_t{code_of_swizzle(swizzle)} << 61};
}

SM100_HD constexpr SmemDescriptorFields decode(SmemDescriptor descriptor) {
  const uint64_t b = descriptor.bits;
  SmemDescriptorFields f;
  f.start_address = (static_cast<uint32_t>(b) & 0x3fff) << 4;
  f.leading_byte_offset = (static_cast<uint32_t>(b >> 16) & 0x3fff) << 4;
  f.stride_byte_offset = (static_cast<uint32_t>(b >> 32) & 0x3fff) << 4;
  f.version = static_cast<uint32_t>(b >> 46) & 7;
  f.base_offset = static_cast<uint32_t>(b >> 49) & 7;
  f.lbo_absolute = (b >> 52 & 1) != 0;
  f.reserved = (static_cast<uint32_t>(b >> 14) & 3) | (static_cast<uint32_t>(b >> 30) & 3) << 2 |
               (static_cast<uint32_t>(b >> 53) & 0xff) << 4;
  f.swizzle_code = static_cast<uint32_t>(b >> 61);
  return f;
}

SM100_HD constexpr SmemDescriptorError validate(const SmemDescriptorFields& f) {
  if (f.version != kSmemDescriptorVersion) return SmemDescriptorError::version;
  if (f.reserved != 0) return SmemDescriptorError::reserved_bits;
  if (!is_swizzle_code(f.swizzle_code)) return SmemDescriptorError::swizzle_code;
  if (f.lbo_absolute) return SmemDescriptorError::lbo_absolute;
  if (f.base_offset != 0) return SmemDescriptorError::base_offset;
  return SmemDescriptorError::none;
}

/// Steps along K (or to another stage): adds to the start field.  A plain add, as kernels do; running past
/// the 256 KiB window sets a reserved bit, which validate() reports.
SM100_HD constexpr SmemDescriptor advance(SmemDescriptor descriptor, uint32_t bytes) {
  return {descriptor.bits + (bytes >> 4)};
}

/// Which index runs along contiguous memory.
enum class Major : uint8_t { k, mn };

/// May this swizzle hold this operand, and do we know its layout?  MN-major: 32-bit elements take the
/// 32-byte-atom swizzle and nothing else does (PTX 9.7.16).  K-major with that swizzle is legal PTX, but its
/// row grouping is not stated anywhere, so it is rejected.
SM100_HD constexpr bool operand_layout_modelled(const SmemDescriptorFields& f, Major major,
                                                uint32_t element_bytes) {
  const bool atom_32b = swizzle_of_code(f.swizzle_code) == Swizzle::b128_atom_32b;
  return major == Major::k ? !atom_32b : atom_32b == (element_bytes == 4);
}

/// Byte address (18-bit window) of element (i along M or N, k).  For packed nibbles pass bytes as elements:
/// element_bytes 1 and k / 2.
SM100_HD constexpr uint32_t operand_address(const SmemDescriptorFields& f, Major major, uint32_t element_bytes,
                                            uint32_t i, uint32_t k) {
  const Swizzle swizzle = swizzle_of_code(f.swizzle_code);
  const uint32_t span = swizzle == Swizzle::none ? 16 : swizzle_span_bytes(swizzle);
  const uint32_t lbo = f.leading_byte_offset, sbo = f.stride_byte_offset;
  uint32_t offset = 0;
  if (major == Major::k) {
    const uint32_t along = k * element_bytes;
    offset = i / 8 * sbo + i % 8 * span;
    // Without swizzle K advances by core matrices of 16 bytes; with it K runs inside the span.  Where a row is
    // longer (64 bytes of B of a sparse product in the 32-byte swizzle) it goes on LBO further on, as in an H200's
    // wgmma.
    offset += along / span * lbo + along % span;
  } else {
    const uint32_t along = i * element_bytes;
    const uint32_t rows = swizzle == Swizzle::b128_atom_32b ? 4 : 8;  // K rows of one pattern
    // The two offsets swap their meaning: without swizzle SBO steps along MN, with swizzle LBO does.
    const uint32_t mn_step = swizzle == Swizzle::none ? sbo : lbo;
    const uint32_t k_step = swizzle == Swizzle::none ? lbo : sbo;
    offset = along / span * mn_step + along % span + k / rows * k_step + k % rows * span;
  }
  return swizzle_address(swizzle, (f.start_address + offset) & kDescriptorWindowMask);
}

}  // namespace sm100
