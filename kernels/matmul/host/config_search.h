// SPDX-License-Identifier: Apache-2.0
/// What the searches for configurations share: candidates, their order, and the block swizzle of the one that wins.
#pragma once

#include <string>
#include <vector>

#include "kernels/matmul/host/choose_config.h"

namespace sm100::host {

/// C as the kernel sees it: the user's, or transposed when the operands are swapped.
struct View {
  bool swapped;
  int rows, columns;
};

View view_of(const ConfigRequest& request, bool swapped);

/// Appends the candidate with its tiles and waves.
void add_candidate(std::vector<ConfigCandidate>& list, const ConfigRequest& request, const View& view,
                   int cta_group, int block_m, int mma_n);
/// Fewest waves, then the smallest tile; equals keep their order.
void sort_candidates(std::vector<ConfigCandidate>& list);

struct SwizzleChoice {
  int width = 0;
  std::string figures;  ///< "8 reads 4608 rows of A and B, 1 8960, ..."
};

/// The swizzle with which the first wave of clusters reads the fewest rows of A and B.
SwizzleChoice choose_swizzle(const MatmulConfig& config, const View& view, int clusters_at_a_time);

}  // namespace sm100::host
