// SPDX-License-Identifier: Apache-2.0
/// The last accesses to one memory (a CTA's shared memory, or its tensor memory), by footprint.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "models/observer.h"
#include "sim/hazards/clocks.h"
#include "sim/hazards/footprints.h"

namespace sm100::sim {

enum class AccessKind : uint8_t {
  generic,        ///< ld.shared, st.shared, stmatrix
  cp_async,       ///< a thread's copy into shared memory, through the generic proxy, over some time later
  alloc_result,   ///< tcgen05.alloc's write to shared memory
  tensor_load,    ///< cp.async.bulk{.tensor} into shared memory
  tensor_store,   ///< its read of shared memory, in a bulk group
  bulk_source,    ///< its read of shared memory for another CTA's, over when the bytes are there
  async_store,    ///< st.async and red.async, through the generic proxy, some time later
  clc_response,   ///< written by the CLC unit
  mma_operand,    ///< A or B in shared memory, A in tensor memory
  accumulator,    ///< D of an MMA
  mma_scale,      ///< scale factors of an MMA, in tensor memory
  wgmma_operand,  ///< A or B of a wgmma, in shared memory
  copy_source,    ///< tcgen05.cp's read of shared memory
  copied,         ///< what it writes to tensor memory
  tmem_load,      ///< tcgen05.ld
  tmem_store,     ///< tcgen05.st
  tmem_dealloc,
  global,    ///< ld.global, st.global
  atomic,    ///< atom.global, red.global
  map_edit,  ///< a write to a tensor map in global memory
};

/// Accesses of threads, through the generic proxy, which are over with their instruction.
constexpr bool is_threads(AccessKind kind) {
  return kind == AccessKind::generic || kind == AccessKind::alloc_result;
}

/// Through the generic proxy: what a unit reads of it needs a fence.proxy.async.
constexpr bool is_generic(AccessKind kind) {
  return is_threads(kind) || kind == AccessKind::cp_async || kind == AccessKind::async_store;
}

/// Of the tensor core: MMAs and tcgen05.cp of one thread follow each other, and its commits cover them.
constexpr bool is_tensor_core(AccessKind kind) {
  return kind == AccessKind::mma_operand || kind == AccessKind::accumulator || kind == AccessKind::mma_scale ||
         kind == AccessKind::copy_source || kind == AccessKind::copied;
}

/// The warp that issued an access: what reports name of a models::Source.
struct Issuer {
  Loc loc{};
  int cta = -1;
  int8_t warp = -1, lane = -1;

  Issuer() = default;
  explicit Issuer(const models::Source& by) : loc(by.loc), cta(by.cta), warp(by.warp), lane(by.lane) {}
  models::Source source() const { return {.warp = warp, .lane = lane, .loc = loc, .cta = cta}; }
};

/// One access that later ones are compared with.  Kept small: what is compared often should share cache lines.
struct Access {
  AccessKind kind = AccessKind::generic;
  bool write = false;
  bool unfilled = false;  ///< a read of bytes that nothing had written, or begun to write, since the CTA's start
  bool linear = false;    ///< a copy without a tensor
  bool reduces = false;   ///< reductions of several threads need no order among them
  bool repeats = false;   ///< a store of the bytes that are there already
  bool strong = false;    ///< relaxed, volatile, acquire or release: it races with no other strong one
  Stamp over;             ///< when it is over
  uint32_t op = 0;        ///< of a copy or response: which; 0: none
  uint32_t barrier = 0;   ///< copies and responses: offset of the mbarrier they signal
  int32_t phase = -1;     ///< of that barrier that counts its bytes; -1: not yet
  uint32_t awaited = 0;   ///< tcgen05.ld: offset of the mbarrier that its warp has waited for last; 0: none
  Clock issued = 0;       ///< clock of the issuing warp's own component
  models::Cycles cycle = 0;
  Issuer by;
};

class Shadow {
 public:
  using Id = Footprints::Id;

  /// Calls conflict(earlier, set) for each remembered access that `ordered(earlier)` does not accept, where one of
  /// the two writes; then remembers this one.
  template <class Ordered, class Conflict>
  void access(const Footprints& sets, Id set, const Access& now, Ordered&& ordered, Conflict&& conflict) {
    if (cells_.size() < sets.size()) cells_.resize(sets.size());
    // MMAs that add to one accumulator write it again and again, and nothing else has been here since the last of
    // them, which was in order: what it was compared with is still the same, and known no less.
    if (now.write && last_ == LastWrite{set, now.over.component, now.kind}) {
      std::optional<Access>& write = cells_[set].write;
      if (ordered(*write)) {
        *write = now;
        return;
      }
    }
    last_ = {};
    bool in_order = true;
    // Readers first: who still reads says more than who wrote before them.
    if (now.write)
      for (const Footprints::Overlap& overlap : sets.overlaps(set))
        for (const Access& read : cells_[overlap.other].reads)
          if (!ordered(read)) in_order = false, conflict(read, overlap.other);
    bool filled = false;
    for (const Footprints::Overlap& overlap : sets.overlaps(set)) {
      Cell& cell = cells_[overlap.other];
      filled |= cell.write.has_value();
      if (cell.write && !ordered(*cell.write)) in_order = false, conflict(*cell.write, overlap.other);
      // Whatever is ordered after this write is ordered after what was ordered before it.
      if (now.write && overlap.covers) cell.write.reset(), cell.reads.clear();
    }
    Cell& own = cells_[set];
    if (now.write) {
      own.write = now;
      if (in_order && now.op == 0) last_ = {set, now.over.component, now.kind};
      return;
    }
    // Stamps of a component follow each other: the last stands for all.
    auto read = std::find_if(own.reads.begin(), own.reads.end(),
                             [&](const Access& r) { return r.over.component == now.over.component; });
    if (read == own.reads.end()) read = own.reads.insert(read, now);
    *read = now;
    read->unfilled = !filled;
  }

  /// The last writes of bytes of the set.
  template <class F>
  void for_each_write(const Footprints& sets, Id set, F&& f) const {
    for (const Footprints::Overlap& overlap : sets.overlaps(set))
      if (overlap.other < cells_.size() && cells_[overlap.other].write) f(*cells_[overlap.other].write);
  }

  /// Somebody has written bytes of the set, or has begun to.
  bool written(const Footprints& sets, Id set) const {
    for (const Footprints::Overlap& overlap : sets.overlaps(set))
      if (overlap.other < cells_.size() && cells_[overlap.other].write) return true;
    return false;
  }

  /// How many bytes of the set nobody has written or begun to write.
  uint32_t bytes_unwritten(const Footprints& sets, Id set) {
    if (set >= cells_.size()) return sets.bytes(set);
    Cell& cell = cells_[set];
    if (cell.all_written) return 0;
    const uint32_t left =
        sets.bytes_outside(set, [&](Id other) { return other < cells_.size() && cells_[other].write.has_value(); });
    cell.all_written = left == 0;
    return left;
  }

  /// The write of `op` to this set has landed.
  void landed(Id set, uint32_t op, Stamp over, int64_t phase) {
    if (set >= cells_.size() || !cells_[set].write || cells_[set].write->op != op) return;
    cells_[set].write->over = over;
    cells_[set].write->phase = int32_t(phase);
  }
  /// The same of a read.
  void read_landed(Id set, uint32_t op, Stamp over, int64_t phase) {
    if (set >= cells_.size()) return;
    for (Access& read : cells_[set].reads)
      if (read.op == op) read.over = over, read.phase = int32_t(phase);
  }

 private:
  struct Cell {
    std::optional<Access> write;
    std::vector<Access> reads;
    bool all_written = false;  ///< bytes_unwritten() was 0 once
  };
  /// The last access, if it was a write that found all in order and is no copy, of which bytes land later.
  struct LastWrite {
    Id set = UINT32_MAX;
    uint32_t component = 0;
    AccessKind kind = AccessKind::generic;
    bool operator==(const LastWrite&) const = default;
  };
  LastWrite last_;
  std::vector<Cell> cells_;  ///< by footprint
};

}  // namespace sm100::sim
