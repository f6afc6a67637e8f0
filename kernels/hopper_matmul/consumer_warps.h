// SPDX-License-Identifier: Apache-2.0
/// A consumer warpgroup of hopper_matmul: wgmma over the k tiles of a tile, then 64 rows of C through shared
/// memory.
///
/// The wgmma of one k step are in flight while the next stage is waited for, so a stage goes back one step after
/// its own: wgmma.wait_group leaves the last group pending.
#pragma once

#include "kernels/epilogue/smem_writer.h"
#include "kernels/epilogue/strip_store.h"
#include "kernels/hopper_matmul/config.h"
#include "kernels/hopper_matmul/params.h"
#include "kernels/hopper_matmul/shared_storage.h"
#include "kernels/isa/unroll.h"
#include "kernels/pipeline/input_ring.h"
#include "kernels/scheduler/static_walk.h"

namespace sm100 {

/// 64 x N sums of a warpgroup.
template <int N>
using WarpgroupSums = LaneArray<float, N / 2>;

/// K-major rows of 128 bytes, swizzled; groups of 8 rows lie 1024 bytes apart.
SM100_HD constexpr SmemDescriptor hopper_operand(SmemAddr start) {
  return make_wgmma_descriptor(start, 16, 8 * 128, Swizzle::b128);
}

/// The wgmma of a k tile, committed as a group.
/// @param row  the warpgroup's first row of A's tile
template <int N, DataType kType, Isa I, class Stage>
SM100_KERNEL void multiply_stage(I& isa, WarpgroupSums<N>& sums, const Stage& stage, int row, bool first, int k) {
  TraceSpan span{isa, TraceEvent::mma_issue, {.stage = stage.index, .k = k}};
  constexpr WgmmaForm kForm{.n = N, .a = kType, .b = kType};
  const SmemDescriptor a = hopper_operand(stage.a(0).base + uint32_t(row) * 128),
                       b = hopper_operand(stage.b(0).base);
  isa.wgmma_fence();
  for (int step = 0; step < 128 / int(kMmaKBytes); ++step) {
    const uint32_t bytes = uint32_t(step) * kMmaKBytes;
    isa.template wgmma_mma_async<kForm>(sums, advance(a, bytes), advance(b, bytes), !first || step > 0);
  }
  isa.wgmma_commit_group();
}

template <int N, DataType kType, Isa I, class Config, class Ring>
SM100_KERNEL void multiply_tile(I& isa, const Config& cfg, Ring& ring, WarpgroupSums<N>& sums, const WorkTile& tile,
                                int row) {
  using Stage = decltype(ring.consumer_wait());
  Stage before{};
  isa.wgmma_fence(sums);
  for (int k = 0; k < tile.k_count; ++k) {
    const Stage stage = ring.consumer_wait({.tile_m = tile.m, .tile_n = tile.n, .k = k});
    multiply_stage<N, kType>(isa, sums, stage, row, k == 0, k);
    if (k > 0) {
      isa.template wgmma_wait_group<1>();  // those of the step before have read their operands
      ring.consumer_arrive(before, cfg.cluster);
    }
    before = stage;
    ring.consumer_step();
  }
  isa.template wgmma_wait_group<0>(sums);
  ring.consumer_arrive(before, cfg.cluster);
}

/// 64 rows of C, strip by strip.
template <int N, Isa I, class Config>
SM100_KERNEL void store_rows_of_tile(I& isa, const Config& cfg, const HopperStorage& smem,
                                     const HopperMatmulParams& params, const WarpGroup& group, SmemAddr strips,
                                     const WarpgroupSums<N>& sums, int row, int column) {
  constexpr int kColumns = widest_strip(N), kRegisters = kColumns / 2;
  SM100_UNROLL
  for (int i = 0; i < N / kColumns; ++i) {
    const int buffer = i % kOutputBuffers;
    const SmemAddr strip = strips + uint32_t(buffer) * smem.strips.shape.bytes();
    {
      TraceSpan span{isa, TraceEvent::smem_write, {.stage = buffer}};
      LaneArray<uint32_t, kRegisters> f;
      isa.for_each_lane(0, [&](int lane) {
        for (int r = 0; r < kRegisters; ++r) f[lane][r] = as_bits(sums[lane][i * kRegisters + r]);
      });
      write_fragment<kColumns / 8>(isa, cfg, StripBuffer<Config>{cfg, strip}, 16 * group.index(isa), f);
      publish_strip(isa, group);
    }
    if (group.is_first(isa)) store_strip(isa, &params.c, TensorCoords{column + i * kColumns, row}, strip, buffer);
    wait_for_strip_buffer(isa, group, i, i + 1 == N / kColumns);
  }
}

/// @param consumer  0 or 1
template <int N, DataType kType, Isa I, class Config>
SM100_KERNEL void consume_hopper_tiles(I& isa, const Config& cfg, const HopperStorage& smem,
                                       const HopperMatmulParams& params, StaticWorkIterator<I> work, int consumer) {
  const WarpGroup group = hopper_consumer(consumer);
  // Scope cta also where peers' multicasts complete the barrier, as CUTLASS waits: their bytes are asynchronous.
  InputRing ring{isa, smem.input, cfg.stages, smem.tiles, Scope::cta};
  const int rank = cfg.cluster == 1 ? 0 : int(isa.cluster_ctarank());
  constexpr int kBoth = 2 * kWarpgroupWarps * kWarpLanes;
  const SmemAddr strips = smem.strips[consumer * kOutputBuffers].base;

  for (int turn = 0; work.has_work(); ++turn) {
    const WorkTile tile = work.current();
    work.next();
    const bool last = !work.has_work();
    if (is_pingpong(cfg) && turn % kHopperConsumers != consumer) {
      ring.consumer_skip(tile.k_count);  // the other one's
      continue;
    }
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    WarpgroupSums<N> sums;
    // In turns: a barrier for each consumer, where it waits for the other's last wgmma.
    if (is_pingpong(cfg) && turn > 0) isa.bar_sync(kHopperTurnBarrier + consumer, kBoth);
    const int part = is_pingpong(cfg) ? 0 : consumer * kWgmmaM;  // rows of the CTA's tile
    multiply_tile<N, kType>(isa, cfg, ring, sums, tile, part);
    if (is_pingpong(cfg) && !last) isa.bar_arrive(kHopperTurnBarrier + 1 - consumer, kBoth);
    store_rows_of_tile<N>(isa, cfg, smem, params, group, strips, sums,
                          (tile.m * cfg.cluster + rank) * hopper_block_m(cfg) + part, tile.n * cfg.block_n);
  }
}

/// Registers of D and types are part of the instruction.
template <int N, Isa I, class Config>
SM100_KERNEL void consume_of_type(I& isa, const Config& cfg, const HopperStorage& smem,
                                  const HopperMatmulParams& params, const StaticWorkIterator<I>& work,
                                  int consumer) {
  switch (cfg.dtype) {
    case DataType::f16: return consume_hopper_tiles<N, DataType::f16>(isa, cfg, smem, params, work, consumer);
    case DataType::e4m3: return consume_hopper_tiles<N, DataType::e4m3>(isa, cfg, smem, params, work, consumer);
    case DataType::e5m2: return consume_hopper_tiles<N, DataType::e5m2>(isa, cfg, smem, params, work, consumer);
    default: return consume_hopper_tiles<N, DataType::bf16>(isa, cfg, smem, params, work, consumer);
  }
}
template <Isa I, class Config>
SM100_KERNEL void hopper_consumer_warps(I& isa, const Config& cfg, const HopperStorage& smem,
                                        const HopperMatmulParams& params, const StaticWorkIterator<I>& work,
                                        int consumer) {
  switch (cfg.block_n) {
    case 32: return consume_of_type<32>(isa, cfg, smem, params, work, consumer);
    case 64: return consume_of_type<64>(isa, cfg, smem, params, work, consumer);
    case 256: return consume_of_type<256>(isa, cfg, smem, params, work, consumer);
    default: return consume_of_type<128>(isa, cfg, smem, params, work, consumer);
  }
}

}  // namespace sm100
