// SPDX-License-Identifier: Apache-2.0
/// The operands of wgmma_sparse.cu --products, on the GPU and in tests/models/test_wgmma_sparse.cpp: words that are
/// made of a tile's number and their own, and how A and B lie among those of shared memory.
#pragma once

#include <cstdint>

#include "bench/hardware/mma_sync_words.h"
#include "kernels/isa/wgmma.h"

namespace sm100::bench {

inline constexpr uint32_t kWgmmaTiles = 64;
inline constexpr uint32_t kWgmmaA = 0, kWgmmaB = 8192;  ///< bytes from a multiple of 1024
inline constexpr uint32_t kWgmmaSmemWords = 40 * 1024 / 4;

/// How an operand lies: major, swizzle.
enum class WgmmaLayout : uint8_t { k_128, k_64, k_32, k_none, mn_128, mn_none };

/// Metadata: as PTX defines them, in either order, or any bits.
enum class WgmmaMetadata : uint8_t { defined, any_order, any_bits };

SM100_HD constexpr bool is_mn_major(WgmmaLayout layout) {
  return layout == WgmmaLayout::mn_128 || layout == WgmmaLayout::mn_none;
}

/// @param start      a multiple of 1024
/// @param rows       of A or B
/// @param row_bytes  along K
SM100_HD constexpr SmemDescriptor wgmma_descriptor(WgmmaLayout layout, SmemAddr start, int rows, int row_bytes) {
  constexpr uint32_t kNoStep = 16;
  // MN-major: elements of two bytes, eight rows of K in a pattern
  const uint32_t patterns = uint32_t(row_bytes) / 2 / 8;
  switch (layout) {
    case WgmmaLayout::k_128: return make_wgmma_descriptor(start, kNoStep, 1024, Swizzle::b128);
    case WgmmaLayout::k_64: return make_wgmma_descriptor(start, kNoStep, 512, Swizzle::b64);
    case WgmmaLayout::k_32: return make_wgmma_descriptor(start, 2048, 256, Swizzle::b32);
    case WgmmaLayout::k_none: return make_wgmma_descriptor(start, uint32_t(rows) * 16, 128, Swizzle::none);
    case WgmmaLayout::mn_128: return make_wgmma_descriptor(start, patterns * 1024, 1024, Swizzle::b128);
    default: return make_wgmma_descriptor(start, 128, patterns * 128, Swizzle::none);
  }
}

struct WgmmaWords : MmaSyncWords {
  SM100_HD WgmmaWords(uint32_t tile, uint32_t number) : MmaSyncWords(tile, number) {
    any = tile >= kWgmmaTiles * 7 / 8;
  }
  /// Of one thread: A and D in registers, metadata.
  SM100_HD static WgmmaWords of_thread(uint32_t tile, uint32_t thread) { return {tile, kWgmmaSmemWords + thread}; }
  /// A thread's, whether they count or not.
  SM100_HD uint32_t sparsity(WgmmaMetadata kind, bool tf32) {
    if (kind == WgmmaMetadata::any_bits) return word(MmaSyncWord::bits);
    return metadata(tf32                               ? MmaSyncMetadata::tf32
                    : kind == WgmmaMetadata::any_order ? MmaSyncMetadata::any_order
                                                       : MmaSyncMetadata::ordered);
  }
};

}  // namespace sm100::bench
