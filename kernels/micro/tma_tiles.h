// SPDX-License-Identifier: Apache-2.0
/// tma_tiles: tensor loads alone.  Every warp loads tile after tile of a float matrix into its own ring of slots
/// and waits; nobody reads the tiles.
///
/// Without `sync` a slot is loaded again as soon as its tile has arrived (a stream); with it all warps of the
/// cluster meet after each tile.  CTAs that share read the same tiles: by loads of their own, or by one multicast
/// of the cluster's first CTA.  What public microbenchmarks of TMA measure (docs/measurements.md).
#pragma once

#include "kernels/isa/number_formats.h"
#include "kernels/isa/tensor_map.h"
#include "kernels/pipeline/producer_consumer_pipeline.h"
#include "kernels/pipeline/set_up.h"

namespace sm100 {

struct TmaTilesConfig {
  int box_width = 128, box_height = 8;  ///< of a tile: floats of a row, rows
  int warps = 1;
  int stages = 1;          ///< slots of a warp
  int cluster = 1;         ///< CTAs of a cluster, along x
  int sharers = 1;         ///< neighbouring CTAs that read the same tiles
  bool multicast = false;  ///< the first CTA of the cluster loads for all
  bool sync = false;       ///< cluster barrier after each tile
  int tiles = 32;          ///< of a warp
  int loop_cycles = 0;     ///< for each tile, beyond the instructions below: what else the loop does

  constexpr bool operator==(const TmaTilesConfig&) const = default;
};

struct TmaTilesParams {
  TensorMap source;  ///< {box_width, rows}, box {box_width, box_height}
};

/// Role of a warp, for reports and traces.
constexpr const char* tma_tiles_role(int) { return "load"; }

template <class C>
SM100_HD constexpr uint32_t tile_bytes(const C& c) {
  return uint32_t(c.box_width * c.box_height) * 4;
}

struct TmaTilesStorage {
  SmemAddr slots;  ///< warps x stages tiles
  SmemAddr full;   ///< an mbarrier for each
  uint32_t end = 0;

  template <class C, class Layout>
  SM100_HD static constexpr void place(TmaTilesStorage& s, const C& c, Layout& layout) {
    layout.bytes(s.slots, uint32_t(c.warps * c.stages) * tile_bytes(c), 128);
    layout.barriers(s.full, {.name = "full",
                             .stages = c.warps * c.stages,
                             .count = 1,
                             .arrives = "load",
                             .arrives_with = "mbarrier.arrive.expect_tx",
                             .waits = "load"});
  }
};

/// First row of the tile that the warp loads as its i-th.
template <class C>
SM100_HD constexpr int first_row(const C& c, int cta, int ctas, int warp, int i) {
  const int readers = (ctas + c.sharers - 1) / c.sharers;
  return ((i * readers + cta / c.sharers) * c.warps + warp) * c.box_height;
}

template <Isa I, class Config>
SM100_KERNEL void load_tile(I& isa, const Config& cfg, const TmaTilesStorage& smem, const TmaTilesParams& params,
                            int i) {
  const int slot = isa.warpid() * cfg.stages + i % cfg.stages;
  const SmemAddr to = smem.slots + uint32_t(slot) * tile_bytes(cfg), full = smem.full + 8u * uint32_t(slot);
  const TensorCoords coords{0, first_row(cfg, int(isa.ctaid().x), int(isa.nctaid().x), isa.warpid(), i)};
  TraceSpan span{isa, TraceEvent::load_issue, {.stage = slot, .k = i}};
  isa.elected([&] {
    isa.mbarrier_arrive_expect_tx(full, tile_bytes(cfg), Scope::cta);
    if (!cfg.multicast)
      isa.cp_async_bulk_tensor_shared_global(to, &params.source, coords, full);
    else if (isa.cluster_ctarank() == 0)
      isa.cp_async_bulk_tensor_shared_global_multicast(to, &params.source, coords, full,
                                                       CtaMask{uint16_t((1u << cfg.cluster) - 1)});
  });
}

template <Isa I, class Config>
SM100_KERNEL void tma_tiles_kernel(I& isa, const Config& cfg, const TmaTilesParams& params) {
  const TmaTilesStorage smem = storage_at<TmaTilesStorage>(cfg, isa.dynamic_smem());
  set_up_cluster(isa, cfg, smem, [&] { prefetch_tensormaps(isa, params.source); });
  for (int i = 0; i < cfg.stages && i < cfg.tiles; ++i) load_tile(isa, cfg, smem, params, i);
  for (int i = 0; i < cfg.tiles; ++i) {
    const int slot = isa.warpid() * cfg.stages + i % cfg.stages, lap = i / cfg.stages;
    const SmemAddr full = smem.full + 8u * uint32_t(slot);
    mbarrier_wait(isa, full, uint32_t(lap) & 1, Scope::cta, {.barrier = full, .stage = slot, .phase = lap, .k = i},
                  Loc::current());
    if (cfg.sync) meet_cluster(isa);
    isa.for_each_lane(cfg.loop_cycles, [](int) {});
    if (i + cfg.stages < cfg.tiles) load_tile(isa, cfg, smem, params, i + cfg.stages);
  }
  meet_cluster(isa);  // nobody's multicast is on its way to a CTA that has exited
}

}  // namespace sm100
