// SPDX-License-Identifier: Apache-2.0
/// Places a kernel's arrays in its dynamic shared memory, one after the other, and describes the barriers among
/// them.
///
/// A kernel's storage is a struct of addresses with a function
///
///   template <class C, class Layout> static constexpr void place(Storage& s, const C& c, Layout& layout);
///
/// that declares its members in their order: `layout.barriers(s.full, {.name = "full", ...})`.  One declaration
/// both places an array of mbarriers and is its row of the barrier table: storage_at() gives the addresses,
/// for_each_barrier_array() the rows.
#pragma once

#include "kernels/isa/address.h"
#include "kernels/pipeline/barrier_array.h"
#include "kernels/pipeline/smem_tile.h"

namespace sm100 {

inline constexpr int kSmemBudgetBytes = 232448;  ///< 227 KiB: the most dynamic shared memory a CTA can have

/// `next` carries the CTA's rank in its upper bits, as the addresses that it hands out do.
struct SmemLayout {
  uint32_t next;

  /// @param alignment  bytes, a power of two
  SM100_HD constexpr SmemAddr take(uint32_t bytes, uint32_t alignment) {
    next = (next + alignment - 1) / alignment * alignment;
    const SmemAddr address{next};
    next += bytes;
    return address;
  }
  SM100_HD constexpr SmemAddr take_barriers(int n) { return take(8u * uint32_t(n), 8); }

  SM100_HD constexpr void bytes(SmemAddr& to, uint32_t n, uint32_t alignment) { to = take(n, alignment); }
  /// 1024-byte aligned: descriptors with base offset 0 need whole 128-byte-swizzle atoms.
  SM100_HD constexpr void tiles(TileArray& to, const TileShape& shape, int n) {
    to = {take(uint32_t(n) * shape.bytes(), 1024), shape};
  }
  SM100_HD constexpr void tile(SmemTile& to, const TileShape& shape) { to = {take(shape.bytes(), 1024), shape}; }
  SM100_HD constexpr void barriers(SmemAddr& to, const BarrierArray& row) { to = take_barriers(row.stages); }
};

/// Of a storage that has been placed: calls `each` with the row of every array of mbarriers.
template <class F>
struct BarrierRows {
  F& each;

  SM100_HD constexpr void bytes(SmemAddr&, uint32_t, uint32_t) {}
  SM100_HD constexpr void tiles(TileArray&, const TileShape&, int) {}
  SM100_HD constexpr void tile(SmemTile&, const TileShape&) {}
  SM100_HD constexpr void barriers(const SmemAddr& at, BarrierArray row) {
    row.base = at;
    each(row);
  }
};

/// @param base  start of the CTA's dynamic shared memory; carries the CTA's rank, as all its addresses do
template <class Storage, class C>
SM100_HD constexpr Storage storage_at(const C& c, SmemAddr base = {kSmemUserBase}) {
  SmemLayout layout{base.value};
  Storage storage{};
  Storage::place(storage, c, layout);
  storage.end = layout.next;
  return storage;
}
/// Dynamic shared memory of a CTA in bytes.
template <class Storage, class C>
SM100_HD constexpr uint32_t storage_bytes(const C& c) {
  return storage_at<Storage>(c).end - kSmemUserBase;
}
/// Calls f(BarrierArray) for every array of mbarriers, in the order in which they lie.
template <class C, class Storage, class F>
SM100_HD constexpr void for_each_barrier_array(const C& c, Storage storage, F&& f) {
  BarrierRows<F> rows{f};
  Storage::place(storage, c, rows);
}

}  // namespace sm100
