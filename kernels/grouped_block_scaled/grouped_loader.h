// SPDX-License-Identifier: Apache-2.0
/// What the load warp of the grouped matmul does: the block-scaled loads, with maps that it makes for each group.
///
/// A CTA has a ring of sets of maps (A, B, SFA, SFB); the next group with loads gets the next set, so that loads of
/// earlier groups that are still on their way keep theirs (config.h: enough_map_slots).
#pragma once

#include "kernels/block_scaled/scaled_loader.h"
#include "kernels/grouped_block_scaled/group_scheduler.h"
#include "kernels/grouped_block_scaled/map_editor.h"

namespace sm100 {

/// In global memory, by the names of BlockScaledParams.
struct SetOfMaps {
  GlobalAddr a, b, sfa, sfb;
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
    for (int i = 0; i < kInputMaps; ++i) copy_template(isa, *templates[i], copies_ + uint32_t(i) * kTensorMapBytes);
  }

  /// The whole warp.
  template <Isa I>
  SM100_KERNEL void begin_tile(I& isa, const WorkTile& tile, Loc loc = Loc::current()) {
    if (tile.group == group_ || tile.k_count == 0) return;  // a map has no dimension of 0, and nothing is loaded
    group_ = tile.group;
    slot_ = slot_ + 1 == cfg_.map_slots ? 0 : slot_ + 1;
    TraceSpan span{isa, TraceEvent::map_edit, {.stage = slot_, .tile_m = tile.m, .tile_n = tile.n}};
    const GroupProblem problem = load_problem(isa, params_.problems, group_, loc);
    uint64_t pointers[kInputMaps];
    for (int i = 0; i < kInputMaps; ++i)
      pointers[i] = load_pointer(isa, params_.pointers, group_, GroupPointer(i), loc);
    publish_maps(
        isa, cfg_, maps_.input(slot_, 0), copies_, kInputMaps,
        [&](auto map, int i) { edit(isa, map, i, problem, pointers[i], loc); }, loc);
  }

  template <Isa I, class Stage>
  SM100_KERNEL void load(I& isa, const Stage& stage, const WorkTile& tile, int k_tile) const {
    const SetOfMaps set{maps_.input(slot_, 0), maps_.input(slot_, 1), maps_.input(slot_, 2), maps_.input(slot_, 3)};
    ScaledLoader<Config, SetOfMaps>{cfg_, set, place_}.load(isa, stage, tile, k_tile);
  }

 private:
  template <Isa I, class Map>
  SM100_KERNEL void edit(I& isa, Map map, int i, const GroupProblem& problem, uint64_t address, Loc loc) const {
    const int rows = i % 2 == 0 ? problem.m : problem.n;
    if (i < 2) {  // A and B, in bytes
      const uint32_t row_bytes = uint32_t(int64_t(problem.k) * operand_bits(cfg_) / 8);
      edit_matrix_map(isa, map, {address, row_bytes, uint32_t(rows), row_bytes}, loc);
    } else {
      const int scales = ceil_div(problem.k, scale_block(cfg_));
      edit_scale_map(isa, map, address, uint32_t(ceil_div(scales, kScaleAtomScales)),
                     uint32_t(ceil_div(rows, kScaleAtomRows)), loc);
    }
  }

  const Config& cfg_;
  const GroupedBlockScaledParams& params_;
  ClusterPlace place_;
  CtaMaps maps_;
  SmemAddr copies_;
  int group_ = -1;  ///< whose maps the set `slot_` holds
  int slot_ = -1;
};

}  // namespace sm100
