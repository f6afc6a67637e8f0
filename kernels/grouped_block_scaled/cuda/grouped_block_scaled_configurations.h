// SPDX-License-Identifier: Apache-2.0
/// The configurations of the grouped block-scaled matmul that exist as CUDA kernels.
#pragma once

#include "kernels/block_scaled/cuda/block_scaled_configurations.h"
#include "kernels/grouped_block_scaled/grouped_block_scaled_kernel.h"

namespace sm100 {

struct NamedGroupedConfig {
  const char* name;
  GroupedBlockScaledConfig config;
};

constexpr GroupedBlockScaledConfig grouped_config(BlockFormat format, DataType dtype, const BlockScaledTile& tile,
                                                  MapEdits map_edits = MapEdits::shared) {
  GroupedBlockScaledConfig c(block_scaled_config(format, dtype, tile));
  c.map_edits = map_edits;
  c.map_slots = enough_map_slots(c);
  return c;
}

struct GroupedBlockScaledConfigurations {
  static constexpr NamedGroupedConfig entries[] = {
      {"mxfp8_128x128_s6", grouped_config(BlockFormat::mxfp8, DataType::e4m3, {.stages = 6})},
      {"nvfp4_128x128_s5", grouped_config(BlockFormat::nvfp4, DataType::e2m1, {.stages = 5})},
      {"nvfp4_128x128_s5_global",
       grouped_config(BlockFormat::nvfp4, DataType::e2m1, {.stages = 5}, MapEdits::global)},
      {"pair_nvfp4_256x256_s5",
       grouped_config(
           BlockFormat::nvfp4, DataType::e2m1,
           {.mma_m = 256, .mma_n = 256, .cta_group = 2, .stages = 5, .accum_stages = 1, .cluster_m = 2})},
      {"nvfp4_128x32_s8", grouped_config(BlockFormat::nvfp4, DataType::e2m1, {.mma_n = 32, .stages = 8})},
      {"pair_mxfp8_256x48_s6_global",
       grouped_config(BlockFormat::mxfp8, DataType::e4m3,
                      {.mma_m = 256, .mma_n = 48, .cta_group = 2, .stages = 6, .cluster_m = 2}, MapEdits::global)},
  };
};

/// A configuration as the type that role code takes for `Config`.
template <size_t kIndex>
struct CompiledGroupedConfig : CompiledMatmulMembers<GroupedBlockScaledConfigurations, kIndex> {
  using Base = CompiledMatmulMembers<GroupedBlockScaledConfigurations, kIndex>;
  static constexpr BlockFormat format = Base::value.format;
  static constexpr ScaleType scale_type = Base::value.scale_type;
  static constexpr MapEdits map_edits = Base::value.map_edits;
  static constexpr int map_slots = Base::value.map_slots;
  static constexpr EmptyK empty_k = Base::value.empty_k;

  static_assert(storage_bytes<GroupedStorage>(Base::value) <= uint32_t(kSmemBudgetBytes),
                "the stages do not fit a CTA's memory");
  static_assert(used_columns(Base::value) <= int(kTmemColumns), "accumulators and scales do not fit tensor memory");
};

}  // namespace sm100
