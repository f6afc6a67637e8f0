// SPDX-License-Identifier: Apache-2.0
/// The configurations of the grouped 1D-1D matmul that exist as CUDA kernels.
#pragma once

#include "kernels/grouped_1d1d/grouped_1d1d_kernel.h"
#include "kernels/matmul/cuda/compiled_config.h"

namespace sm100 {

struct NamedGrouped1d1dConfig {
  const char* name;
  Grouped1d1dConfig config;
};

/// What differs from NVFP4 in tiles of 128 x 128 of one CTA, prefix sums, a walk in every role.
struct Grouped1d1dTile {
  BlockFormat format = BlockFormat::nvfp4;
  int mma_n = 128, cta_group = 1, stages = 5, accum_stages = 2;
  bool ab_swapped = false, expert_scales = false;
  TokenLayout layout = TokenLayout::prefix_sum;
  int work_stages = 0, block_swizzle = 0;
};

constexpr Grouped1d1dConfig grouped_1d1d_config(const Grouped1d1dTile& tile) {
  Grouped1d1dConfig c;
  const bool mxfp8 = tile.format == BlockFormat::mxfp8;
  c.format = tile.format, c.dtype = mxfp8 ? DataType::e4m3 : DataType::e2m1;
  c.scale_type = tile.format == BlockFormat::nvfp4 ? ScaleType::ue4m3 : ScaleType::ue8m0;
  c.mma_m = 128 * tile.cta_group, c.mma_n = tile.mma_n, c.mma_k = mxfp8 ? 32 : 64;
  c.cta_group = c.cluster_m = tile.cta_group;
  c.stages = tile.stages, c.accum_stages = tile.accum_stages;
  c.ab_swapped = tile.ab_swapped, c.scaled = tile.expert_scales;
  c.layout = tile.layout;
  c.work_stages = tile.work_stages, c.block_swizzle = tile.block_swizzle;
  return c;
}

struct Grouped1d1dConfigurations {
  static constexpr NamedGrouped1d1dConfig entries[] = {
      {"nvfp4_128x128_s5", grouped_1d1d_config({})},
      {"nvfp4_128x128_s5_ring_scales_w8",
       grouped_1d1d_config({.expert_scales = true, .work_stages = 2, .block_swizzle = 8})},
      {"pair_nvfp4_256x128_s7", grouped_1d1d_config({.cta_group = 2, .stages = 7, .expert_scales = true})},
      {"pair_mxfp8_256x256_s6_ring", grouped_1d1d_config({.format = BlockFormat::mxfp8,
                                                          .mma_n = 256,
                                                          .cta_group = 2,
                                                          .stages = 6,
                                                          .accum_stages = 1,
                                                          .work_stages = 2})},
      {"nvfp4_128x64_s7_swapped",
       grouped_1d1d_config({.mma_n = 64, .stages = 7, .ab_swapped = true, .expert_scales = true})},
      {"nvfp4_128x128_s5_contiguous", grouped_1d1d_config({.layout = TokenLayout::contiguous})},
      {"mxfp8_128x128_s6_masked_ring",
       grouped_1d1d_config(
           {.format = BlockFormat::mxfp8, .stages = 6, .layout = TokenLayout::masked, .work_stages = 2})},
  };
};

/// A configuration as the type that role code takes for `Config`.
template <size_t kIndex>
struct CompiledGrouped1d1dConfig : CompiledMatmulMembers<Grouped1d1dConfigurations, kIndex> {
  using Base = CompiledMatmulMembers<Grouped1d1dConfigurations, kIndex>;
  static constexpr BlockFormat format = Base::value.format;
  static constexpr ScaleType scale_type = Base::value.scale_type;
  static constexpr TokenLayout layout = Base::value.layout;
  static constexpr int work_stages = Base::value.work_stages;
  static constexpr bool whole_tiles = Base::value.whole_tiles;

  static_assert(storage_bytes<Grouped1d1dStorage>(Base::value) <= uint32_t(kSmemBudgetBytes),
                "the stages do not fit a CTA's memory");
  static_assert(used_columns(Base::value) <= int(kTmemColumns), "accumulators and scales do not fit tensor memory");
};

}  // namespace sm100
