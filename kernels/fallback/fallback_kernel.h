// SPDX-License-Identifier: Apache-2.0
/// The fallback kernel: every warp goes through set-up, k loop and epilogue of one tile; CTA (x, y) has the tile of
/// column block x and row block y.
///
/// Two mbarriers with alternating parity, one phase of each per k step.  Nobody but warp 0 keeps them in step, so a
/// block barrier ends every step: a warp two phases behind would take a phase for the one that it waits for.
#pragma once

#include "kernels/epilogue/global_writer.h"
#include "kernels/epilogue/tmem_reader.h"
#include "kernels/fallback/config.h"
#include "kernels/fallback/params.h"
#include "kernels/fallback/shared_storage.h"
#include "kernels/isa/arithmetic.h"
#include "kernels/pipeline/producer_consumer_pipeline.h"
#include "kernels/pipeline/set_up.h"

namespace sm100 {

/// Barriers and tensor memory.  Returns the accumulator's address.
template <Isa I, class Config>
SM100_KERNEL TmemAddr set_up_fallback(I& isa, const Config& cfg, const FallbackStorage& smem,
                                      const FallbackParams& params) {
  TraceSpan span{isa, TraceEvent::setup};
  if (isa.warpid() == 0) {
    isa.elected([&] {
      prefetch_tensormaps(isa, params.a, params.b);
      init_barriers(isa, cfg, smem);
    });
    isa.fence_mbarrier_init();
    isa.bar_warp_sync();
    isa.tcgen05_alloc(smem.tmem_address, kTmemColumns, 1);
    isa.tcgen05_fence_before_thread_sync();
  }
  isa.bar_sync(kFallbackBarrier, kFallbackThreads);
  isa.tcgen05_fence_after_thread_sync();
  return {isa.ld_shared_u32(smem.tmem_address)};
}

/// The tiles of k step `step`; one lane.
template <Isa I>
SM100_KERNEL void load_step(I& isa, const FallbackStorage& smem, const FallbackParams& params, int row, int column,
                            int step) {
  isa.mbarrier_arrive_expect_tx(smem.tma, smem.a.shape.bytes() + smem.b.shape.bytes(), Scope::cta);
  const int k = step * kFallbackBlockK;
  isa.cp_async_bulk_tensor_shared_global(smem.a.base, &params.a, TensorCoords{k, row}, smem.tma);
  isa.cp_async_bulk_tensor_shared_global(smem.b.base, &params.b, TensorCoords{k, column}, smem.tma);
}

/// The MMAs of a k step and their commit; one lane.
template <Isa I, class Config>
SM100_KERNEL void multiply_step(I& isa, const Config& cfg, const FallbackStorage& smem, TmemAddr accumulator,
                                bool first) {
  const InstrDescriptor idesc =
      make_instr_descriptor(MmaKind::f16, DataType::bf16, DataType::bf16, DataType::f32, cfg.block_m, cfg.block_n);
  const SmemDescriptor a = operand_descriptor(smem.a), b = operand_descriptor(smem.b);
  for (int k = 0; k < kFallbackBlockK / kFallbackMmaK; ++k)
    isa.tcgen05_mma(MmaKind::f16, 1, accumulator, advance(a, kMmaKBytes * uint32_t(k)),
                    advance(b, kMmaKBytes * uint32_t(k)), idesc, !first || k > 0);
  isa.tcgen05_commit(1, smem.mma);
}

/// The k loop: load, wait, multiply, wait.
template <Isa I, class Config>
SM100_KERNEL void accumulate_tile(I& isa, const Config& cfg, const FallbackStorage& smem,
                                  const FallbackParams& params, TmemAddr accumulator, int row, int column) {
  const int steps = ceil_div(params.k, kFallbackBlockK);
  for (int step = 0; step < steps; ++step) {
    const uint32_t parity = uint32_t(step) & 1;
    if (isa.warpid() == 0) {
      TraceSpan span{isa, TraceEvent::load_issue, {.stage = 0, .k = step}};
      isa.elected([&] { load_step(isa, smem, params, row, column, step); });
    }
    mbarrier_wait(isa, smem.tma, parity, Scope::cta, {.barrier = smem.tma, .stage = 0, .phase = step},
                  Loc::current());
    if (isa.warpid() == 0) {
      TraceSpan span{isa, TraceEvent::mma_issue, {.stage = 0, .k = step}};
      isa.elected([&] { multiply_step(isa, cfg, smem, accumulator, step == 0); });
    }
    mbarrier_wait(isa, smem.mma, parity, Scope::cta, {.barrier = smem.mma, .stage = 0, .phase = step},
                  Loc::current());
    isa.bar_sync(kFallbackBarrier, kFallbackThreads);
  }
  isa.tcgen05_fence_after_thread_sync();
}

/// The warp's quarter of the accumulator to global memory.  R: columns of one load / 8.
template <int R, Isa I, class Config>
SM100_KERNEL void store_tile(I& isa, const Config& cfg, const GlobalMatrix& c, TmemAddr accumulator, int row,
                             int column) {
  const int warp = isa.warpid();
  const bool lower = cfg.block_m == 128;  // 64 rows lie in 16 lanes of each quarter (data-path layout F)
  const int first_row = row + warp * (lower ? 32 : 16);
  for (int i = 0; i < cfg.block_n; i += 8 * R) {
    AccumulatorFragments<R> f = load_fragments<R>(isa, accumulator.plus_columns(uint32_t(i)), warp, lower);
    TraceSpan span{isa, TraceEvent::store_issue};
    f.walk(lower, [&](const auto& registers, int row_of_warp) {
      if (cfg.output == DataType::f32)
        store_fragment_f32<R>(isa, c, first_row + row_of_warp, column + i, registers);
      else
        store_fragment_bf16<R>(isa, c, first_row + row_of_warp, column + i, registers);
    });
  }
}

template <Isa I, class Config>
SM100_KERNEL void fallback_kernel(I& isa, const Config& cfg, const FallbackParams& params) {
  const FallbackStorage smem = storage_at<FallbackStorage>(cfg, isa.dynamic_smem());
  const TmemAddr accumulator = set_up_fallback(isa, cfg, smem, params);
  {
    const int tile_m = int(isa.ctaid().y), tile_n = int(isa.ctaid().x);
    const int row = tile_m * cfg.block_m, column = tile_n * cfg.block_n;
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile_m, .tile_n = tile_n}};
    accumulate_tile(isa, cfg, smem, params, accumulator, row, column);
    if (isa.warpid() == 0) isa.tcgen05_relinquish_alloc_permit(1);
    const GlobalMatrix c{params.c, params.m, params.n};
    switch (widest_strip(cfg.block_n)) {  // register blocks have fixed sizes
      case 32: store_tile<4>(isa, cfg, c, accumulator, row, column); break;
      case 16: store_tile<2>(isa, cfg, c, accumulator, row, column); break;
      default: store_tile<1>(isa, cfg, c, accumulator, row, column);
    }
  }
  // Tensor memory may be freed when the loads of all warps are done, not only of the one that frees it.
  isa.tcgen05_fence_before_thread_sync();
  isa.bar_sync(kFallbackBarrier, kFallbackThreads);
  if (isa.warpid() == 0) {
    isa.tcgen05_fence_after_thread_sync();
    isa.tcgen05_dealloc(accumulator, kTmemColumns, 1);
  }
}

}  // namespace sm100
