// SPDX-License-Identifier: Apache-2.0
/// The direct kernel with persistent CTAs: CTA i of W computes the tiles i, i + W ...; the next tile's MMAs run
/// while four warps of their own store the last one's, if there are two accumulators.
///
/// accum_full[s]:  one tcgen05.commit, in both CTAs of a pair, after the tile's last MMA.
/// accum_empty[s]: a lane of each epilogue warp, of both CTAs of a pair, tells the first one's MMA warp that the
///                 warp's loads from tensor memory are done.
#pragma once

#include "kernels/direct/direct_steps.h"
#include "kernels/pipeline/producer_consumer_pipeline.h"

namespace sm100 {

template <Isa I, class Config>
class PersistentDirectKernel : DirectSteps<I, Config> {
  using Base = DirectSteps<I, Config>;
  using Base::cfg_, Base::isa_, Base::params_, Base::rank_, Base::smem_, Base::steps_, Base::tile_;

 public:
  SM100_KERNEL PersistentDirectKernel(I& isa, const Config& cfg, const DirectParams& params)
      : Base(isa, cfg, params), accumulators_(isa, smem_.accum, cfg.accum_stages, Base::scope()) {}

  SM100_KERNEL void run() {
    const TmemAddr first = Base::set_up();
    const int warp = isa_.warpid();
    if (warp == kDirectLoadWarp) load_tiles();
    if (warp == kDirectMmaWarp && rank_ == 0) multiply_tiles(first);
    if (warp >= direct_first_epilogue_warp(cfg_)) store_tiles(first);
    free_accumulators(first);
  }

 private:
  template <class F>
  SM100_KERNEL void for_each_tile(F&& body) {
    const int tiles = params_.m / kDirectBlockM * (params_.n / cfg_.block_n);
    for (int i = int(isa_.ctaid().x); i < tiles;) {
      body();  // tile_ begins with the first
      i += int(isa_.nctaid().x);
      if (i < tiles) tile_ = Base::tile_of(i);
    }
  }

  SM100_HD TmemAddr accumulator(TmemAddr first, int stage) const {
    return first.plus_columns(uint32_t(stage * cfg_.block_n));
  }

  SM100_KERNEL void load_tiles() {
    int steps = 0;  // of all tiles
    for_each_tile([&] {
      for (int k = 0; k < steps_; ++k) Base::load_step(k, steps++ / cfg_.stages);
    });
    Base::drain(cfg_.stages);
  }

  SM100_KERNEL void multiply_tiles(TmemAddr first) {
    for_each_tile([&] {
      const int stage = accumulators_.producer_acquire(Base::at());
      isa_.tcgen05_fence_after_thread_sync();
      for (int k = 0; k < steps_; ++k) Base::multiply_step(k, accumulator(first, stage));
      isa_.elected([&] { Base::commit(accumulators_.full(stage)); });
      accumulators_.producer_step();
    });
  }

  SM100_KERNEL void store_tiles(TmemAddr first) {
    for_each_tile([&] {
      const int stage = accumulators_.consumer_wait(Base::at());
      isa_.tcgen05_fence_after_thread_sync();
      {
        TraceSpan span{isa_, TraceEvent::tile, Base::at()};
        Base::store_tile(accumulator(first, stage), isa_.warpid() % 4);  // the quarter that a warp can load
      }
      release(accumulators_.empty(stage));
      accumulators_.consumer_step();
    });
  }

  /// tcgen05.wait::ld is the whole warp's, so one lane may say that all have loaded.
  SM100_KERNEL void release(SmemAddr barrier) {
    isa_.tcgen05_fence_before_thread_sync();
    isa_.elected([&] {
      if (rank_ == 0) {
        isa_.mbarrier_arrive(barrier, Base::scope());
      } else {
        const LaneArray<uint32_t, 1> leader{};  // rank 0
        isa_.mbarrier_arrive(isa_.mapa(barrier, leader), Scope::cluster);
      }
    });
  }

  /// Nobody of a pair exits, or frees tensor memory, while the other still signals it or loads.
  SM100_KERNEL void free_accumulators(TmemAddr first) {
    isa_.tcgen05_fence_before_thread_sync();
    if (cfg_.cta_group == 2)
      meet_cluster(isa_);
    else
      isa_.bar_sync(kDirectBarrier, direct_threads(cfg_));
    if (isa_.warpid() != 0) return;
    isa_.tcgen05_fence_after_thread_sync();
    isa_.tcgen05_dealloc(first, direct_tmem_columns(cfg_), cfg_.cta_group);
  }

  ProducerConsumerPipeline<I> accumulators_;
};

}  // namespace sm100
