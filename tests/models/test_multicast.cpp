// SPDX-License-Identifier: Apache-2.0
// Multicast tensor loads without .cta_group (PTX 9.7.9.25): bit r of the mask is rank r; same offset, full box
// and full byte count in every CTA of the mask; the issuing CTA need not be one of them.
#include "catch.h"
#include "models/cluster_bench.h"

using namespace sm100;
using namespace sm100::models;

TEST_CASE("a multicast without the issuing CTA gives it neither data nor signal", "[tma][cluster]") {
  ClusterBench b(4, 4);
  b.net.load_multicast(1, b.box(8, 16), {0b1101}, 0);
  CHECK(b.nodes[2]->tma.loads_in_flight().size() == 1);
  CHECK(b.nodes[1]->tma.loads_in_flight().empty());
  sc_core::sc_start();
  for (size_t r : {0, 2, 3}) {
    CHECK(b.nodes[r]->word() == 64 * 8);
    CHECK(b.nodes[r]->word(15 * 128 + 126) == 64 * 23 + 63);
    CHECK(b.nodes[r]->state().received_bytes == 2048);
    CHECK(b.nodes[r]->tma.loads_in_flight().empty());
  }
  CHECK(b.nodes[1]->word() == 0xffff);
  CHECK(b.nodes[1]->state().received_bytes == 0);
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("the mask counts ranks of the own cluster, not SMs", "[tma][cluster]") {
  ClusterBench b(4, 2);
  b.net.load_multicast(2, b.box(0, 8), {0b10}, 0);
  sc_core::sc_start();
  for (size_t sm : {0, 1, 2}) CHECK(b.nodes[sm]->state().received_bytes == 0);
  CHECK(b.nodes[3]->state().received_bytes == 1024);
}

TEST_CASE("a box over the edge signals the full box to every CTA", "[tma][cluster]") {
  ClusterBench b(2, 2);
  b.net.load_multicast(0, b.box(60, 16), {0b11}, 0);
  sc_core::sc_start();
  for (const auto& node : b.nodes) {
    CHECK(node->state().received_bytes == 2048);
    CHECK(node->word(3 * 128) == 64 * 63);
    CHECK(node->word(4 * 128) == 0);
  }
}

TEST_CASE("memory is read once, and the box takes the fill port of each destination", "[tma][cluster][timing]") {
  ClusterBench b(3, 3);
  b.profile.tma.request_bytes_per_cycle = b.profile.memory.l2_tb_per_s = 1e9;  // asked for and answered at once
  b.profile.memory.l2_read_tb_per_s = b.profile.memory.l2_gpc_tb_per_s = 1e9;
  b.profile.tma.load_latency_cycles_per_line = 0;
  const Cycles latency =
      Cycles(b.profile.tma.load_latency_cycles) + b.profile.cycles_of_ns(b.profile.memory.l2_hit_ns);
  b.net.load_multicast(0, b.box(0, 64), {0b111}, 0);  // cold
  Stimulus later([&] {
    models::wait(5000);
    b.nodes[1]->tma.load(b.box(0, 32), now());  // SM 1's port is taken for 32 rows
    b.net.load_multicast(0, b.box(0, 64), {0b110}, now());
  });
  sc_core::sc_start();
  CHECK(b.memory.dram_bytes() == 64 * 128);
  REQUIRE(b.observer.spans.size() == 6);
  CHECK(b.observer.spans[0].end == b.observer.spans[2].end);
  for (size_t i : {3, 4, 5}) {
    const UnitSpan& s = b.observer.spans[i];
    CHECK(s.end - 5000 == latency + (s.bytes == 4096 ? 32u : s.slot == 1 ? 96u : 64u));
  }
}

TEST_CASE("a box multicast to 2 CTAs is asked of L2 once: fill over cluster share", "[tma][cluster]") {
  ClusterBench b(2, 2);
  for (uint32_t r = 0; r < 2; ++r) b.net.load_multicast(int(r), b.box(int(r) * 32, 32), {0b11}, 0);
  sc_core::sc_start();
  uint64_t fill = 0;
  for (const auto& node : b.nodes) fill += node->tma.filled_bytes();
  CHECK(fill == 2 * 64 * 128);
  CHECK(b.memory.l2_read_bytes() == fill / 2);
}
TEST_CASE("a box multicast to 4 CTAs is asked of L2 once: fill over cluster share", "[tma][cluster]") {
  ClusterBench b(4, 4);
  for (uint32_t r = 0; r < 4; ++r) b.net.load_multicast(int(r), b.box(int(r) * 16, 16), {0b1111}, 0);
  sc_core::sc_start();
  uint64_t fill = 0;
  for (const auto& node : b.nodes) fill += node->tma.filled_bytes();
  CHECK(fill == 4 * 64 * 128);
  CHECK(b.memory.l2_read_bytes() == fill / 4);
}

TEST_CASE("TM4: masks that name nobody or a rank outside the cluster", "[tma][cluster]") {
  ClusterBench b(4, 2);
  SECTION("rank 2 of 2") {
    b.net.load_multicast(0, b.box(0, 8), {0b101}, 0);
    REQUIRE(b.observer.violation_id() == "TM4");
    CHECK(b.observer.violations[0].message ==
          "multicast tensor load with CTA mask 0x5: bit r selects CTA rank r, and the cluster has 2 CTAs");
  }
  SECTION("nobody") {
    b.net.load_multicast(0, b.box(0, 8), {0}, 0);
    CHECK(b.observer.violation_id() == "TM4");
  }
  CHECK(b.nodes[0]->tma.loads_in_flight().empty());
}

TEST_CASE("TC8: a copy of cta_group 2 whose barrier is the peer's, where there is no peer",
          "[tma][cluster][pair]") {
  ClusterBench b(4, 3);  // SM 3 runs no CTA of the cluster, and has a barrier at the same place
  SECTION("one CTA alone") { b.net.load_pair(2, b.box(0, 8), 3, 0); }
  SECTION("the third of a multicast") { b.net.load_multicast(0, b.box(0, 8), {0b111}, 0, 2, 1); }
  REQUIRE(b.observer.violation_id() == "TC8");
  CHECK(b.observer.violations[0].message ==
        "tensor load.cta_group::2 into CTA rank 2 signals its peer, rank 3, in a cluster of 3: it has no peer");
  for (const auto& node : b.nodes) CHECK(node->tma.loads_in_flight().empty());
}

TEST_CASE("copies of cta_group 2 that signal the even CTA need no odd one", "[tma][cluster][pair]") {
  ClusterBench b(4, 3);
  b.net.load_multicast(0, b.box(0, 8), {0b111}, 0, 2, 0);
  sc_core::sc_start();
  CHECK(b.observer.violation_id() == "");
  CHECK(b.nodes[0]->state().received_bytes == 2048);
  CHECK(b.nodes[2]->state().received_bytes == 1024);
}

TEST_CASE("MB12: a multicast to a CTA that has exited, or exits before the box lands", "[tma][cluster]") {
  ClusterBench b(2, 2);
  SECTION("has exited") {
    b.net.cta_exited(1);
    b.net.load_multicast(0, b.box(0, 8), {0b11}, 0);
  }
  SECTION("exits meanwhile") {
    b.net.load_multicast(0, b.box(0, 8), {0b11}, 0);
    b.net.cta_exited(1);
    sc_core::sc_start();
    CHECK(b.nodes[0]->state().received_bytes == 1024);
  }
  REQUIRE(b.observer.violation_id() == "MB12");
  CHECK(b.observer.violations[0].slot == 1);
  CHECK(b.observer.violations[0].source.warp == 0);
  CHECK(b.nodes[1]->word() == 0xffff);
  CHECK(b.nodes[1]->state().received_bytes == 0);
}
