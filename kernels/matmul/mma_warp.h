// SPDX-License-Identifier: Apache-2.0
/// MMA warp: owns tensor memory, multiplies the stages of the input ring into the accumulators of the output
/// ring; and what the dense matmul issues on a stage.
#pragma once

#include "kernels/matmul/config.h"
#include "kernels/matmul/mma_work.h"
#include "kernels/matmul/named_barriers.h"
#include "kernels/matmul/rings.h"

namespace sm100 {

/// What is issued on a stage; one lane.
/// @param first_of_tile  the stage's first MMA overwrites the accumulator
template <class T, class I, class Stage>
concept MmaIssuer = requires(const T& issuer, I& isa, const Stage& stage, const MmaWork& work, bool first_of_tile) {
  issuer.issue(isa, stage, work, first_of_tile);
};

/// accumulator (+)= A B^T over the k tiles of a stage.
template <class Config>
class OperandMmas {
 public:
  SM100_HD explicit OperandMmas(const Config& cfg) : cfg_(cfg) {}

  template <Isa I, class Stage>
  SM100_KERNEL void issue(I& isa, const Stage& stage, const MmaWork& work, bool first_of_tile) const {
    const InstrDescriptor idesc =
        make_instr_descriptor(mma_kind(cfg_), cfg_.dtype, cfg_.dtype, DataType::f32, cfg_.mma_m, cfg_.mma_n);
    bool accumulate = !first_of_tile;  // only the tile's very first MMA ignores what tensor memory holds
    for (int j = 0; j < cfg_.k_group_size; ++j) {
      const SmemDescriptor a = operand_descriptor(stage.a(j)), b = operand_descriptor(stage.b(j));
      for (int k = 0; k < mmas_per_k_tile(cfg_); ++k) {
        const uint32_t along = kMmaKBytes * uint32_t(k);
        isa.tcgen05_mma(mma_kind(cfg_), cfg_.cta_group, work.accumulator, advance(a, along), advance(b, along),
                        idesc, accumulate);
        accumulate = true;
      }
    }
  }

 private:
  const Config& cfg_;
};

template <Isa I, class Config, class Smem, class Ring, MmaIssuer<I, typename Ring::Stage> Issuer, class Scheduler>
SM100_KERNEL void mma_warp(I& isa, const Config& cfg, const Smem& smem, const ClusterPlace& place, Ring input,
                           const Issuer& mma, Scheduler&& scheduler) {
  isa.tcgen05_alloc(smem.tmem_address, kTmemColumns, cfg.cta_group);
  isa.bar_warp_sync();
  isa.tcgen05_fence_before_thread_sync();
  isa.bar_arrive(kTmemAddressBarrier, tmem_address_threads(cfg));  // does not block: the epilogue waits
  const TmemAddr tmem{isa.ld_shared_u32(smem.tmem_address)};
  auto output = output_ring(isa, cfg, smem, tmem, cluster_size(cfg) > 1 ? Scope::cluster : Scope::cta,
                            group_mask(cfg, place));

  for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) {
    const WorkTile tile = work.current();
    if (cfg.mma_prefetch) work.prefetch();
    if (!place.leads() || is_written_without_mmas(cfg, tile)) continue;  // the leader's MMAs are ours too
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    const AccumulatorStage result = acquire_accumulator(isa, output, input, mma, tmem);
    for (int k = tile.k_begin; k < tile.k_end(); k += cfg.k_group_size) {
      const auto stage = input.consumer_wait();
      TraceSpan span{
          isa, TraceEvent::mma_issue, {.stage = stage.index, .tile_m = tile.m, .tile_n = tile.n, .k = k}};
      isa.elected([&] {
        mma.issue(isa, stage, {tile, tmem, result.accumulator}, k == tile.k_begin);
        input.consumer_release(stage);
      });
      input.consumer_step();
    }
    {
      TraceSpan span{isa, TraceEvent::mma_commit, {.stage = result.index, .tile_m = tile.m, .tile_n = tile.n}};
      isa.elected([&] { output.producer_commit(result); });
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
