// SPDX-License-Identifier: Apache-2.0
/// Consumer warps 0-3 of pipeline_copy: each k tile from its slot to registers, to a strip, to global memory.
///
/// Slot and strip have the same layout (rows of one swizzle span), so a thread puts back what it took, and the
/// 128 threads take 16-byte chunks in order of their addresses: no bank conflicts.
#pragma once

#include "kernels/copy/config.h"
#include "kernels/copy/params.h"
#include "kernels/copy/shared_storage.h"
#include "kernels/epilogue/lane_costs.h"
#include "kernels/epilogue/strip_store.h"
#include "kernels/pipeline/input_ring.h"
#include "kernels/scheduler/static_walk.h"

namespace sm100 {

/// A thread's chunks of a slot: CHUNKS x 16 bytes.
template <int CHUNKS>
struct SlotFragment {
  LaneArray<uint32_t, 4> chunk[CHUNKS];
};

/// Shared addresses of chunk i of the warp's threads.
template <Isa I>
SM100_KERNEL LaneArray<SmemAddr, 1> chunk_addresses(I& isa, SmemAddr base, int i) {
  LaneArray<SmemAddr, 1> addresses;
  const uint32_t first = uint32_t(i * copy_consumers().threads() + copy_consumers().index(isa) * kWarpLanes) * 16;
  const LaneArray<uint32_t, 1> ids = isa.laneid();
  isa.for_each_lane(lane_cost::kChunkAddress, [&](int lane) { addresses(lane) = base + first + ids(lane) * 16; });
  return addresses;
}

template <int CHUNKS, Isa I>
SM100_KERNEL SlotFragment<CHUNKS> read_slot(I& isa, SmemAddr slot, int stage, int k) {
  TraceSpan span{isa, TraceEvent::smem_read, {.stage = stage, .k = k}};
  SlotFragment<CHUNKS> f;
  for (int i = 0; i < CHUNKS; ++i) f.chunk[i] = isa.ld_shared_v4(chunk_addresses(isa, slot, i));
  return f;
}

template <int CHUNKS, Isa I>
SM100_KERNEL void write_strip(I& isa, SmemAddr strip, int buffer, const SlotFragment<CHUNKS>& f) {
  TraceSpan span{isa, TraceEvent::smem_write, {.stage = buffer}};
  for (int i = 0; i < CHUNKS; ++i) isa.st_shared_v4(chunk_addresses(isa, strip, i), f.chunk[i]);
  publish_strip(isa, copy_consumers());
}

template <int CHUNKS, Isa I, class Config>
SM100_KERNEL void consume_tiles(I& isa, const Config& cfg, const CopyStorage& smem, const CopyParams& params,
                                StaticWorkIterator<I> work) {
  // Scope cta also where peers' multicasts complete the barrier, as CUTLASS waits: their bytes are asynchronous.
  InputRing ring{isa, smem.input, copy_ring_stages(cfg), smem.tiles, Scope::cta};
  const int copy = cfg.multicast ? int(isa.cluster_ctarank()) : 0;

  for (; work.has_work(); work.next()) {
    const WorkTile& tile = work.current();
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    for (int k = 0; k < tile.k_count; k += cfg.k_group_size) {
      const auto stage = ring.consumer_wait();
      for (int j = 0; j < cfg.k_group_size; ++j) {
        const int strip_index = k + j, buffer = strip_index % kOutputBuffers;
        const SmemAddr strip = smem.strips[buffer].base;
        const auto f = read_slot<CHUNKS>(isa, stage.slot(j).base, stage.index, strip_index);
        // The slots are in registers: the stage may be filled again while we write.
        if (j + 1 == cfg.k_group_size) ring.consumer_arrive(stage, copy_sharers(cfg));
        write_strip(isa, strip, buffer, f);
        if (copy_consumers().is_first(isa))
          store_strip(
              isa, &params.destination,
              TensorCoords{tile.n * cfg.tile_n + strip_index * copy_block_k(cfg), tile.m * cfg.tile_m, copy}, strip,
              buffer);
        wait_for_strip_buffer(isa, copy_consumers(), strip_index, strip_index + 1 == tile.k_count);
      }
      ring.consumer_step();
    }
  }
}

template <Isa I, class Config>
SM100_KERNEL void copy_consumer_warp(I& isa, const Config& cfg, const CopyStorage& smem, const CopyParams& params,
                                     const StaticWorkIterator<I>& work) {
  switch (copy_chunks_per_thread(cfg)) {  // register blocks have fixed sizes
    case 8: return consume_tiles<8>(isa, cfg, smem, params, work);
    case 4: return consume_tiles<4>(isa, cfg, smem, params, work);
    case 2: return consume_tiles<2>(isa, cfg, smem, params, work);
    default: return consume_tiles<1>(isa, cfg, smem, params, work);
  }
}

}  // namespace sm100
