// SPDX-License-Identifier: Apache-2.0
/// Load warp: fills the input ring with the tiles of each work tile; and what the dense matmul fills it with.
#pragma once

#include "kernels/matmul/cluster_share.h"
#include "kernels/matmul/config.h"
#include "kernels/matmul/params.h"
#include "kernels/pipeline/input_ring.h"
#include "kernels/scheduler/work_iterator.h"

namespace sm100 {

/// What a stage is filled with.
template <class T, class I, class R, class Tile>
concept TileLoader = requires(const T& loader, I& isa, const typename R::Stage& stage, const Tile& tile, int k) {
  { loader.arms() } -> std::same_as<bool>;  // this CTA announces the bytes of the stage
  loader.load(isa, stage, tile, k);         // copies of the k tiles k ... of a stage; one lane
};

/// A and B, with the maps `a` and `b` of Params.  CTAs that share a tile load a slice of it each, for all of them.
template <class Config, class Params = MatmulParams>
class OperandLoader {
 public:
  SM100_HD OperandLoader(const Config& cfg, const Params& params, const ClusterPlace& place)
      : cfg_(cfg), params_(params), place_(place) {}

  /// The bytes of both CTAs of a pair count on the leader's barrier.
  SM100_HD bool arms() const { return place_.leads(); }

  template <Isa I, class Stage>
  SM100_KERNEL void load(I& isa, const Stage& stage, const WorkTile& tile, int k_tile) const {
    const SmemAddr barrier = leader_address(cfg_, stage.full());
    const int a_row = tile.m * block_m(cfg_), b_row = tile.n * cfg_.mma_n + place_.half * block_n(cfg_);
    for (int j = 0; j < cfg_.k_group_size; ++j) {
      const int k = (k_tile + j) * a_tile(cfg_).columns;
      load_slice(isa, stage.a(j), a_share(cfg_, place_), map_of(params_.a), {k, a_row}, barrier);
      load_slice(isa, stage.b(j), b_share(cfg_, place_), map_of(params_.b), {k, b_row}, barrier);
    }
  }

 private:
  template <Isa I, class Map>
  SM100_KERNEL void load_slice(I& isa, const SmemTile& tile, const TileShare& share, Map map,
                               TensorCoords<2> corner, SmemAddr barrier, Loc loc = Loc::current()) const {
    const SmemTile slice = tile.slice(share.index, share.sharers);
    const TensorCoords coords{corner.c[0], corner.c[1] + share.index * slice.shape.rows};
    if (share.sharers > 1)
      isa.cp_async_bulk_tensor_shared_global_multicast(slice.base, map, coords, barrier, share.receivers,
                                                       cfg_.cta_group, loc);
    else
      isa.cp_async_bulk_tensor_shared_global(slice.base, map, coords, barrier, cfg_.cta_group, loc);
  }

  const Config& cfg_;
  const Params& params_;
  ClusterPlace place_;
};

template <Isa I, class Config, class Ring, class Scheduler, TileLoader<I, Ring, TileOf<Scheduler>> Loader>
SM100_KERNEL void load_warp(I& isa, const Config& cfg, Ring ring, Loader&& loader, Scheduler& scheduler) {
  if (cfg.pdl)
    isa.griddepcontrol_wait();  // the kernel ahead may still write A and B; all else follows from our loads
  // next() fetches only after the work: the scheduler asks for the next tile once this one has begun.
  for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) {
    const auto& tile = begun(isa, loader, work.current());
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    work.throttle_signal();  // lets the scheduler ask for the next tile
    for (int k = tile.k_begin; k < tile.k_end(); k += cfg.k_group_size) {
      const auto stage = ring.producer_acquire();
      TraceSpan span{
          isa, TraceEvent::load_issue, {.stage = stage.index, .tile_m = tile.m, .tile_n = tile.n, .k = k}};
      isa.elected([&] {
        if (loader.arms()) ring.arm(stage);  // once, before its copies
        loader.load(isa, stage, tile, k);
      });
      ring.producer_step();
    }
    isa.bar_warp_sync();
  }
  ring.producer_drain();  // commits may still be on their way to our barriers: do not exit yet
}

}  // namespace sm100
