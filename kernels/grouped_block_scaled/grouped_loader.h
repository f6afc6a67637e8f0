// SPDX-License-Identifier: Apache-2.0
/// What the load warp of the grouped matmul does: the block-scaled loads, with maps that it makes for each group.
///
/// A CTA has a ring of sets of maps (A, B, SFA, SFB); the next group with loads gets the next set, so that loads of
/// earlier groups that are still on their way keep theirs (config.h: enough_map_slots).  Where a warp of its own
/// loads SFB, it makes that map: it comes to the same groups, and so to the same sets.
#pragma once

#include "kernels/block_scaled/scaled_loader.h"
#include "kernels/grouped_block_scaled/group_scheduler.h"
#include "kernels/grouped_block_scaled/map_editor.h"

namespace sm100 {

/// In global memory, by the names of BlockScaledParams.
struct SetOfMaps {
  GlobalAddr a, b, sfa, sfb;
};

/// The set of maps of the tile that a warp has come to.
struct MapCursor {
  int group = -1;  ///< whose maps the set `slot` holds
  int slot = -1;

  /// @return whether a tile begins a group with loads: the next set is to be made.  A map has no dimension of 0.
  SM100_HD constexpr bool enters(const WorkTile& tile, int slots) {
    if (tile.group == group || tile.k_count == 0) return false;
    group = tile.group;
    slot = slot + 1 == slots ? 0 : slot + 1;
    return true;
  }
};

template <class C>
SM100_HD constexpr ScaleExtent scale_extent(const C& c, int rows, int k) {
  return {uint32_t(ceil_div(ceil_div(k, scale_block(c)), kScaleAtomScales)),
          uint32_t(ceil_div(rows, kScaleAtomRows))};
}

/// What the SFB load warp copies with.
template <class Config>
class GroupedSfbMap {
 public:
  /// @param copy  of the template in shared memory
  SM100_HD GroupedSfbMap(const Config& cfg, const GroupedBlockScaledParams& params, const CtaMaps& maps,
                         SmemAddr copy)
      : cfg_(cfg), params_(params), maps_(maps), copy_(copy) {}

  /// The whole warp.
  template <Isa I>
  SM100_KERNEL void begin_tile(I& isa, const WorkTile& tile, Loc loc = Loc::current()) {
    const bool is_first = at_.group < 0;
    if (!at_.enters(tile, cfg_.map_slots)) return;
    TraceSpan span{isa, TraceEvent::map_edit, {.stage = at_.slot, .tile_m = tile.m, .tile_n = tile.n}};
    if (is_first && cfg_.map_edits == MapEdits::shared)
      isa.elected([&] { copy_template(isa, params_.sfb, copy_, loc); });
    const GroupProblem problem = load_problem(isa, params_.problems, tile.group, loc);
    const uint64_t pointer = load_pointer(isa, params_.pointers, tile.group, GroupPointer::sfb, loc);
    publish_maps(
        isa, cfg_, address(), copy_, 1,
        [&](auto map, int) { edit_scale_map(isa, map, pointer, scale_extent(cfg_, problem.n, problem.k), loc); },
        loc);
  }
  SM100_KERNEL GlobalAddr address() const { return maps_.input(at_.slot, kSfbMap); }

 private:
  const Config& cfg_;
  const GroupedBlockScaledParams& params_;
  CtaMaps maps_;
  SmemAddr copy_;
  MapCursor at_;
};

template <class Config>
class GroupedLoader {
 public:
  /// @param copies  of kInputMaps templates in shared memory
  SM100_HD GroupedLoader(const Config& cfg, const GroupedBlockScaledParams& params, const ClusterPlace& place,
                         const CtaMaps& maps, SmemAddr copies)
      : cfg_(cfg), params_(params), place_(place), maps_(maps), copies_(copies) {}

  SM100_HD bool arms() const { return place_.leads(); }

  /// One lane, once.
  template <Isa I>
  SM100_KERNEL void copy_templates(I& isa) const {
    const TensorMap* const templates[kInputMaps] = {&params_.a, &params_.b, &params_.sfa, &params_.sfb};
    for (int i = 0; i < own_maps(); ++i) copy_template(isa, *templates[i], copies_ + uint32_t(i) * kTensorMapBytes);
  }

  /// The whole warp.
  template <Isa I>
  SM100_KERNEL void begin_tile(I& isa, const WorkTile& tile, Loc loc = Loc::current()) {
    if (!at_.enters(tile, cfg_.map_slots)) return;
    TraceSpan span{isa, TraceEvent::map_edit, {.stage = at_.slot, .tile_m = tile.m, .tile_n = tile.n}};
    const GroupProblem problem = load_problem(isa, params_.problems, tile.group, loc);
    uint64_t pointers[kInputMaps];
    for (int i = 0; i < own_maps(); ++i)
      pointers[i] = load_pointer(isa, params_.pointers, tile.group, GroupPointer(i), loc);
    publish_maps(
        isa, cfg_, maps_.input(at_.slot, 0), copies_, own_maps(),
        [&](auto map, int i) { edit(isa, map, i, problem, pointers[i], loc); }, loc);
  }

  template <Isa I, class Stage>
  SM100_KERNEL void load(I& isa, const Stage& stage, const WorkTile& tile, int k_tile) const {
    const int slot = at_.slot;
    const SetOfMaps set{maps_.input(slot, 0), maps_.input(slot, 1), maps_.input(slot, 2),
                        maps_.input(slot, kSfbMap)};
    ScaledLoader<Config, SetOfMaps>{cfg_, set, place_}.load(isa, stage, tile, k_tile);
  }

 private:
  SM100_HD constexpr int own_maps() const { return stores_sfb(cfg_) ? kSfbMap : kInputMaps; }

  template <Isa I, class Map>
  SM100_KERNEL void edit(I& isa, Map map, int i, const GroupProblem& problem, uint64_t address, Loc loc) const {
    const int rows = i % 2 == 0 ? problem.m : problem.n;
    if (i < 2) {  // A and B, in bytes
      const uint32_t row_bytes = uint32_t(int64_t(problem.k) * operand_bits(cfg_) / 8);
      edit_matrix_map(isa, map, {address, row_bytes, uint32_t(rows), row_bytes}, loc);
    } else {
      edit_scale_map(isa, map, address, scale_extent(cfg_, rows, problem.k), loc);
    }
  }

  const Config& cfg_;
  const GroupedBlockScaledParams& params_;
  ClusterPlace place_;
  CtaMaps maps_;
  SmemAddr copies_;
  MapCursor at_;
};

}  // namespace sm100
