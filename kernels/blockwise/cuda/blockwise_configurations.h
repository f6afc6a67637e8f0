// SPDX-License-Identifier: Apache-2.0
/// The configurations of the blockwise matmul that exist as CUDA kernels.
#pragma once

#include "kernels/blockwise/blockwise_kernel.h"
#include "kernels/matmul/cuda/compiled_config.h"

namespace sm100 {

struct NamedBlockwiseConfig {
  const char* name;
  BlockwiseConfig config;
};

/// What differs from one CTA of 128 x 128 with two accumulators and e4m3 operands.
struct BlockwiseTile {
  int mma_m = 128, mma_n = 128, cta_group = 1, stages = 0, accum_stages = 2;
  int cluster_m = 1, cluster_n = 1;
  DataType dtype = DataType::e4m3, scale_dtype = DataType::f32, output = DataType::bf16;
  Swizzle swizzle = Swizzle::b128;
};

constexpr BlockwiseConfig blockwise_config(const BlockwiseTile& tile) {
  BlockwiseConfig c;
  c.dtype = tile.dtype, c.scale_dtype = tile.scale_dtype, c.output = tile.output, c.swizzle = tile.swizzle;
  c.mma_m = tile.mma_m, c.mma_n = tile.mma_n;
  c.cta_group = tile.cta_group, c.cluster_m = tile.cluster_m, c.cluster_n = tile.cluster_n;
  c.stages = tile.stages, c.accum_stages = tile.accum_stages;
  return c;
}

struct BlockwiseConfigurations {
  static constexpr NamedBlockwiseConfig entries[] = {
      {"blockwise_128x128_s6", blockwise_config({.stages = 6})},
      {"blockwise_e5m2_128x128_s6", blockwise_config({.stages = 6, .dtype = DataType::e5m2})},
      {"blockwise_128x160_s5", blockwise_config({.mma_n = 160, .stages = 5})},
      {"blockwise_64x256_s5", blockwise_config({.mma_m = 64, .mma_n = 256, .stages = 5})},
      {"blockwise_64x136_s8", blockwise_config({.mma_m = 64, .mma_n = 136, .stages = 8})},
      {"blockwise_128x64_k64_s16", blockwise_config({.mma_n = 64, .stages = 16, .swizzle = Swizzle::b64})},
      {"blockwise_64x64_s8_4x4",
       blockwise_config({.mma_m = 64, .mma_n = 64, .stages = 8, .cluster_m = 4, .cluster_n = 4})},
      {"pair_blockwise_256x128_s7_f32",
       blockwise_config({.mma_m = 256, .cta_group = 2, .stages = 7, .cluster_m = 2, .output = DataType::f32})},
      {"pair_blockwise_128x256_s8",
       blockwise_config({.mma_m = 128, .mma_n = 256, .cta_group = 2, .stages = 8, .cluster_m = 2})},
      {"blockwise_128x128_s6_bf16_scales", blockwise_config({.stages = 6, .scale_dtype = DataType::bf16})},
  };
};

/// A configuration as the type that role code takes for `Config`.
template <size_t kIndex>
struct CompiledBlockwiseConfig : CompiledMatmulMembers<BlockwiseConfigurations, kIndex> {
  using Base = CompiledMatmulMembers<BlockwiseConfigurations, kIndex>;
  static constexpr int scale_block = BlockwiseConfig::scale_block;
  static constexpr DataType scale_dtype = Base::value.scale_dtype;

  static_assert(storage_bytes<BlockwiseStorage>(Base::value) <= uint32_t(kSmemBudgetBytes),
                "the stages do not fit a CTA's memory");
  static_assert(n_blocks_per_tile(Base::value) <= 2, "the epilogue has scales of two blocks of columns");
};

}  // namespace sm100
