// SPDX-License-Identifier: Apache-2.0
/// Load warp: fills the input ring with the A and B tiles of each work tile.
#pragma once

#include "kernels/matmul/cluster_share.h"
#include "kernels/matmul/config.h"
#include "kernels/matmul/params.h"
#include "kernels/matmul/shared_storage.h"
#include "kernels/pipeline/input_ring.h"
#include "kernels/scheduler/tile_scheduler.h"

namespace sm100 {

/// Our slice of a tile, for all that share the tile.
template <Isa I, class Config>
SM100_KERNEL void load_slice(I& isa, const Config& cfg, SmemAddr tile, int slice, int slice_rows, int sharers,
                             CtaMask mask, const TensorMap* map, int k, int row, SmemAddr barrier,
                             Loc loc = Loc::current()) {
  // Slices of fewer than 8 rows begin inside a swizzle atom: legal, because the swizzle follows address bits.
  const SmemAddr dst = tile + uint32_t(slice * slice_rows) * swizzle_span_bytes(cfg.swizzle);
  const TensorCoords coords{k, row + slice * slice_rows};
  if (sharers > 1)
    isa.cp_async_bulk_tensor_shared_global_multicast(dst, map, coords, barrier, mask, cfg.cta_group, loc);
  else
    isa.cp_async_bulk_tensor_shared_global(dst, map, coords, barrier, cfg.cta_group, loc);
}

/// Copies of one ring stage; one lane.  The bytes of both CTAs of a pair count on the leader's barrier.
template <Isa I, class Config>
SM100_KERNEL void load_stage(I& isa, const Config& cfg, const SharedStorage& smem, const MatmulParams& params,
                             const ClusterPlace& place, InputRing<I>& ring, int stage, const WorkTile& tile,
                             int k_tile) {
  const SmemAddr barrier = leader_address(cfg, ring.full(stage));
  for (int j = 0; j < cfg.k_group_size; ++j) {
    const uint32_t slot = uint32_t(stage * cfg.k_group_size + j);
    const int k = (k_tile + j) * block_k(cfg);
    load_slice(isa, cfg, smem.a_tiles + slot * a_tile_bytes(cfg), place.y, a_slice_rows(cfg), a_sharers(cfg),
               a_mask(cfg, place), &params.a, k, tile.m * block_m(cfg), barrier);
    load_slice(isa, cfg, smem.b_tiles + slot * b_tile_bytes(cfg), place.x / cfg.cta_group, b_slice_rows(cfg),
               b_sharers(cfg), b_mask(cfg, place), &params.b, k, tile.n * cfg.mma_n + place.half * block_n(cfg),
               barrier);
  }
}

template <Isa I, class Config>
SM100_KERNEL void load_warp(I& isa, const Config& cfg, const SharedStorage& smem, const MatmulParams& params,
                            TileScheduler<I, Config>& scheduler) {
  InputRing<I> ring{isa, smem.input, ring_stages(cfg), cluster_size(cfg) > 1 ? Scope::cluster : Scope::cta};
  const ClusterPlace place = cluster_place(cfg, isa.cluster_ctarank());

  if (cfg.pdl)
    isa.griddepcontrol_wait();  // the kernel ahead may still write A and B; all else follows from our loads
  // next() fetches only after the work: the scheduler asks for the next tile once this one has begun.
  for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) {
    const WorkTile& tile = work.current();
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    work.throttle_signal();  // lets the scheduler ask for the next tile
    for (int k = tile.k_begin; k < tile.k_begin + tile.k_count; k += cfg.k_group_size) {
      const int stage = ring.producer_acquire();
      const TraceArgs args{.stage = stage, .tile_m = tile.m, .tile_n = tile.n, .k = k};
      TraceSpan span{isa, TraceEvent::load_issue, args};
      isa.elected([&] {
        if (place.leads()) ring.producer_arm(stage, stage_transaction_bytes(cfg));  // once, before its copies
        load_stage(isa, cfg, smem, params, place, ring, stage, tile, k);
      });
      ring.producer_step();
    }
    isa.bar_warp_sync();
  }
  ring.producer_drain();  // commits may still be on their way to our barriers: do not exit yet
}

}  // namespace sm100
