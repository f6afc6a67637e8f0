// SPDX-License-Identifier: Apache-2.0
/// Who loads, reads and releases what in a thread-block cluster.
///
/// CTA (x, y) of a cluster of CM x CN computes the tile of row block x and column block y.  The CTAs of a column
/// (same x) share a tile of A, those of a row (same y, and the same half of a CTA pair) a tile of B: each loads a
/// slice of either and multicasts it.  A pair (cta_group 2) is x, x xor 1; its even CTA leads: it alone issues the
/// MMAs, which read both CTAs' shared memory.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/matmul/config.h"

namespace sm100 {

/// Slices of a tile: one per CTA that shares it.
template <class C>
SM100_HD constexpr int a_sharers(const C& c) {
  return c.cluster_n;
}
template <class C>
SM100_HD constexpr int b_sharers(const C& c) {
  return c.cluster_m / c.cta_group;
}
/// Rows that one CTA loads: the boxes of the tensor maps.
template <class C>
SM100_HD constexpr int a_slice_rows(const C& c) {
  return block_m(c) / a_sharers(c);
}
template <class C>
SM100_HD constexpr int b_slice_rows(const C& c) {
  return block_n(c) / b_sharers(c);
}

/// A CTA's place in its cluster.
struct ClusterPlace {
  uint32_t rank = 0;
  int x = 0, y = 0;
  int half = 0;  ///< of the pair: 0 even, 1 odd; 0 for cta_group 1

  /// Its MMA warp issues MMAs.
  SM100_HD constexpr bool leads() const { return half == 0; }
  /// The first CTA owns the CLC ring and the throttle.
  SM100_HD constexpr bool first() const { return rank == 0; }
};

template <class C>
SM100_HD constexpr ClusterPlace cluster_place(const C& c, uint32_t rank) {
  const int x = int(rank) % c.cluster_m, y = int(rank) / c.cluster_m;
  return {rank, x, y, x % c.cta_group};
}

template <Isa I, class C>
SM100_KERNEL ClusterPlace own_place(I& isa, const C& c) {
  return cluster_place(c, isa.cluster_ctarank());
}

/// CTAs that receive our slice of A: our column of the cluster.
template <class C>
SM100_HD constexpr CtaMask a_mask(const C& c, const ClusterPlace& place) {
  uint32_t bits = 0;
  for (int i = 0; i < c.cluster_n; ++i) bits |= 1u << (i * c.cluster_m);
  return {uint16_t(bits << place.x)};
}
/// CTAs that receive our slice of B: those of our row with our half of their pair.
template <class C>
SM100_HD constexpr CtaMask b_mask(const C& c, const ClusterPlace& place) {
  uint32_t bits = 0;
  for (int i = 0; i < b_sharers(c); ++i) bits |= 1u << (i * c.cta_group);
  return {uint16_t(bits << (place.half + place.y * c.cluster_m))};
}

/// Our part of a tile that CTAs of the cluster share: each loads a slice of its rows.
struct TileShare {
  int index, sharers;  ///< slice `index` of `sharers`
  CtaMask receivers;
};
template <class C>
SM100_HD constexpr TileShare a_share(const C& c, const ClusterPlace& place) {
  return {place.y, a_sharers(c), a_mask(c, place)};
}
template <class C>
SM100_HD constexpr TileShare b_share(const C& c, const ClusterPlace& place) {
  return {place.x / c.cta_group, b_sharers(c), b_mask(c, place)};
}

/// CTAs whose load warps wait for the MMAs that a leader issues on a stage: they loaded into it, or it holds what
/// they loaded too.  Its row and its column; of a pair both columns.
template <class C>
SM100_HD constexpr CtaMask release_mask(const C& c, const ClusterPlace& place) {
  const uint32_t row = ((1u << c.cluster_m) - 1) << (place.y * c.cluster_m);
  uint32_t column = a_mask(c, place).bits;
  if (c.cta_group == 2) column |= a_mask(c, {place.rank ^ 1, place.x ^ 1, place.y, place.half ^ 1}).bits;
  return {uint16_t(row | column)};
}
/// The CTAs of the pair, or the CTA itself.
template <class C>
SM100_HD constexpr CtaMask group_mask(const C& c, const ClusterPlace& place) {
  const uint32_t own = 1u << place.rank;
  return {uint16_t(c.cta_group == 2 ? own | 1u << (place.rank ^ 1) : own)};
}

inline constexpr uint32_t kPeerBit = 1u << kClusterRankShift;  ///< of a shared address: which CTA of the pair

/// The same barrier in the leading CTA of the pair: CUTLASS's address & 0xFEFFFFFF.
template <class C>
SM100_HD constexpr SmemAddr leader_address(const C& c, SmemAddr address) {
  return c.cta_group == 2 ? SmemAddr{address.value & ~kPeerBit} : address;
}

}  // namespace sm100
