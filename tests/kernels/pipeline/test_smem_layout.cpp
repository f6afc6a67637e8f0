// SPDX-License-Identifier: Apache-2.0
// The rows of a barrier table are where the layout has placed the barriers, and nothing overlaps.
#include "kernels/pipeline/smem_layout.h"

#include <vector>

#include "catch.h"
#include "kernels/matmul/shared_storage.h"

namespace sm100 {

TEST_CASE("the barrier table has the addresses of the layout", "[pipeline]") {
  const MatmulConfig c{
      .mma_m = 256, .mma_n = 64, .cta_group = 2, .cluster_m = 4, .cluster_n = 2, .stages = 6, .k_group_size = 2};
  for (uint32_t base : {kSmemUserBase, 3u << kClusterRankShift | kSmemUserBase}) {
    const auto s = storage_at<SharedStorage>(c, {base});
    std::vector<BarrierArray> rows;
    for_each_barrier_array(c, s, [&](const BarrierArray& row) { rows.push_back(row); });
    const SmemAddr expected[] = {s.input.full,
                                 s.input.empty,
                                 s.accum.full,
                                 s.accum.empty,
                                 s.scheduler.clc.full,
                                 s.scheduler.clc.empty,
                                 s.scheduler.throttle.full,
                                 s.scheduler.throttle.empty,
                                 s.tmem_dealloc};
    REQUIRE(rows.size() == std::size(expected));
    for (size_t i = 0; i < rows.size(); ++i) {
      INFO(rows[i].name);
      CHECK(rows[i].base == expected[i]);
      if (i > 0) CHECK(rows[i].base.value >= rows[i - 1].base.value + 8u * uint32_t(rows[i - 1].stages));
    }
    CHECK(rows.back().base.value + 8 <= s.end);
    CHECK(s.end - base == storage_bytes<SharedStorage>(c));
  }
}

}  // namespace sm100
