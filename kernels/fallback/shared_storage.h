// SPDX-License-Identifier: Apache-2.0
/// Shared memory of the fallback kernel and the table of its barriers.  Tiles are 1024-byte aligned: UMMA
/// descriptors with base offset 0 need whole 128B-swizzle atoms.
#pragma once

#include "kernels/fallback/config.h"
#include "kernels/pipeline/barrier_array.h"

namespace sm100 {

struct FallbackStorage {
  SmemAddr a_tile, b_tile;
  SmemAddr tma;  ///< mbarrier: the tiles of a k step have arrived
  SmemAddr mma;  ///< mbarrier: the MMAs of a k step have finished
  SmemAddr tmem_address;
  uint32_t end = 0;  ///< first address past the storage
};

/// @param base  start of the CTA's dynamic shared memory
template <class C>
SM100_HD constexpr FallbackStorage fallback_storage(const C& c, SmemAddr base = {kSmemUserBase}) {
  SmemLayout layout{base.value};
  FallbackStorage s;
  s.a_tile = layout.take(fallback_a_tile_bytes(c), 1024);
  s.b_tile = layout.take(fallback_b_tile_bytes(c), 1024);
  s.tma = layout.take_barriers(1);
  s.mma = layout.take_barriers(1);
  s.tmem_address = layout.take(4, 4);
  s.end = layout.next;
  return s;
}

/// Dynamic shared memory of a CTA in bytes.
template <class C>
SM100_HD constexpr uint32_t fallback_storage_bytes(const C& c) {
  return fallback_storage(c).end - kSmemUserBase;
}

/// Calls f(BarrierArray) for every array, in the order of their initialisation.
template <class F>
SM100_HD constexpr void for_each_barrier_array(const FallbackStorage& s, F&& f) {
  f(BarrierArray{"tma", s.tma, 1, 1, "warp", "mbarrier.arrive.expect_tx", "warp"});
  f(BarrierArray{"mma", s.mma, 1, 1, "warp", "tcgen05.commit", "warp"});
}

}  // namespace sm100
