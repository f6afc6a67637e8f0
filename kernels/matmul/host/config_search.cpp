// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul/host/config_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kernels/scheduler/rasterization.h"

namespace sm100::host {
namespace {

constexpr int kSwizzles[] = {1, 2, 4, 8};

/// Rows of A and of B that the first wave of clusters reads, each counted once: what L2 must hold.
int64_t rows_read_by_a_wave(const MatmulConfig& c, const View& view, int clusters_at_a_time, int swizzle) {
  const int clusters_m = grid_m(c, view.rows) / c.cluster_m, clusters_n = grid_n(c, view.columns) / c.cluster_n;
  const int64_t clusters = std::min<int64_t>(clusters_at_a_time, int64_t(clusters_m) * clusters_n);
  std::set<int> tiles_m, tiles_n;
  for (int64_t i = 0; i < clusters; ++i) {  // launched and handed out x-fastest
    const Dim3 ctaid{uint32_t(i % clusters_m) * uint32_t(c.cluster_m),
                     uint32_t(i / clusters_m) * uint32_t(c.cluster_n), 0};
    const TileCoord tile = rasterize(ctaid, {uint32_t(clusters_m), uint32_t(clusters_n), 1}, c.raster_order,
                                     swizzle, c.cluster_m, c.cluster_n);
    tiles_m.insert(tile.m);
    tiles_n.insert(tile.n);
  }
  return int64_t(tiles_m.size()) * c.cluster_m * block_m(c) + int64_t(tiles_n.size()) * c.cluster_n * c.mma_n;
}

}  // namespace

View view_of(const ConfigRequest& r, bool swapped) {
  return swapped ? View{true, r.n, r.m} : View{false, r.m, r.n};
}

void add_candidate(std::vector<ConfigCandidate>& list, const ConfigRequest& r, const View& view, int cta_group,
                   int block_m, int mma_n) {
  ConfigCandidate c{
      .ab_swapped = view.swapped, .cta_group = cta_group, .mma_m = cta_group * block_m, .mma_n = mma_n};
  c.tiles = int64_t(ceil_div(view.rows, c.mma_m)) * ceil_div(view.columns, c.mma_n);
  const int64_t at_a_time = r.sms / cta_group;
  c.waves = (c.tiles + at_a_time - 1) / at_a_time;
  c.block_size = block_m * mma_n;
  list.push_back(c);
}

void sort_candidates(std::vector<ConfigCandidate>& list) {
  std::stable_sort(list.begin(), list.end(), [](const ConfigCandidate& a, const ConfigCandidate& b) {
    return a.waves != b.waves ? a.waves < b.waves : a.block_size < b.block_size;
  });
}

SwizzleChoice choose_swizzle(const MatmulConfig& c, const View& view, int clusters_at_a_time) {
  SwizzleChoice choice;
  int64_t least = 0;
  for (int width : kSwizzles) {
    const int64_t rows = rows_read_by_a_wave(c, view, clusters_at_a_time, width);
    choice.figures += fmt::format("{}{} with {}", choice.figures.empty() ? "" : ", ", rows, width);
    if (choice.width == 0 || rows < least) choice.width = width, least = rows;
  }
  return choice;
}

}  // namespace sm100::host
