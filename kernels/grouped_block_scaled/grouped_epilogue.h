// SPDX-License-Identifier: Apache-2.0
/// Epilogue warps of the grouped matmul: the matmul's, with a map of C that the first of them makes for each group,
/// and zeros for tiles of groups without K.
#pragma once

#include "kernels/epilogue/zero_tile.h"
#include "kernels/grouped_block_scaled/group_scheduler.h"
#include "kernels/grouped_block_scaled/map_editor.h"
#include "kernels/matmul/named_barriers.h"
#include "kernels/matmul/rings.h"

namespace sm100 {

/// The map of C, one for the CTA.  The last strip of a tile waits until all stores have read, so that
/// none is on its way when the next group's tile begins.
template <class Config>
class GroupedOutput {
 public:
  /// @param copy  of the template in shared memory
  SM100_HD GroupedOutput(const Config& cfg, const GroupedBlockScaledParams& params, const CtaMaps& maps,
                         SmemAddr copy)
      : cfg_(cfg), params_(params), maps_(maps), copy_(copy) {}

  /// All warps of the group, before a tile.  The first stores, and edits.
  template <Isa I>
  SM100_KERNEL GlobalAddr map(I& isa, const WarpGroup& group, const WorkTile& tile, Loc loc = Loc::current()) {
    if (tile.group != group_ && group.is_first(isa)) begin_group(isa, tile, loc);
    group_ = tile.group;
    return maps_.output();
  }

 private:
  template <Isa I>
  SM100_KERNEL void begin_group(I& isa, const WorkTile& tile, Loc loc) const {
    TraceSpan span{isa, TraceEvent::map_edit, {.stage = 0, .tile_m = tile.m, .tile_n = tile.n}};
    if (group_ < 0 && cfg_.map_edits == MapEdits::shared)
      isa.elected([&] { copy_template(isa, params_.c, copy_, loc); });
    const GroupProblem problem = load_problem(isa, params_.problems, tile.group, loc);
    const uint64_t address = load_pointer(isa, params_.pointers, tile.group, GroupPointer::c, loc);
    publish_maps(
        isa, cfg_, maps_.output(), copy_, 1,
        [&](auto map, int) {
          const uint64_t row_bytes = uint64_t(problem.n) * uint64_t(output_bytes(cfg_));
          edit_matrix_map(isa, map, {address, uint32_t(problem.n), uint32_t(problem.m), row_bytes}, loc);
        },
        loc);
  }

  const Config& cfg_;
  const GroupedBlockScaledParams& params_;
  CtaMaps maps_;
  SmemAddr copy_;
  int group_ = -1;  ///< whose map it is
};

template <Isa I, class Config, class Storage, class Scheduler>
SM100_KERNEL void grouped_epilogue_warp(I& isa, const Config& cfg, const WarpGroup& group, const Storage& smem,
                                        const GroupedBlockScaledParams& params, Scheduler& scheduler,
                                        GroupedOutput<Config> maps) {
  isa.bar_sync(kTmemAddressBarrier, tmem_address_threads(cfg));
  isa.tcgen05_fence_after_thread_sync();
  const TmemAddr tmem{isa.ld_shared_u32(smem.tmem_address)};
  auto ring = output_ring(isa, cfg, smem, tmem, cfg.cta_group == 2 ? Scope::cluster : Scope::cta);

  for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) {
    const WorkTile& tile = work.current();
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    OutputTile<GlobalAddr> output{.map = maps.map(isa, group, tile),
                                  .functor = &params.functor,
                                  .column = tile.n * cfg.mma_n,
                                  .row = tile.m * block_m(cfg),
                                  .buffers = smem.c_strips,
                                  .result = {}};
    if (is_written_without_mmas(cfg, tile)) {
      write_zero_tile(isa, cfg, group, output);
      continue;
    }
    output.result = ring.consumer_wait();
    write_tile(isa, cfg, group, ring, output);
    ring.consumer_step();
  }
  // All our loads are done: tensor memory may be freed.
  isa.tcgen05_fence_before_thread_sync();
  if (cfg.cta_group == 2)  // the peer's MMA warp frees what the pair's MMAs wrote: it waits for us too
    isa.mbarrier_arrive(isa.mapa(smem.tmem_dealloc, isa.cluster_ctarank() ^ 1), Scope::unstated);
  isa.mbarrier_arrive(smem.tmem_dealloc, Scope::cta);
}

}  // namespace sm100
