// SPDX-License-Identifier: Apache-2.0
/// Configuration of the grouped block-scaled matmul: the block-scaled one's, and where the kernel edits the tensor
/// maps of its groups.
#pragma once

#include "kernels/block_scaled/config.h"
#include "kernels/scheduler/work_tile.h"

namespace sm100 {

/// Where tensor maps are edited.
enum class MapEdits : uint8_t {
  shared,  ///< in a copy in shared memory, which tensormap.cp_fenceproxy brings to global memory
  global,  ///< in global memory, behind which comes fence.proxy.tensormap release
};

/// What is stored for tiles of a group whose K is 0.
enum class EmptyK : uint8_t {
  zeros,
  accumulator,  ///< a mistake: what an earlier tile has left in tensor memory
};

/// Of the base: clusters are the CTAs of an MMA, the scheduler is GroupScheduler, ab_swapped and pdl keep their
/// defaults.
struct GroupedBlockScaledConfig : BlockScaledConfig {
  MapEdits map_edits = MapEdits::shared;
  int map_slots = 0;  ///< sets of maps of A, B and their scales in a CTA's ring
  EmptyK empty_k = EmptyK::zeros;

  constexpr GroupedBlockScaledConfig() {
    static_scheduler = true;  // in that clusters stay and take one tile after the other
    clc_stages = 0;
  }
  constexpr explicit GroupedBlockScaledConfig(const BlockScaledConfig& base) : BlockScaledConfig(base) {
    static_scheduler = true;
    clc_stages = 0;
  }
  constexpr bool operator==(const GroupedBlockScaledConfig&) const = default;
};

template <class C>
concept Grouped = requires(const C& c) {
  c.map_slots;
};

template <Grouped C>
SM100_HD constexpr bool is_written_without_mmas(const C& c, const WorkTile& tile) {
  return tile.k_count == 0 && c.empty_k == EmptyK::zeros;
}

/// So many that no wait is needed before an edit.  A group changes maps only if it has loads, at least one stage;
/// when a set comes round again, `stages` others have been loaded with since, so that the stage of its last load
/// has been acquired again, behind the MMAs that have read it.
template <class C>
SM100_HD constexpr int enough_map_slots(const C& c) {
  return c.stages + 1;
}

}  // namespace sm100
