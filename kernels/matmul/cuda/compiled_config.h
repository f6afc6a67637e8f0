// SPDX-License-Identifier: Apache-2.0
/// A matmul configuration as a type.
///
/// Simulated scenarios choose a configuration at run time; on the device each is a type of its own, so that every
/// expression of it folds.
#pragma once

#include <cstddef>

#include "kernels/matmul/config.h"
#include "kernels/matmul/shared_storage.h"

namespace sm100 {

/// An entry of the lists matmul_*.h.  Scenarios that leave `stages` out resolve to the numbers there (`sm100sim run
/// FILE
/// --json -` shows them).
struct NamedConfig {
  const char* name;
  MatmulConfig config;
};

/// The members of configuration number `kIndex` of a list, of this kernel or of one that adds some of its own.
template <class List, size_t kIndex>
struct CompiledMatmulMembers {
  static constexpr auto value = List::entries[kIndex].config;

  static constexpr DataType dtype = value.dtype;
  static constexpr DataType output = value.output;
  static constexpr int mma_m = value.mma_m, mma_n = value.mma_n, mma_k = value.mma_k;
  static constexpr int cta_group = value.cta_group;
  static constexpr int cluster_m = value.cluster_m, cluster_n = value.cluster_n;
  static constexpr int stages = value.stages;
  static constexpr int k_group_size = value.k_group_size;
  static constexpr int accum_stages = value.accum_stages;
  static constexpr int clc_stages = value.clc_stages;
  static constexpr int num_split_k = value.num_split_k;
  static constexpr Swizzle swizzle = value.swizzle;
  static constexpr RasterOrder raster_order = value.raster_order;
  static constexpr int block_swizzle = value.block_swizzle;
  static constexpr bool mma_prefetch = value.mma_prefetch;
  static constexpr bool pdl = value.pdl;
  static constexpr bool ab_swapped = value.ab_swapped;
  static constexpr bool static_scheduler = value.static_scheduler;
  static constexpr bool scaled = value.scaled, bias = value.bias, residual = value.residual;
  static constexpr Activation activation = value.activation;
  static constexpr bool register_epilogue = value.register_epilogue;

  static_assert(stages >= 1, "a compiled configuration names its stages: nothing resolves `auto` here");
};

/// As the type that role code takes for `Config`.
template <class List, size_t kIndex>
struct CompiledConfig : CompiledMatmulMembers<List, kIndex> {
  static_assert(storage_bytes<SharedStorage>(CompiledMatmulMembers<List, kIndex>::value) <=
                    uint32_t(kSmemBudgetBytes),
                "the stages do not fit a CTA's memory");
};

}  // namespace sm100
