// SPDX-License-Identifier: Apache-2.0
/// The configurations of the grouped 1D-2D matmul that exist as CUDA kernels.
#pragma once

#include "kernels/grouped_1d2d/grouped_1d2d_kernel.h"
#include "kernels/matmul/cuda/compiled_config.h"

namespace sm100 {

struct NamedGrouped1d2dConfig {
  const char* name;
  Grouped1d2dConfig config;
};

/// What differs from one CTA of 128 x 128 with two accumulators and e4m3 operands, prefix sums, a walk in every
/// role.
struct Grouped1d2dTile {
  int mma_m = 128, mma_n = 128, cta_group = 1, stages = 0, accum_stages = 2;
  DataType dtype = DataType::e4m3, scale_dtype = DataType::f32, output = DataType::bf16;
  Swizzle swizzle = Swizzle::b128;
  bool expert_scales = false, pdl = false;
  TokenLayout layout = TokenLayout::prefix_sum;
  int work_stages = 0, block_swizzle = 0;
};

constexpr Grouped1d2dConfig grouped_1d2d_config(const Grouped1d2dTile& tile) {
  Grouped1d2dConfig c;
  c.dtype = tile.dtype, c.scale_dtype = tile.scale_dtype, c.output = tile.output, c.swizzle = tile.swizzle;
  c.mma_m = tile.mma_m, c.mma_n = tile.mma_n;
  c.cta_group = c.cluster_m = tile.cta_group;
  c.stages = tile.stages, c.accum_stages = tile.accum_stages;
  c.scaled = tile.expert_scales, c.pdl = tile.pdl;
  c.layout = tile.layout;
  c.work_stages = tile.work_stages, c.block_swizzle = tile.block_swizzle;
  return c;
}

struct Grouped1d2dConfigurations {
  static constexpr NamedGrouped1d2dConfig entries[] = {
      {"tokens_128x128_s6", grouped_1d2d_config({.stages = 6})},
      {"tokens_64x256_s5_ring_scales",
       grouped_1d2d_config(
           {.mma_m = 64, .mma_n = 256, .stages = 5, .expert_scales = true, .work_stages = 2, .block_swizzle = 8})},
      {"pair_tokens_256x128_s8", grouped_1d2d_config({.mma_m = 256, .cta_group = 2, .stages = 8})},
      {"pair_tokens_128x256_s8_ring",
       grouped_1d2d_config({.mma_m = 128, .mma_n = 256, .cta_group = 2, .stages = 8, .work_stages = 2})},
      {"tokens_e5m2_64x136_s8_contiguous",
       grouped_1d2d_config(
           {.mma_m = 64, .mma_n = 136, .stages = 8, .dtype = DataType::e5m2, .layout = TokenLayout::contiguous})},
      {"tokens_128x64_k64_s12_masked_f32", grouped_1d2d_config({.mma_n = 64,
                                                                .stages = 12,
                                                                .output = DataType::f32,
                                                                .swizzle = Swizzle::b64,
                                                                .pdl = true,
                                                                .layout = TokenLayout::masked,
                                                                .work_stages = 2})},
      {"pair_tokens_256x128_s8_bf16_scales",
       grouped_1d2d_config({.mma_m = 256, .cta_group = 2, .stages = 8, .scale_dtype = DataType::bf16})},
  };
};

/// A configuration as the type that role code takes for `Config`.
template <size_t kIndex>
struct CompiledGrouped1d2dConfig : CompiledMatmulMembers<Grouped1d2dConfigurations, kIndex> {
  using Base = CompiledMatmulMembers<Grouped1d2dConfigurations, kIndex>;
  static constexpr int scale_block = BlockwiseConfig::scale_block;
  static constexpr DataType scale_dtype = Base::value.scale_dtype;
  static constexpr TokenLayout layout = Base::value.layout;
  static constexpr int work_stages = Base::value.work_stages;
  static constexpr bool whole_tiles = Base::value.whole_tiles;

  static_assert(storage_bytes<Grouped1d2dStorage>(Base::value) <= uint32_t(kSmemBudgetBytes),
                "the stages do not fit a CTA's memory");
  static_assert(n_blocks_per_tile(Base::value) <= 2, "the epilogue has scales of two blocks of columns");
};

}  // namespace sm100
