// SPDX-License-Identifier: Apache-2.0
// The PTX of every compiled direct kernel, plain and traced, says what the protocol demands.  Lines are compared in
// the order of the text: the compiler keeps the roles apart and each role's blocks in order.
#include <fmt/format.h>

#include <algorithm>

#include "catch.h"
#include "kernels/direct/cuda/direct_configurations.h"
#include "ptx_module.h"

using namespace sm100;

namespace {

/// Runs the check on every entry, naming it in failures.
template <class F>
void for_each_entry(F&& check) {
  static const std::vector<PtxEntry> all = read_ptx(SM100_DIRECT_PTX);
  CHECK(all.size() == 2 * kDirectConfigurationCount);
  for (const PtxEntry& entry : all) {
    INFO(entry.name());
    REQUIRE(entry.kernel() == PtxEntry::Kernel::direct);
    check(entry, entry.direct_config());
  }
}

size_t count_anywhere(const PtxEntry& e, std::string_view part) { return e.find_anywhere(part).size(); }

}  // namespace

TEST_CASE("PTX of direct: no local memory, no calls, no TMA store, no scheduler") {
  for_each_entry([](const PtxEntry& e, const DirectConfig&) {
    CHECK(e.find_anywhere(".local").empty());
    CHECK(e.count("call") == 0);
    CHECK(e.count("ld.global") == 0);
    CHECK(count_anywhere(e, "global.shared::cta") == 0);
    CHECK(e.count("st.shared") + e.count("stmatrix") + e.count("clusterlaunchcontrol") == 0);
  });
}

TEST_CASE("PTX of direct: copies of the configured rank, as many as the tiles have slabs") {
  for_each_entry([](const PtxEntry& e, const DirectConfig& c) {
    const size_t copies = c.tma_rank == 3 ? 2 : 2 * size_t(direct_a_tile(c).slabs());
    const std::string opcode = fmt::format(
        "cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", c.tma_rank);
    CHECK(e.count("cp.async.bulk.tensor") == copies);
    CHECK(e.count(opcode) == copies);
    CHECK(e.count(opcode + ".cta_group::2") == (c.cta_group == 2 ? copies : 0));
    // Armed before the first copy; a pair's second CTA on the first one's barrier.
    const auto armed = e.find("mbarrier.arrive.expect_tx");
    CHECK(armed.size() == size_t(c.cta_group));
    CHECK(armed.back() < e.find(opcode).front());
    CHECK(e.count("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64") == size_t(c.cta_group - 1));
  });
}

TEST_CASE("PTX of direct: the MMAs of a stage, its commit, and one commit of the accumulator") {
  for_each_entry([](const PtxEntry& e, const DirectConfig& c) {
    std::string order;  // C: to both CTAs
    for (const PtxLine& line : e.lines()) {
      const std::string group = fmt::format(".cta_group::{}", c.cta_group);
      const std::string commit = "tcgen05.commit" + group + ".mbarrier::arrive::one.shared::cluster";
      if (line.starts_with("tcgen05.mma" + group + ".kind::f16 ")) order += 'm';
      if (line.starts_with(commit + ".b64 ")) order += 'c';
      if (line.starts_with(commit + ".multicast::cluster.b64 ")) order += 'C';
    }
    CHECK(order == std::string(size_t(c.block_k / kDirectMmaK), 'm') + (c.cta_group == 2 ? "CC" : "cc"));
    CHECK(e.count("tcgen05.mma") + e.count("tcgen05.commit") == order.size());
    CHECK(e.find_anywhere(".cta_group::").size() ==
          e.find_anywhere(fmt::format(".cta_group::{}", c.cta_group)).size());
  });
}

TEST_CASE("PTX of direct: a pair meets at the cluster barrier, a single CTA at the block barrier") {
  for_each_entry([](const PtxEntry& e, const DirectConfig& c) {
    const bool pair = c.cta_group == 2;
    const bool persistent = is_persistent(c);
    CHECK(e.count("barrier.cluster.arrive") == (pair ? persistent ? 2 : 1 : 0));
    CHECK(e.count("barrier.cluster.wait") == e.count("barrier.cluster.arrive"));
    CHECK(e.count("bar.sync") == (persistent ? pair ? 0 : 2 : pair ? 2 : 3));
    CHECK(e.count("mbarrier.init.shared::cta.b64") == size_t(2 * c.stages + (persistent ? 2 : 1) * c.accum_stages));
    CHECK(e.find("mbarrier.init.shared::cta.b64").back() < e.find("fence.mbarrier_init").at(0));
    CHECK(e.find("fence.mbarrier_init").at(0) < e.find(pair ? "barrier.cluster.arrive" : "bar.sync").at(0));
  });
}

TEST_CASE("PTX of direct: columns of one store at a time from a thread's lane, converted after the wait") {
  for_each_entry([](const PtxEntry& e, const DirectConfig& c) {
    const size_t pairs = size_t(c.store_bytes) / 4;
    const auto loads = e.find(fmt::format("tcgen05.ld.sync.aligned.32x32b.x{}.b32", 2 * pairs)),
               waits = e.find("tcgen05.wait::ld.sync.aligned"), converts = e.find("cvt.rn.bf16x2.f32");
    REQUIRE(!loads.empty());
    REQUIRE(waits.size() == loads.size());
    CHECK(e.count("tcgen05.ld") == loads.size());
    CHECK(converts.size() == pairs * loads.size());
    size_t stores = 0;  // the recorder's are predicated
    for (const PtxLine& line : e.lines()) stores += line.starts_with(fmt::format("st.global.v{}.b32", pairs));
    CHECK(stores == loads.size());
    for (size_t i = 0; i < loads.size(); ++i) {
      CHECK(loads[i] < waits[i]);
      CHECK(waits[i] < converts[pairs * i]);
      if (i + 1 < loads.size()) CHECK(converts[pairs * (i + 1) - 1] < loads[i + 1]);
    }
    if (!e.traced()) CHECK(count_anywhere(e, "st.global") == stores);
  });
}

TEST_CASE(
    "PTX of direct: tensor memory is freed after a barrier of the block or the pair that follows every load's "
    "wait") {
  for_each_entry([](const PtxEntry& e, const DirectConfig& c) {
    const bool cluster = is_persistent(c) && c.cta_group == 2;
    const auto waits = e.find("tcgen05.wait::ld.sync.aligned"),
               barriers = e.find(cluster ? "barrier.cluster.wait" : "bar.sync"), frees = e.find("tcgen05.dealloc"),
               before = e.find("tcgen05.fence::before_thread_sync"),
               after = e.find("tcgen05.fence::after_thread_sync");
    REQUIRE(frees.size() == 1);
    CHECK(e.count("tcgen05.alloc") == 1);
    CHECK(waits.back() < before.back());
    CHECK(before.back() < barriers.back());
    CHECK(barriers.back() < after.back());
    CHECK(after.back() < frees[0]);
  });
}
