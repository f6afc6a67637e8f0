// SPDX-License-Identifier: Apache-2.0
/// The direct kernel without persistence: set-up, the main loop by one thread per role, then all warps store the
/// tile.
///
/// accum_full says that all MMAs have finished, not that the commits before it have arrived: PTX does not order the
/// arrivals of a thread's commits on different barriers.  So each CTA waits for them before it exits.
/// tcgen05.dealloc lets the CTAs of a pair wait for each other.
#pragma once

#include "kernels/direct/direct_steps.h"
#include "kernels/direct/persistent_kernel.h"

namespace sm100 {

template <Isa I, class Config>
class DirectKernel : DirectSteps<I, Config> {
  using Base = DirectSteps<I, Config>;
  using Base::cfg_, Base::isa_, Base::ring_, Base::smem_, Base::steps_, Base::tile_;

 public:
  SM100_KERNEL DirectKernel(I& isa, const Config& cfg, const DirectParams& params) : Base(isa, cfg, params) {}

  SM100_KERNEL void run() {
    const TmemAddr accumulator = Base::set_up();
    if (cfg_.roles == DirectRoles::one_thread) {
      if (isa_.warpid() == 0) load_and_multiply(accumulator);
    } else {
      if (isa_.warpid() == kDirectLoadWarp) load_all();
      if (isa_.warpid() == kDirectMmaWarp && Base::rank_ == 0) multiply_all(accumulator);
    }
    wait_for_accumulator();
    TraceSpan span{isa_, TraceEvent::tile, Base::at()};
    Base::store_tile(accumulator, isa_.warpid());
    if (isa_.warpid() == kDirectLoadWarp) Base::drain(1);
    free_accumulator(accumulator);
  }

 private:
  // ---- roles

  SM100_KERNEL void load_step(int k) { Base::load_step(k, k / cfg_.stages); }

  SM100_KERNEL void load_all() {
    for (int k = 0; k < steps_; ++k) load_step(k);
    Base::drain(cfg_.stages - 1);
  }

  SM100_KERNEL void multiply_all(TmemAddr accumulator) {
    for (int k = 0; k < steps_; ++k) Base::multiply_step(k, accumulator);
    isa_.elected([&] { Base::commit(smem_.accum.full); });
  }

  /// Loads run ahead as far as the ring has stages: with one of them load and MMAs take turns.
  SM100_KERNEL void load_and_multiply(TmemAddr accumulator) {
    int loaded = 0;
    for (int k = 0; k < steps_; ++k) {
      while (loaded < steps_ && loaded < k + cfg_.stages) load_step(loaded++);
      Base::multiply_step(k, accumulator);
    }
    isa_.elected([&] { Base::commit(smem_.accum.full); });
    Base::drain(cfg_.stages - 1);
  }

  // ---- epilogue

  /// The warps meet before they wait, not after it: those without a role do not poll during the main loop.
  SM100_KERNEL void wait_for_accumulator() {
    const SmemAddr barrier = smem_.accum.full;
    {
      TraceSpan span{isa_,
                     TraceEvent::wait,
                     {.barrier = barrier, .stage = 0, .phase = 0, .tile_m = tile_.m, .tile_n = tile_.n}};
      isa_.bar_sync(kDirectBarrier, direct_threads(cfg_));
      while (!isa_.mbarrier_try_wait_parity(barrier, 0, Base::scope())) {}
    }
    isa_.tcgen05_fence_after_thread_sync();
  }

  /// Tensor memory may be freed when the loads of all warps are done, not only of the one that frees it.
  SM100_KERNEL void free_accumulator(TmemAddr accumulator) {
    isa_.tcgen05_fence_before_thread_sync();
    isa_.bar_sync(kDirectBarrier, direct_threads(cfg_));
    if (isa_.warpid() != 0) return;
    isa_.tcgen05_fence_after_thread_sync();
    isa_.tcgen05_dealloc(accumulator, direct_tmem_columns(cfg_), cfg_.cta_group);
  }
};

template <Isa I, class Config>
SM100_KERNEL void direct_kernel(I& isa, const Config& cfg, const DirectParams& params) {
  if (is_persistent(cfg))
    PersistentDirectKernel<I, Config>(isa, cfg, params).run();
  else
    DirectKernel<I, Config>(isa, cfg, params).run();
}

}  // namespace sm100
