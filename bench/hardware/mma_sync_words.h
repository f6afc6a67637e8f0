// SPDX-License-Identifier: Apache-2.0
/// The operands of mma_sync.cu --products, on the GPU and in tests/models/test_mma_sync.cpp: words that a lane
/// makes of its number and its tile's.
#pragma once

#include <cstdint>

#include "kernels/isa/portability.h"

namespace sm100::bench {

inline constexpr uint32_t kMmaSyncTiles = 256;

/// What a register holds.
enum class MmaSyncWord : uint8_t { bits, f16x2, bf16x2, f32, fp8x4, f64 };

/// Metadata of mma.sp that PTX 9.7.14.6.1 defines, four bits each: indices that ascend, in either order, of tf32.
enum class MmaSyncMetadata : uint8_t { none, ordered, any_order, tf32 };

struct MmaSyncWords {
  uint32_t state;
  bool any;  ///< whatever the type: numbers of any size, infinities, NaN

  SM100_HD MmaSyncWords(uint32_t tile, uint32_t lane)
      : state(12345 + lane * 77 + tile * 7919), any(tile >= kMmaSyncTiles * 7 / 8) {}

  SM100_HD uint32_t next() {
    state = state * 1664525u + 1013904223u;
    return state >> 8 ^ state << 13;
  }
  /// A register of up to 32 bits, with numbers not far from 1, or any.
  SM100_HD uint32_t word(MmaSyncWord kind) {
    const uint32_t low = next(), high = next();
    const uint32_t bits = low ^ high << 16;
    if (any || kind == MmaSyncWord::bits) return bits;
    const uint32_t first = next(), second = next();
    switch (kind) {
      case MmaSyncWord::f32: return first % 16 == 0 ? 0 : (bits & 0x807fffff) | (117 + second % 20) << 23;
      case MmaSyncWord::bf16x2: return (bits & 0x807f807f) | (119 + first % 16) << 7 | (119 + second % 16) << 23;
      case MmaSyncWord::f16x2: return (bits & 0x83ff83ff) | (9 + first % 12) << 10 | (9 + second % 12) << 26;
      default: return bits & 0xbfbfbfbf;
    }
  }
  SM100_HD uint64_t f64() {
    const uint32_t low = next(), high = next(), exponent = next();
    return uint64_t{(high & 0x800fffff) | (1015 + exponent % 16) << 20} << 32 | low;
  }
  SM100_HD uint64_t draw(MmaSyncWord kind) { return kind == MmaSyncWord::f64 ? f64() : word(kind); }
  /// A lane's, whether it counts or not.
  SM100_HD uint32_t metadata(MmaSyncMetadata kind) {
    constexpr uint64_t kPairs = 0xb73621edc984, kTf32 = 0xe4;  // the ascending six are the last
    const uint32_t choices = kind == MmaSyncMetadata::tf32 ? 2 : kind == MmaSyncMetadata::ordered ? 6 : 12;
    uint32_t bits = 0;
    for (int i = 0; i < 32; i += 4) {
      const uint64_t all = kind == MmaSyncMetadata::tf32 ? kTf32 : kPairs;
      bits |= uint32_t(all >> 4 * (next() % choices) & 15) << i;
    }
    return bits;
  }
};

/// FNV-1a over the registers of D, by tile, lane and register.
struct MmaSyncHash {
  uint64_t value = 0xcbf29ce484222325u;
  SM100_HD void add(uint64_t word) { value = (value ^ word) * 0x100000001b3u; }
};

}  // namespace sm100::bench
