// SPDX-License-Identifier: Apache-2.0
/// warpgroup_registers: setmaxnreg in the frame of a warp-specialised kernel (config.h).
#pragma once

#include "kernels/isa/register_count.h"
#include "kernels/pipeline/producer_consumer_pipeline.h"
#include "kernels/registers/config.h"

namespace sm100 {

/// The instruction takes its number as an immediate.
template <int N = 24, Isa I>
SM100_KERNEL void change_registers(I& isa, RegisterChange change) {
  if (change.registers == N) {
    if (change.action == RegisterChange::Action::inc) isa.template setmaxnreg_inc<N>();
    if (change.action == RegisterChange::Action::dec) isa.template setmaxnreg_dec<N>();
  } else if constexpr (register_count_allowed(N + 8)) {
    change_registers<N + 8>(isa, change);
  }
}

template <Isa I, class Config>
SM100_KERNEL void warpgroup_registers_kernel(I& isa, const Config& cfg) {
  const WarpgroupRegistersStorage smem = warpgroup_registers_storage(isa.dynamic_smem());
  const int warp = isa.warpid();
  {
    TraceSpan span{isa, TraceEvent::setup};
    if (warp == 0) {
      isa.elected([&] {
        for_each_barrier_array(cfg, smem, [&](const BarrierArray& array) { init_barrier_array(isa, array); });
      });
    }
    isa.bar_sync(0, cfg.warpgroups * kWarpgroupWarps * 32);
  }
  change_registers(isa, cfg.changes[warp / kWarpgroupWarps]);
  ProducerConsumerPipeline ring{isa, {smem.full, smem.empty}, kTokenStages};
  for (int token = 0; token < cfg.tokens; ++token) {
    if (warp == 0) {
      const int stage = ring.producer_acquire({.k = token});
      isa.elected([&] { isa.mbarrier_arrive(ring.full(stage), Scope::cta); });
      ring.producer_step();
    } else if (warp >= kWarpgroupWarps) {
      const int stage = ring.consumer_wait({.k = token});
      isa.elected([&] { isa.mbarrier_arrive(ring.empty(stage), Scope::cta); });
      ring.consumer_step();
    }
  }
}

}  // namespace sm100
