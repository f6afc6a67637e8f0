// SPDX-License-Identifier: Apache-2.0
// The barriers of the grouped 1D-1D matmul: the matmul's without CLC, and the ring of tiles where there is one.
#include <map>
#include <string>

#include "catch.h"
#include "kernels/grouped_1d1d/grouped_1d1d_kernel.h"

using namespace sm100;

namespace {

struct Row {
  int stages;
  uint32_t count;
  bool operator==(const Row&) const = default;
};

std::map<std::string, Row> barriers(const Grouped1d1dConfig& c) {
  std::map<std::string, Row> rows;
  for_each_barrier_array(c, storage_at<Grouped1d1dStorage>(c), [&](const BarrierArray& a) {
    if (a.stages > 0) rows[a.name] = {a.stages, a.count};
  });
  return rows;
}

Grouped1d1dConfig config(int cta_group, int work_stages) {
  Grouped1d1dConfig c;
  c.cta_group = c.cluster_m = cta_group;
  c.mma_m = 128 * cta_group, c.stages = 4, c.work_stages = work_stages;
  return c;
}

}  // namespace

TEST_CASE("barriers of a replayed walk: input and accumulator rings, the release of tensor memory") {
  CHECK(barriers(config(1, 0)) == std::map<std::string, Row>{{"input_full", {4, 1}},
                                                             {"input_empty", {4, 1}},
                                                             {"accum_full", {2, 1}},
                                                             {"accum_empty", {2, 128}},
                                                             {"tmem_dealloc", {1, 128}}});
  const auto pair = barriers(config(2, 0));
  CHECK(pair.at("input_empty") == Row{4, 1});
  CHECK(pair.at("accum_empty") == Row{2, 256});
  CHECK(pair.at("tmem_dealloc") == Row{1, 256});
}

TEST_CASE("the ring of tiles has a row of its own: one arrival fills a slot, six warps empty it") {
  for (const int cta_group : {1, 2}) {
    const auto rows = barriers(config(cta_group, 3));
    CHECK(rows.at("work_full") == Row{3, 1});
    CHECK(rows.at("work_empty") == Row{3, 6});
    CHECK(rows.count("clc_full") == 0);
  }
}
