// SPDX-License-Identifier: Apache-2.0
/// The configurations of the block-scaled matmul that exist as CUDA kernels.
#pragma once

#include "kernels/block_scaled/block_scaled_kernel.h"
#include "kernels/matmul/cuda/compiled_config.h"

namespace sm100 {

struct NamedBlockScaledConfig {
  const char* name;
  BlockScaledConfig config;
};

/// What differs from one CTA of 128 x 128 with two accumulators.
struct BlockScaledTile {
  int mma_m = 128, mma_n = 128, cta_group = 1, stages = 0, accum_stages = 2;
  int cluster_m = 1, cluster_n = 1;
  bool scaled = false;
  DataType output = DataType::bf16;
  OutputScaling scaled_output{};
};

constexpr BlockScaledConfig block_scaled_config(BlockFormat format, DataType dtype, const BlockScaledTile& tile) {
  BlockScaledConfig c;
  c.format = format, c.dtype = dtype;
  c.scale_type = format == BlockFormat::nvfp4 ? ScaleType::ue4m3 : ScaleType::ue8m0;
  c.mma_m = tile.mma_m, c.mma_n = tile.mma_n, c.mma_k = format == BlockFormat::mxfp8 ? 32 : 64;
  c.cta_group = tile.cta_group, c.cluster_m = tile.cluster_m, c.cluster_n = tile.cluster_n;
  c.stages = tile.stages, c.accum_stages = tile.accum_stages;
  c.scaled = tile.scaled;
  c.output = tile.output, c.scaled_output = tile.scaled_output;
  return c;
}

struct BlockScaledConfigurations {
  static constexpr NamedBlockScaledConfig entries[] = {
      {"mxfp8_128x128_s6", block_scaled_config(BlockFormat::mxfp8, DataType::e4m3, {.stages = 6})},
      {"mxfp8_e5m2_128x128_s6", block_scaled_config(BlockFormat::mxfp8, DataType::e5m2, {.stages = 6})},
      {"pair_mxfp8_256x256_s6",
       block_scaled_config(
           BlockFormat::mxfp8, DataType::e4m3,
           {.mma_m = 256, .mma_n = 256, .cta_group = 2, .stages = 6, .accum_stages = 1, .cluster_m = 2})},
      {"mxfp4_128x128_s6", block_scaled_config(BlockFormat::mxfp4, DataType::e2m1, {.stages = 6})},
      {"nvfp4_128x128_s5", block_scaled_config(BlockFormat::nvfp4, DataType::e2m1, {.stages = 5})},
      {"nvfp4_128x128_s5_alpha",
       block_scaled_config(BlockFormat::nvfp4, DataType::e2m1, {.stages = 5, .scaled = true})},
      {"nvfp4_128x192_s4",
       block_scaled_config(BlockFormat::nvfp4, DataType::e2m1, {.mma_n = 192, .stages = 4, .accum_stages = 1})},
      {"pair_nvfp4_256x256_s5",
       block_scaled_config(
           BlockFormat::nvfp4, DataType::e2m1,
           {.mma_m = 256, .mma_n = 256, .cta_group = 2, .stages = 5, .accum_stages = 1, .cluster_m = 2})},
      {"pair_nvfp4_256x128_s7_4x4",
       block_scaled_config(BlockFormat::nvfp4, DataType::e2m1,
                           {.mma_m = 256, .cta_group = 2, .stages = 7, .cluster_m = 4, .cluster_n = 4})},
      {"nvfp4_128x128_s6_to_nvfp4",
       block_scaled_config(BlockFormat::nvfp4, DataType::e2m1,
                           {.stages = 6, .output = DataType::e2m1, .scaled_output = {.block = 16}})},
      {"nvfp4_128x128_s6_to_nvfp4_columns",
       block_scaled_config(
           BlockFormat::nvfp4, DataType::e2m1,
           {.stages = 6,
            .output = DataType::e2m1,
            .scaled_output = {.block = 16, .type = ScaleType::ue4m3, .direction = ScaleDirection::columns}})},
      {"mxfp8_128x128_s6_to_mxfp8",
       block_scaled_config(BlockFormat::mxfp8, DataType::e4m3,
                           {.stages = 6,
                            .scaled = true,
                            .output = DataType::e4m3,
                            .scaled_output = {.block = 32, .type = ScaleType::ue8m0}})},
      {"nvfp4_128x32_s8", block_scaled_config(BlockFormat::nvfp4, DataType::e2m1, {.mma_n = 32, .stages = 8})},
      {"pair_mxfp4_256x48_s8",
       block_scaled_config(BlockFormat::mxfp4, DataType::e2m1,
                           {.mma_m = 256, .mma_n = 48, .cta_group = 2, .stages = 8, .cluster_m = 2})},
  };
};

/// A configuration as the type that role code takes for `Config`.
template <size_t kIndex>
struct CompiledBlockScaledConfig : CompiledMatmulMembers<BlockScaledConfigurations, kIndex> {
  using Base = CompiledMatmulMembers<BlockScaledConfigurations, kIndex>;
  static constexpr BlockFormat format = Base::value.format;
  static constexpr ScaleType scale_type = Base::value.scale_type;
  static constexpr OutputScaling scaled_output = Base::value.scaled_output;

  static_assert(storage_bytes<BlockScaledStorage>(Base::value) <= uint32_t(kSmemBudgetBytes),
                "the stages do not fit a CTA's memory");
  static_assert(used_columns(Base::value) <= int(kTmemColumns), "accumulators and scales do not fit tensor memory");
};

}  // namespace sm100
