// SPDX-License-Identifier: Apache-2.0
/// Shared-memory swizzles of TMA and UMMA: an XOR on the absolute byte address.
/// Source: PTX 5.5.6 (swizzling modes), 9.7.16 (matrix descriptor).
/// Not here: 128B_ATOM_32B_FLIP_8B (which rows flip is only in a figure) and 96B (sm_103a).
#pragma once

#include "kernels/isa/portability.h"

namespace sm100 {

enum class Swizzle : uint8_t { none, b32, b64, b128, b128_atom_32b, b128_atom_64b };

/// Where the byte of the unswizzled layout at `byte_address` really is.  Its own inverse.  Only bits 9:7 are
/// read and bits 6:4 changed, so rank bits and the position of a 1 KiB block do not matter.
SM100_HD constexpr uint32_t swizzle_address(Swizzle swizzle, uint32_t byte_address) {
  const uint32_t row = byte_address >> 7;
  switch (swizzle) {
    case Swizzle::none: break;
    case Swizzle::b32: return byte_address ^ (row & 1) << 4;
    case Swizzle::b64: return byte_address ^ (row & 3) << 4;
    case Swizzle::b128: return byte_address ^ (row & 7) << 4;
    case Swizzle::b128_atom_32b: return byte_address ^ (row & 3) << 5;
    case Swizzle::b128_atom_64b: return byte_address ^ (row & 1) << 6;
  }
  return byte_address;
}

/// Bytes of one row of the pattern, 0 without swizzle: the largest inner box, and the row pitch in shared
/// memory.
SM100_HD constexpr uint32_t swizzle_span_bytes(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none: return 0;
    case Swizzle::b32: return 32;
    case Swizzle::b64: return 64;
    default: return 128;
  }
}

/// Bytes after which the pattern repeats: the alignment that puts its phase 0 at a tile's start.
SM100_HD constexpr uint32_t swizzle_repeat_bytes(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none: return 16;
    case Swizzle::b32: return 256;
    case Swizzle::b64: return 512;
    case Swizzle::b128: return 1024;
    case Swizzle::b128_atom_32b: return 512;
    case Swizzle::b128_atom_64b: return 256;
  }
  return 16;
}

}  // namespace sm100
