// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul/cuda/matmul.h"

#include <vector>

#include "kernels/matmul/cuda/configurations.h"

namespace sm100 {
namespace {

template <class... Lists>
std::vector<MatmulKernel> kernels_of() {
  std::vector<MatmulKernel> all;
  const auto append = [&](std::span<const MatmulKernel> some) { all.insert(all.end(), some.begin(), some.end()); };
  (append(compiled_kernels<Lists>()), ...);
  return all;
}

}  // namespace

std::span<const MatmulKernel> matmul_kernels() {
  static const auto all =
      kernels_of<MatmulTiles, MatmulSchedules, MatmulClusters, MatmulSplits, MatmulEpilogues, MatmulTypes>();
  return all;
}

}  // namespace sm100
