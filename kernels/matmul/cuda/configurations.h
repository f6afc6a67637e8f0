// SPDX-License-Identifier: Apache-2.0
/// The matmul configurations that exist as CUDA kernels, in lists by what they are about.  sm100-run looks the
/// scenario's configuration up in them.
///
/// matmul_X.h is a list, and matmul_X.cu compiles it: lists compile in parallel, and a new entry costs its list
/// only.  A new list is a line below, in matmul.cpp and in CMakeLists.txt.
#pragma once

#include <span>
#include <string_view>

#include "kernels/matmul/cuda/matmul_clusters.h"
#include "kernels/matmul/cuda/matmul_epilogues.h"
#include "kernels/matmul/cuda/matmul_schedules.h"
#include "kernels/matmul/cuda/matmul_splits.h"
#include "kernels/matmul/cuda/matmul_tiles.h"
#include "kernels/matmul/cuda/matmul_types.h"

namespace sm100 {

struct MatmulList {
  std::string_view type;  ///< as in the kernels' symbols
  std::span<const NamedConfig> entries;
};

inline constexpr MatmulList kMatmulLists[] = {
    {"MatmulTiles", MatmulTiles::entries},       {"MatmulSchedules", MatmulSchedules::entries},
    {"MatmulClusters", MatmulClusters::entries}, {"MatmulEpilogues", MatmulEpilogues::entries},
    {"MatmulTypes", MatmulTypes::entries},       {"MatmulSplits", MatmulSplits::entries},
};

}  // namespace sm100
