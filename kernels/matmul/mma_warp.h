// SPDX-License-Identifier: Apache-2.0
/// MMA warp: owns tensor memory, multiplies the stages of the input ring into the accumulators of the output
/// ring.
#pragma once

#include "kernels/matmul/cluster_share.h"
#include "kernels/matmul/config.h"
#include "kernels/matmul/named_barriers.h"
#include "kernels/matmul/shared_storage.h"
#include "kernels/pipeline/input_ring.h"
#include "kernels/pipeline/operand_tile.h"
#include "kernels/pipeline/output_ring.h"
#include "kernels/scheduler/tile_scheduler.h"

namespace sm100 {

/// MMAs of one ring stage; one lane.
template <Isa I, class Config>
SM100_KERNEL void issue_mmas(I& isa, const Config& cfg, const SharedStorage& smem, TmemAddr accumulator, int stage,
                             bool first_of_tile) {
  const InstrDescriptor idesc =
      make_instr_descriptor(mma_kind(cfg), cfg.dtype, cfg.dtype, DataType::f32, cfg.mma_m, cfg.mma_n);
  bool accumulate = !first_of_tile;  // only the tile's very first MMA ignores what tensor memory holds
  for (int j = 0; j < cfg.k_group_size; ++j) {
    const uint32_t slot = uint32_t(stage * cfg.k_group_size + j);
    const SmemDescriptor a = operand_descriptor(cfg, smem.a_tiles + slot * a_tile_bytes(cfg));
    const SmemDescriptor b = operand_descriptor(cfg, smem.b_tiles + slot * b_tile_bytes(cfg));
    for (int k = 0; k < mmas_per_k_tile(cfg); ++k) {
      // 32 bytes of K per MMA: stepping the start address stays inside the swizzle atom's row.
      isa.tcgen05_mma(mma_kind(cfg), cfg.cta_group, accumulator, advance(a, 32u * uint32_t(k)),
                      advance(b, 32u * uint32_t(k)), idesc, accumulate);
      accumulate = true;
    }
  }
}

template <Isa I, class Config>
SM100_KERNEL void mma_warp(I& isa, const Config& cfg, const SharedStorage& smem,
                           TileScheduler<I, Config>& scheduler) {
  const Scope scope = cluster_size(cfg) > 1 ? Scope::cluster : Scope::cta;
  InputRing<I> input{isa, smem.input, ring_stages(cfg), scope};
  OutputRing<I> output{isa, smem.accum, cfg.accum_stages, scope};
  const ClusterPlace place = cluster_place(cfg, isa.cluster_ctarank());

  isa.tcgen05_alloc(smem.tmem_address, kTmemColumns, cfg.cta_group);
  isa.bar_warp_sync();
  isa.tcgen05_fence_before_thread_sync();
  isa.bar_arrive(kTmemAddressBarrier, kTmemAddressThreads);  // does not block: the epilogue waits
  const TmemAddr tmem{isa.ld_shared_u32(smem.tmem_address)};

  for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) {
    const WorkTile tile = work.current();
    if (cfg.mma_prefetch) work.prefetch();
    if (!place.leads()) continue;  // the leader's MMAs are ours too
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    const int accum_stage = output.producer_acquire();
    const TmemAddr accumulator = tmem.plus_columns(uint32_t(accum_stage * accum_stride_columns(cfg)));
    for (int k = tile.k_begin; k < tile.k_begin + tile.k_count; k += cfg.k_group_size) {
      const int stage = input.consumer_wait();
      TraceSpan span{isa, TraceEvent::mma_issue, {.stage = stage, .tile_m = tile.m, .tile_n = tile.n, .k = k}};
      isa.elected([&] {
        issue_mmas(isa, cfg, smem, accumulator, stage, k == tile.k_begin);
        input.consumer_release(stage, cfg.cta_group, release_mask(cfg, place), cluster_size(cfg) > 1);
      });
      input.consumer_step();
    }
    {
      TraceSpan span{isa, TraceEvent::mma_commit, {.stage = accum_stage, .tile_m = tile.m, .tile_n = tile.n}};
      isa.elected([&] { output.producer_commit(accum_stage, cfg.cta_group, group_mask(cfg, place)); });
    }
    output.producer_step();
  }

  if (cfg.pdl) isa.griddepcontrol_launch_dependents();
  isa.tcgen05_relinquish_alloc_permit(cfg.cta_group);
  if (place.leads()) output.producer_drain();  // the epilogue's last arrivals must find our barriers alive
  mbarrier_wait_once(isa, smem.tmem_dealloc);
  isa.tcgen05_fence_after_thread_sync();
  isa.tcgen05_dealloc(tmem, kTmemColumns, cfg.cta_group);
}

}  // namespace sm100
