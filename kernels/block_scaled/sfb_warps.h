// SPDX-License-Identifier: Apache-2.0
/// Scales of B for tiles of less than 64 columns: one warp loads them to shared memory, four store them to tensor
/// memory.
///
/// tcgen05.cp moves whole atoms, and an MMA finds the scales of a tile that begins inside an atom some columns
/// further: whole columns of 32 rows, an even number of them.  Tiles of 8 to 56 columns begin elsewhere.  So four
/// warps read the cells of the tile's rows with ld.shared, wherever in the atoms they lie, and write them with
/// tcgen05.st to where an MMA looks for rows 0, 1, 2 ...; each warp to its quarter of the lanes, because an MMA
/// wants a copy in each.
///
///   sfb_full, sfb_empty        SFB load warp to store warps: tiles of the ring stages' scales, in each CTA its own
///   scales_full, scales_empty  store warps (of a pair, of both CTAs) to the MMA warp: columns of tensor memory
///
/// A stage of either ring belongs to the input ring's stage of that number; their cursors step together.
#pragma once

#include "kernels/block_scaled/params.h"
#include "kernels/block_scaled/tiles.h"
#include "kernels/matmul/named_barriers.h"
#include "kernels/matmul/rings.h"

namespace sm100 {

/// What a stage of the ring to the store warps holds.
struct SfbTiles {
  ScaleTileArray tiles;

  struct Stage {
    ScaleTile sfb;
  };
  SM100_HD constexpr Stage stage(int i) const { return {tiles[i]}; }
  SM100_HD constexpr uint32_t stage_bytes() const { return tiles.shape.bytes(); }
};

template <Isa I, class Config>
SM100_KERNEL InputRing<I, SfbTiles> sfb_ring(I& isa, const Config& cfg, const BlockScaledTiles& tiles) {
  return {isa, tiles.sfb, cfg.stages, {tiles.sfb_tiles}, Scope::cta};
}

/// Columns of tensor memory that warps store and MMAs read.
template <Isa I>
class StoredScaleRing : public ProducerConsumerPipeline<I> {
 public:
  using Base = ProducerConsumerPipeline<I>;

  SM100_HD StoredScaleRing(I& isa, RingBarriers barriers, int stages, int cta_group, CtaMask group)
      : Base(isa, barriers, stages, cta_group == 2 ? Scope::cluster : Scope::cta),
        cta_group_(cta_group),
        group_(group) {}

  /// Store warp: the MMAs that read the columns have finished.
  SM100_KERNEL int producer_acquire(Loc loc = Loc::current()) {
    const int stage = Base::producer_acquire(loc);
    this->isa_.tcgen05_fence_after_thread_sync();
    return stage;
  }
  /// Store warp, all 32 lanes: what it has stored is there.  Of a pair, both CTAs' threads tell the leader.
  SM100_KERNEL void producer_commit(int stage, Loc loc = Loc::current()) {
    this->isa_.tcgen05_wait_st(loc);
    this->isa_.tcgen05_fence_before_thread_sync();
    const SmemAddr own = this->full(stage);
    if (cta_group_ == 2)
      this->isa_.mbarrier_arrive(ClusterSmemAddr{own.value & ~(1u << kClusterRankShift)}, Scope::cluster, loc);
    else
      this->isa_.mbarrier_arrive(own, Scope::cta, loc);
  }
  /// MMA warp.
  SM100_KERNEL void consumer_wait(Loc loc = Loc::current()) {
    Base::consumer_wait(loc);
    this->isa_.tcgen05_fence_after_thread_sync();
  }
  /// MMA lane: once its MMAs so far have finished, in both CTAs of a pair.
  SM100_KERNEL void consumer_release(int stage, Loc loc = Loc::current()) {
    if (cta_group_ == 2)
      this->isa_.tcgen05_commit_multicast(2, this->empty(stage), group_, loc);
    else
      this->isa_.tcgen05_commit(1, this->empty(stage), loc);
  }

 private:
  int cta_group_;
  CtaMask group_;
};

template <Isa I, class Config>
SM100_KERNEL StoredScaleRing<I> stored_scale_ring(I& isa, const Config& cfg, const BlockScaledTiles& tiles,
                                                  const ClusterPlace& place) {
  return {isa, tiles.scales, cfg.stages, cfg.cta_group, group_mask(cfg, place)};
}

/// What the MMA warp waits for: a stage's tiles, and its scales of B where other warps store them.
template <Isa I, class Config, class Tiles>
class ScaledInputRing : public InputRing<I, Tiles> {
 public:
  using Base = InputRing<I, Tiles>;
  using Stage = typename Base::Stage;

  SM100_HD ScaledInputRing(const Config& cfg, const Base& input, const StoredScaleRing<I>& scales)
      : Base(input), cfg_(cfg), scales_(scales) {}

  SM100_KERNEL Stage consumer_wait(Loc loc = Loc::current()) {
    const Stage stage = Base::consumer_wait(loc);
    if (stores_sfb(cfg_)) scales_.consumer_wait(loc);
    return stage;
  }
  SM100_KERNEL void consumer_release(const Stage& stage, Loc loc = Loc::current()) {
    Base::consumer_release(stage, loc);
    if (stores_sfb(cfg_)) scales_.consumer_release(stage.index, loc);
  }
  SM100_KERNEL void consumer_step(Loc loc = Loc::current()) {
    Base::consumer_step(loc);
    if (stores_sfb(cfg_)) scales_.consumer_step(loc);
  }

 private:
  const Config& cfg_;
  StoredScaleRing<I> scales_;
};

template <Isa I, BlockScaled Config, class Tiles>
SM100_KERNEL ScaledInputRing<I, Config, Tiles> mma_input(I& isa, const Config& cfg,
                                                         const MatmulStorage<Tiles>& smem,
                                                         const ClusterPlace& place) {
  return {cfg, input_ring(isa, cfg, smem, place), stored_scale_ring(isa, cfg, smem.tiles, place)};
}

/// The map of SFB that all tiles share.  A kernel whose tiles do not share one has a class of its own in this
/// place.
struct SharedSfbMap {
  const TensorMap& map;

  /// The whole warp, before a tile.
  template <Isa I>
  SM100_KERNEL void begin_tile(I&, const WorkTile&) const {}
  SM100_KERNEL const TensorMap* address() const { return &map; }
};

/// SFB load warp: the atoms that a tile's columns lie in.
template <Isa I, class Config, class SfbMap, class Scheduler>
SM100_KERNEL void sfb_load_warp(I& isa, const Config& cfg, InputRing<I, SfbTiles> ring, SfbMap sfb,
                                Scheduler& scheduler) {
  if (cfg.pdl) isa.griddepcontrol_wait();  // the kernel ahead may still write the scales
  for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) {
    const WorkTile& tile = work.current();
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    sfb.begin_tile(isa, tile);
    for (int k = tile.k_begin; k < tile.k_end(); ++k) {
      const auto stage = ring.producer_acquire();
      TraceSpan span{
          isa, TraceEvent::load_issue, {.stage = stage.index, .tile_m = tile.m, .tile_n = tile.n, .k = k}};
      isa.elected([&] {
        ring.arm(stage);
        isa.cp_async_bulk_tensor_shared_global(
            stage.sfb.base, sfb.address(),
            TensorCoords{0, k * scale_atoms_per_k_tile(cfg), tile.n * cfg.mma_n / kScaleAtomRows}, stage.full(),
            cfg.cta_group);
      });
      ring.producer_step();
    }
    isa.bar_warp_sync();
  }
  ring.producer_drain();
}

/// Cells of a tile's rows, from their places in the atoms to columns of tensor memory.  A lane has rows lane, lane
/// + 32 ...
/// @param first  the tile's first row in the atoms of `from`
/// @param to     the slot's first column in the warp's quarter
template <int COLUMNS, Isa I>
SM100_KERNEL void store_sfb(I& isa, const ScaleTile& from, int first, const ScaleShape& slot, TmemAddr to,
                            Loc loc = Loc::current()) {
  const auto rows = uint32_t(from.shape.groups * kScaleAtomRows);  // behind the tile's last one any will do
  for (int k_atom = 0; k_atom < from.shape.k_atoms; ++k_atom) {
    LaneArray<uint32_t, COLUMNS> cells;
    for (int c = 0; c < COLUMNS; ++c) {
      LaneArray<SmemAddr, 1> at;
      isa.for_each_lane(lane_cost::kScaleCell, [&](int lane) {
        const uint32_t row = uint32_t(first + c * kScaleColumnRows + lane) % rows;
        at(lane) = from.atom(int(row / kScaleAtomRows), k_atom) + scale_offset_in_atom(row % kScaleAtomRows);
      });
      const LaneArray<uint32_t, 1> cell = isa.ld_shared_b32(at, loc);
      isa.for_each_lane(0, [&](int lane) { cells[lane][c] = cell(lane); });
    }
    isa.tcgen05_st_32x32b(to.plus_columns(slot.column(0, k_atom)), cells, loc);
  }
}

/// The four store warps.
template <Isa I, class Config, class Storage, class Scheduler>
SM100_KERNEL void sfb_store_warp(I& isa, const Config& cfg, const Storage& smem, const ClusterPlace& place,
                                 Scheduler& scheduler) {
  isa.bar_sync(kTmemAddressBarrier, tmem_address_threads(cfg));
  isa.tcgen05_fence_after_thread_sync();
  const TmemAddr tmem{isa.ld_shared_u32(smem.tmem_address)};
  const TmemAddr quarter = tmem.plus_lanes(uint32_t(sfb_store_group().index(isa) * kWarpLanes));
  auto loaded = sfb_ring(isa, cfg, smem.tiles);
  auto stored = stored_scale_ring(isa, cfg, smem.tiles, place);

  for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) {
    const WorkTile& tile = work.current();
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    const int first = tile.n * cfg.mma_n % kScaleAtomRows;
    for (int k = tile.k_begin; k < tile.k_end(); ++k) {
      const auto from = loaded.consumer_wait();
      const int slot = stored.producer_acquire();
      const TmemAddr to = quarter.plus_columns(sfb_column(cfg, slot));
      if (cfg.mma_n > kScaleColumnRows)
        store_sfb<2>(isa, from.sfb, first, sfb_slot(cfg), to);
      else
        store_sfb<1>(isa, from.sfb, first, sfb_slot(cfg), to);
      isa.fence_proxy_async_shared_cta();  // TMA writes next where we have read
      loaded.consumer_arrive(from, 1);
      loaded.consumer_step();
      stored.producer_commit(slot);
      stored.producer_step();
    }
  }
  stored.producer_drain();  // commits may still be on their way to our barriers
}

}  // namespace sm100
