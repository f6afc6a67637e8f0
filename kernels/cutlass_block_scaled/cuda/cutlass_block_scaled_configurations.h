// SPDX-License-Identifier: Apache-2.0
/// The configurations of the block-scaled matmul in CUTLASS's arrangement that exist as CUDA kernels.
#pragma once

#include "kernels/cutlass_block_scaled/cutlass_block_scaled_kernel.h"
#include "kernels/matmul/cuda/compiled_config.h"

namespace sm100 {

struct NamedCutlassConfig {
  const char* name;
  CutlassBlockScaledConfig config;
};

/// What differs from one CTA of 128 x 128 with two accumulators and a slot of scales for each stage.
struct CutlassTile {
  int mma_m = 128, mma_n = 128, cta_group = 1, stages = 0;
  int overlap_columns = 0, scale_slots = 0;  ///< 0: stages
  bool scaled = false, residual = false;
  DataType output = DataType::bf16;
};

constexpr CutlassBlockScaledConfig cutlass_config(BlockFormat format, const CutlassTile& tile) {
  CutlassBlockScaledConfig c;
  c.format = format, c.dtype = format == BlockFormat::mxfp8 ? DataType::e4m3 : DataType::e2m1;
  c.scale_type = format == BlockFormat::nvfp4 ? ScaleType::ue4m3 : ScaleType::ue8m0;
  c.mma_m = tile.mma_m, c.mma_n = tile.mma_n, c.mma_k = format == BlockFormat::mxfp8 ? 32 : 64;
  c.cta_group = c.cluster_m = tile.cta_group;
  c.stages = tile.stages;
  c.overlap_columns = tile.overlap_columns, c.accum_stages = tile.overlap_columns > 0 ? 1 : 2;
  c.scale_slots = tile.scale_slots > 0 ? tile.scale_slots : tile.stages;
  c.scaled = tile.scaled, c.residual = tile.residual;
  c.output = tile.output;
  return c;
}

struct CutlassConfigurations {
  static constexpr NamedCutlassConfig entries[] = {
      {"nvfp4_128x128_s5", cutlass_config(BlockFormat::nvfp4, {.stages = 5})},
      {"nvfp4_128x128_s5_beta",
       cutlass_config(BlockFormat::nvfp4, {.stages = 5, .scaled = true, .residual = true})},
      {"nvfp4_128x256_s3_o64",
       cutlass_config(BlockFormat::nvfp4, {.mma_n = 256, .stages = 3, .overlap_columns = 64, .scale_slots = 1})},
      {"pair_nvfp4_256x256_s4_o64_beta", cutlass_config(BlockFormat::nvfp4, {.mma_m = 256,
                                                                             .mma_n = 256,
                                                                             .cta_group = 2,
                                                                             .stages = 4,
                                                                             .overlap_columns = 64,
                                                                             .scale_slots = 1,
                                                                             .scaled = true,
                                                                             .residual = true})},
      {"mxfp8_128x256_s3_o64_f32_beta",
       cutlass_config(
           BlockFormat::mxfp8,
           {.mma_n = 256, .stages = 3, .overlap_columns = 64, .residual = true, .output = DataType::f32})},
  };
};

/// A configuration as the type that role code takes for `Config`.
template <size_t kIndex>
struct CompiledCutlassConfig : CompiledMatmulMembers<CutlassConfigurations, kIndex> {
  using Base = CompiledMatmulMembers<CutlassConfigurations, kIndex>;
  static constexpr BlockFormat format = Base::value.format;
  static constexpr ScaleType scale_type = Base::value.scale_type;
  static constexpr OutputScaling scaled_output = Base::value.scaled_output;
  static constexpr int overlap_columns = Base::value.overlap_columns;
  static constexpr int scale_slots = Base::value.scale_slots;
  static constexpr int residual_stages = Base::value.residual_stages;
  static constexpr StripOrder strip_order = Base::value.strip_order;

  static_assert(storage_bytes<CutlassStorage>(Base::value) <= uint32_t(kSmemBudgetBytes),
                "the stages do not fit a CTA's memory");
  static_assert(used_columns(Base::value) <= int(kTmemColumns), "accumulators and scales do not fit tensor memory");
};

}  // namespace sm100
