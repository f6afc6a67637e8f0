/// The matmul configurations that exist as CUDA kernels.
///
/// Simulated scenarios choose a configuration at run time; on the device each is a type of its own, so that every
/// expression of it folds.  sm100-run looks the scenario's configuration up in this list.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>

#include "kernels/matmul/config.h"
#include "kernels/matmul/shared_storage.h"

namespace sm100 {

struct NamedConfig {
  const char* name;
  MatmulConfig config;
};

/// Scenarios that leave `stages` out resolve to these numbers (`sm100sim run FILE --json -` shows them).
inline constexpr NamedConfig kMatmulConfigurations[] = {
    // scenarios: dense_small, more_tiles_than_sms, single_k_step
    {"128x128_s6", {.mma_m = 128, .mma_n = 128, .stages = 6}},
    // scenarios/bugs: the sound twins
    {"128x128_s4", {.mma_m = 128, .mma_n = 128, .stages = 4}},
    // one_stage
    {"128x128_s1_a1", {.mma_m = 128, .mma_n = 128, .stages = 1, .accum_stages = 1}},
    // ragged, stages_exceed_k
    {"128x64_s8", {.mma_m = 128, .mma_n = 64, .stages = 8}},
    // m64
    {"64x256_s5", {.mma_m = 64, .mma_n = 256, .stages = 5}},
    // deep_ring
    {"64x32_s18", {.mma_m = 64, .mma_n = 32, .stages = 18}},
    // small_n
    {"64x8_s24", {.mma_m = 64, .mma_n = 8, .stages = 24}},
    // the accumulators before rounding, stored without stmatrix
    {"128x128_s6_f32", {.output = DataType::f32, .mma_m = 128, .mma_n = 128, .stages = 6}},
    {"64x8_s24_f32", {.output = DataType::f32, .mma_m = 64, .mma_n = 8, .stages = 24}},
    // 16-column strips
    {"128x48_s9", {.mma_m = 128, .mma_n = 48, .stages = 9}},
    // no cluster launch control: the hardware launches every tile
    {"128x128_s6_noclc", {.mma_m = 128, .mma_n = 128, .stages = 6, .clc_stages = 0}},
    // persistent, tiles handed out by counting
    {"128x128_s6_static", {.mma_m = 128, .mma_n = 128, .stages = 6, .clc_stages = 0, .static_scheduler = true}},
    // the other raster order, tiles in blocks of four, a narrower k tile, no prefetch of the next tile
    {"128x128_s12_b64_n_w4",
     {.mma_m = 128,
      .mma_n = 128,
      .stages = 12,
      .swizzle = Swizzle::b64,
      .raster_order = RasterOrder::along_n,
      .block_swizzle = 4,
      .mma_prefetch = false}},
    // clusters and pairs: smoke tests 2, 3, 5, 6 (without the split) and 9 of the family
    {"128x64_s8_4x4", {.mma_m = 128, .mma_n = 64, .cluster_m = 4, .cluster_n = 4, .stages = 8, .block_swizzle = 4}},
    {"pair_256x128_s8_4x4",
     {.mma_m = 256, .mma_n = 128, .cta_group = 2, .cluster_m = 4, .cluster_n = 4, .stages = 8, .block_swizzle = 4}},
    {"64x32_s18_4x2_k2",
     {.mma_m = 64, .mma_n = 32, .cluster_m = 4, .cluster_n = 2, .stages = 18, .k_group_size = 2}},
    {"pair_128x64_s17_4x4",
     {.mma_m = 128, .mma_n = 64, .cta_group = 2, .cluster_m = 4, .cluster_n = 4, .stages = 17}},
    {"64x32_s18_8x2", {.mma_m = 64, .mma_n = 32, .cluster_m = 8, .cluster_n = 2, .stages = 18, .block_swizzle = 2}},
    // the headline: pairs, the largest tile
    {"pair_256x256_s4_2x1", {.mma_m = 256, .mma_n = 256, .cta_group = 2, .cluster_m = 2, .stages = 4}},
    // smoke tests 4 and 10: swapped operands, transposed output
    {"swapped_128x64_s8_4x4",
     {.mma_m = 128, .mma_n = 64, .cluster_m = 4, .cluster_n = 4, .stages = 8, .ab_swapped = true}},
    {"swapped_pair_256x128_s8_4x4",
     {.mma_m = 256, .mma_n = 128, .cta_group = 2, .cluster_m = 4, .cluster_n = 4, .stages = 8, .ab_swapped = true}},
    {"swapped_128x128_s6_f32",
     {.output = DataType::f32, .mma_m = 128, .mma_n = 128, .stages = 6, .ab_swapped = true}},
    // other operands and outputs
    {"e4m3_128x128_s6", {.dtype = DataType::e4m3, .mma_m = 128, .mma_n = 128, .mma_k = 32, .stages = 6}},
    {"e5m2_pair_256x128_s6_2x1_e4m3",
     {.dtype = DataType::e5m2,
      .output = DataType::e4m3,
      .mma_m = 256,
      .mma_n = 128,
      .mma_k = 32,
      .cta_group = 2,
      .cluster_m = 2,
      .stages = 6}},
    {"f16_128x128_s6_f16",
     {.dtype = DataType::f16, .output = DataType::f16, .mma_m = 128, .mma_n = 128, .stages = 6}},
    {"tf32_128x128_s6_f32",
     {.dtype = DataType::tf32, .output = DataType::f32, .mma_m = 128, .mma_n = 128, .mma_k = 8, .stages = 6}},
    // fused epilogues
    {"128x128_s6_bias_silu",
     {.mma_m = 128, .mma_n = 128, .stages = 6, .scaled = true, .bias = true, .activation = Activation::silu}},
    {"128x128_s6_residual_relu",
     {.mma_m = 128, .mma_n = 128, .stages = 6, .residual = true, .activation = Activation::relu}},
    // programmatic dependent launch
    {"128x128_s6_pdl", {.mma_m = 128, .mma_n = 128, .stages = 6, .pdl = true}},
};
inline constexpr size_t kMatmulConfigurationCount = std::size(kMatmulConfigurations);

/// Configuration number `kIndex` as the type that role code takes for `Config`.
template <size_t kIndex>
struct CompiledConfig {
  static constexpr MatmulConfig value = kMatmulConfigurations[kIndex].config;

  static constexpr DataType dtype = value.dtype;
  static constexpr DataType output = value.output;
  static constexpr int mma_m = value.mma_m, mma_n = value.mma_n, mma_k = value.mma_k;
  static constexpr int cta_group = value.cta_group;
  static constexpr int cluster_m = value.cluster_m, cluster_n = value.cluster_n;
  static constexpr int stages = value.stages;
  static constexpr int k_group_size = value.k_group_size;
  static constexpr int accum_stages = value.accum_stages;
  static constexpr int clc_stages = value.clc_stages;
  static constexpr Swizzle swizzle = value.swizzle;
  static constexpr RasterOrder raster_order = value.raster_order;
  static constexpr int block_swizzle = value.block_swizzle;
  static constexpr bool mma_prefetch = value.mma_prefetch;
  static constexpr bool pdl = value.pdl;
  static constexpr bool ab_swapped = value.ab_swapped;
  static constexpr bool static_scheduler = value.static_scheduler;
  static constexpr bool scaled = value.scaled, bias = value.bias, residual = value.residual;
  static constexpr Activation activation = value.activation;

  static_assert(stages >= 1, "a compiled configuration names its stages: nothing resolves `auto` here");
  static_assert(shared_storage_bytes(value) <= uint32_t(kSmemBudgetBytes), "the stages do not fit a CTA's memory");
};

}  // namespace sm100
