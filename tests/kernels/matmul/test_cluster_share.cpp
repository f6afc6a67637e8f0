// SPDX-License-Identifier: Apache-2.0
// Who loads, reads and releases what: truth tables of small clusters, and what must hold in every cluster.
#include "kernels/matmul/cluster_share.h"

#include "catch.h"

namespace sm100 {
namespace {

MatmulConfig cluster(int group, int m, int n) { return {.cta_group = group, .cluster_m = m, .cluster_n = n}; }

}  // namespace

TEST_CASE("2 x 2, one CTA each: columns share A, rows share B", "[matmul]") {
  const MatmulConfig c = cluster(1, 2, 2);
  struct Row {
    uint32_t a, b, release;
  };
  const Row expected[] = {
      {0b0101, 0b0011, 0b0111}, {0b1010, 0b0011, 0b1011}, {0b0101, 0b1100, 0b1101}, {0b1010, 0b1100, 0b1110}};
  for (uint32_t rank = 0; rank < 4; ++rank) {
    const ClusterPlace place = cluster_place(c, rank);
    INFO("rank " << rank);
    CHECK(a_mask(c, place).bits == expected[rank].a);
    CHECK(b_mask(c, place).bits == expected[rank].b);
    CHECK(release_mask(c, place).bits == expected[rank].release);
    CHECK(group_mask(c, place).bits == 1u << rank);
    CHECK(place.leads());
    CHECK(place.first() == (rank == 0));
  }
}

TEST_CASE("4 x 1 of pairs: B goes to the CTAs with our half, and the even CTA leads", "[matmul]") {
  const MatmulConfig c = cluster(2, 4, 1);
  const uint32_t a[] = {0b0001, 0b0010, 0b0100, 0b1000}, b[] = {0b0101, 0b1010, 0b0101, 0b1010},
                 group[] = {0b0011, 0b0011, 0b1100, 0b1100};
  for (uint32_t rank = 0; rank < 4; ++rank) {
    const ClusterPlace place = cluster_place(c, rank);
    INFO("rank " << rank);
    CHECK(a_mask(c, place).bits == a[rank]);
    CHECK(b_mask(c, place).bits == b[rank]);
    CHECK(group_mask(c, place).bits == group[rank]);
    CHECK(release_mask(c, place).bits == 0b1111);
    CHECK(place.leads() == (rank % 2 == 0));
    CHECK(b_share(c, place).index == int(rank) / 2);
    CHECK(b_share(c, place).sharers == 2);
    CHECK(a_share(c, place).sharers == 1);
  }
}

TEST_CASE("every CTA gets every slice of its tiles once, and is released by all that read what it loaded",
          "[matmul]") {
  for (int group : {1, 2})
    for (int m : {1, 2, 4, 8})
      for (int n : {1, 2, 4})
        if (m % group == 0 && m * n <= 16) {
          const MatmulConfig c = cluster(group, m, n);
          INFO(group << ": " << m << " x " << n);
          const uint32_t ctas = uint32_t(cluster_size(c));
          for (uint32_t to = 0; to < ctas; ++to) {
            uint32_t a_slices = 0, b_slices = 0, releases = 0;
            for (uint32_t from = 0; from < ctas; ++from) {
              const ClusterPlace place = cluster_place(c, from);
              const TileShare a = a_share(c, place), b = b_share(c, place);
              if (a.receivers.bits >> to & 1) {
                CHECK((a_slices >> a.index & 1) == 0);
                a_slices |= 1u << a.index;
              }
              if (b.receivers.bits >> to & 1) {
                CHECK((b_slices >> b.index & 1) == 0);
                b_slices |= 1u << b.index;
              }
              if (place.leads() && release_mask(c, place).bits >> to & 1) ++releases;
            }
            CHECK(a_slices == (1u << a_sharers(c)) - 1);
            CHECK(b_slices == (1u << b_sharers(c)) - 1);
            CHECK(releases == uint32_t(m / group + n - 1));  // the count of input_empty
          }
        }
}

}  // namespace sm100
