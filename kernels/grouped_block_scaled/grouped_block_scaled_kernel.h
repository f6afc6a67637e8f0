// SPDX-License-Identifier: Apache-2.0
/// The grouped block-scaled matmul: many products, each with a size and tensors of its own, in one launch.
///
/// The block-scaled matmul's roles, stages and MMAs; a scheduler that walks over the tiles of all groups, and
/// tensor maps that the load warp and the first epilogue warp make for each group.  Warps 0-3 epilogue, 5 load, 6
/// MMA; warp 4 has no work.  Tiles of less than 64 columns: warp 7 loads the scales of B, with maps that it makes,
/// and 8-11 store them.
#pragma once

#include "kernels/block_scaled/scaled_mmas.h"
#include "kernels/block_scaled/sfb_warps.h"
#include "kernels/grouped_block_scaled/grouped_epilogue.h"
#include "kernels/grouped_block_scaled/grouped_loader.h"
#include "kernels/matmul/load_warp.h"
#include "kernels/matmul/mma_warp.h"
#include "kernels/pipeline/set_up.h"

namespace sm100 {

struct GroupedTiles : BlockScaledTiles {
  SmemAddr map_copies;  ///< kInputMaps, then that of C
};

template <Grouped C, class Layout>
SM100_HD constexpr void place_tiles(GroupedTiles& tiles, const C& c, Layout& layout) {
  place_tiles(static_cast<BlockScaledTiles&>(tiles), c, layout);
  layout.bytes(tiles.map_copies, (kInputMaps + 1) * kTensorMapBytes, 128);
}

using GroupedStorage = MatmulStorage<GroupedTiles>;

template <Isa I, class Config>
SM100_KERNEL void grouped_block_scaled_kernel(I& isa, const Config& cfg, const GroupedBlockScaledParams& params) {
  const auto smem = storage_at<GroupedStorage>(cfg, isa.dynamic_smem());
  set_up_cluster(isa, cfg, smem, [] {});  // templates are not copied with: none is fetched ahead
  GroupScheduler scheduler{isa, cfg, params.problems, params.groups};
  const CtaMaps maps{params.maps + uint64_t(isa.ctaid().x) * cta_map_bytes(cfg.map_slots), cfg.map_slots};
  const int warp = isa.warpid();
  if (epilogue_group().has(warp))
    grouped_epilogue_warp(
        isa, cfg, epilogue_group(), smem, params, scheduler,
        GroupedOutput<Config>{cfg, params, maps, smem.tiles.map_copies + kInputMaps * kTensorMapBytes});
  if (warp == kLoadWarp) {
    const ClusterPlace place = own_place(isa, cfg);
    GroupedLoader<Config> loader{cfg, params, place, maps, smem.tiles.map_copies};
    if (cfg.map_edits == MapEdits::shared) isa.elected([&] { loader.copy_templates(isa); });
    load_warp(isa, cfg, input_ring(isa, cfg, smem, place), loader, scheduler);
  }
  if (warp == kMmaWarp) {
    const ClusterPlace place = own_place(isa, cfg);
    mma_warp(isa, cfg, smem, place, mma_input(isa, cfg, smem, place), ScaledMmas<Config>{cfg}, scheduler);
  }
  if (!stores_sfb(cfg)) return;
  if (warp == kSfbLoadWarp)
    sfb_load_warp(
        isa, cfg, sfb_ring(isa, cfg, smem.tiles),
        GroupedSfbMap<Config>{cfg, params, maps, smem.tiles.map_copies + uint32_t(kSfbMap) * kTensorMapBytes},
        scheduler);
  if (sfb_store_group().has(warp)) sfb_store_warp(isa, cfg, smem, own_place(isa, cfg), scheduler);
}

}  // namespace sm100
