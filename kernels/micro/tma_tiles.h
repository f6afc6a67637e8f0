// SPDX-License-Identifier: Apache-2.0
/// tma_tiles: tensor copies alone.  Every warp loads tile after tile of a float matrix into its own ring of slots
/// and waits, or stores what is in a slot to another matrix; nobody reads the tiles.
///
/// Without `sync` a slot is loaded again as soon as its tile has arrived (a stream); with it all warps of the
/// cluster meet when all of their slots have been filled, and load them again at once.  CTAs that share read the
/// same tiles: by loads of their own, or by one multicast of the cluster's first CTA.  What public microbenchmarks
/// of TMA measure (docs/measurements.md).
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
  bool sync = false;       ///< cluster barrier after `stages` tiles of each warp, which then loads as many
  int tiles = 32;          ///< of a warp
  int distinct = 0;        ///< of these: afterwards it walks the same again; 0: all
  bool shuffled = false;   ///< every walk in an order of its own
  int reads = 1;           ///< of so many tiles that are loaded ...
  int writes = 0;          ///< ... so many are stored
  int observer_rows = 0;   ///< warp 0 of CTA 0 loads boxes of so many rows, one at a time; 0: nobody does
  int loop_cycles = 0;     ///< for each tile, beyond the instructions below: what else the loop does
  bool uneven = false;     ///< between half and one and a half times as many of these cycles

  constexpr bool operator==(const TmaTilesConfig&) const = default;
};

struct TmaTilesParams {
  TensorMap source;    ///< {box_width, rows}, box {box_width, box_height}
  TensorMap target;    ///< as the source
  TensorMap observed;  ///< rows of the source, in boxes of observer_rows
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

/// Tiles of a warp that differ.
template <class C>
SM100_HD constexpr int distinct_tiles(const C& c) {
  return c.distinct > 0 ? c.distinct : c.tiles;
}

/// Number of the warp's i-th tile among those that differ.
template <class C>
SM100_HD constexpr int tile_number(const C& c, int cta, int warp, int i) {
  const int n = distinct_tiles(c), walk = i / n, at = i % n;
  if (!c.shuffled || n < 3) return at;
  // Steps of a prime that does not divide n visit all.
  constexpr int kPrimes[] = {7919, 104729, 611953, 1299709, 224737, 350377, 479909, 746773};
  const int prime = kPrimes[unsigned(walk + warp) % 8];
  const int step = n % prime == 0 || prime % n == 0 ? 1 : prime % n;
  return int((int64_t{at} * step + int64_t{walk} * 7 + cta) % n);
}

/// First row of the tile that the warp loads or stores as its i-th.
template <class C>
SM100_HD constexpr int first_row(const C& c, int cta, int ctas, int warp, int i) {
  const int readers = (ctas + c.sharers - 1) / c.sharers;
  return ((tile_number(c, cta, warp, i) * readers + cta / c.sharers) * c.warps + warp) * c.box_height;
}

template <class C>
SM100_HD constexpr bool is_write(const C& c, int i) {
  return i % (c.reads + c.writes) >= c.reads;
}

/// Loads that the slot of tile i has had before it.
template <class C>
SM100_HD constexpr int loads_before(const C& c, int i) {
  int loads = 0;
  for (int at = i % c.stages; at < i; at += c.stages) loads += !is_write(c, at);
  return loads;
}

template <Isa I, class Config>
SM100_KERNEL void move_tile(I& isa, const Config& cfg, const TmaTilesStorage& smem, const TmaTilesParams& params,
                            int i) {
  const int slot = isa.warpid() * cfg.stages + i % cfg.stages;
  const SmemAddr tile = smem.slots + uint32_t(slot) * tile_bytes(cfg), full = smem.full + 8u * uint32_t(slot);
  const TensorCoords coords{0, first_row(cfg, int(isa.ctaid().x), int(isa.nctaid().x), isa.warpid(), i)};
  if (is_write(cfg, i)) {
    TraceSpan span{isa, TraceEvent::store_issue, {.stage = slot, .k = i}};
    isa.elected([&] {
      isa.cp_async_bulk_tensor_global_shared(&params.target, coords, tile);
      isa.cp_async_bulk_commit_group();
    });
    return;
  }
  TraceSpan span{isa, TraceEvent::load_issue, {.stage = slot, .k = i}};
  isa.elected([&] {
    isa.mbarrier_arrive_expect_tx(full, tile_bytes(cfg), Scope::cta);
    if (!cfg.multicast)
      isa.cp_async_bulk_tensor_shared_global(tile, &params.source, coords, full);
    else if (isa.cluster_ctarank() == 0)
      isa.cp_async_bulk_tensor_shared_global_multicast(tile, &params.source, coords, full,
                                                       CtaMask{uint16_t((1u << cfg.cluster) - 1)});
  });
}

/// A number from 0 to 15 that looks random.
SM100_HD constexpr int uneven_step(int i, int warp, int cta) {
  uint32_t v = uint32_t(i) * 2654435761u ^ uint32_t(warp) * 40503u ^ uint32_t(cta) * 2246822519u;
  v = (v ^ v >> 15) * 2246822519u;
  v = (v ^ v >> 13) * 3266489917u;
  return int(v >> 28);
}

/// Until the slot of tile i is free: its load has arrived, or its store has been read.
template <Isa I, class Config>
SM100_KERNEL void await_tile(I& isa, const Config& cfg, const TmaTilesStorage& smem, int i, int issued) {
  const int slot = isa.warpid() * cfg.stages + i % cfg.stages;
  const SmemAddr full = smem.full + 8u * uint32_t(slot);
  if (!is_write(cfg, i)) {
    const int phase = loads_before(cfg, i);
    mbarrier_wait(isa, full, uint32_t(phase) & 1, Scope::cta,
                  {.barrier = full, .stage = slot, .phase = phase, .k = i}, Loc::current());
    return;
  }
  int behind = 0;
  for (int at = i + 1; at < issued; ++at) behind += is_write(cfg, at);
  TraceSpan span{isa, TraceEvent::store_wait, {.stage = slot, .k = i}};
  isa.elected([&] {
    if (behind == 0)
      isa.template cp_async_bulk_wait_group_read<0>();
    else if (behind == 1)
      isa.template cp_async_bulk_wait_group_read<1>();
    else if (behind == 2)
      isa.template cp_async_bulk_wait_group_read<2>();
    else
      isa.template cp_async_bulk_wait_group_read<3>();
  });
}

/// One box after the other, each when the one before has arrived and some cycles have passed; few, so that the
/// others are at it all the time.
template <Isa I, class Config>
SM100_KERNEL void observe(I& isa, const Config& cfg, const TmaTilesStorage& smem, const TmaTilesParams& params) {
  for (int i = 0; i < cfg.tiles / 4; ++i) {
    {
      TraceSpan span{isa, TraceEvent::load_issue, {.stage = 0, .k = i}};
      isa.elected([&] {
        isa.mbarrier_arrive_expect_tx(smem.full, uint32_t(cfg.box_width * cfg.observer_rows) * 4, Scope::cta);
        isa.cp_async_bulk_tensor_shared_global(
            smem.slots, &params.observed, TensorCoords{0, first_row(cfg, 0, int(isa.nctaid().x), 0, i)}, smem.full);
      });
    }
    mbarrier_wait(isa, smem.full, uint32_t(i) & 1, Scope::cta,
                  {.barrier = smem.full, .stage = 0, .phase = i, .k = i}, Loc::current());
    isa.for_each_lane(200 + 97 * (i % 7), [](int) {});
  }
}

template <Isa I, class Config>
SM100_KERNEL void tma_tiles_kernel(I& isa, const Config& cfg, const TmaTilesParams& params) {
  const TmaTilesStorage smem = storage_at<TmaTilesStorage>(cfg, isa.dynamic_smem());
  set_up_cluster(isa, cfg, smem, [&] { prefetch_tensormaps(isa, params.source); });
  if (cfg.observer_rows > 0 && isa.ctaid().x == 0) {
    if (isa.warpid() == 0) observe(isa, cfg, smem, params);
  } else {
    for (int i = 0; i < cfg.stages && i < cfg.tiles; ++i) move_tile(isa, cfg, smem, params, i);
    for (int i = 0; i < cfg.tiles; ++i) {
      const int issued = i + cfg.stages < cfg.tiles ? i + cfg.stages : cfg.tiles;
      await_tile(isa, cfg, smem, i, issued);
      const bool fills_last_slot = (i + 1) % cfg.stages == 0;
      if (cfg.sync && !fills_last_slot) continue;
      if (cfg.sync) meet_cluster(isa);
      const int spread = cfg.uneven ? uneven_step(i, isa.warpid(), int(isa.ctaid().x)) : 0;
      isa.for_each_lane(cfg.uneven ? cfg.loop_cycles / 2 + cfg.loop_cycles * spread / 15 : cfg.loop_cycles,
                        [](int) {});
      const int next = cfg.sync ? i + 1 : i + cfg.stages, last = i + cfg.stages;
      for (int at = next; at <= last && at < cfg.tiles; ++at) move_tile(isa, cfg, smem, params, at);
    }
  }
  meet_cluster(isa);  // nobody's multicast is on its way to a CTA that has exited
}

}  // namespace sm100
