// SPDX-License-Identifier: Apache-2.0
// The PTX of every compiled fallback kernel, plain and traced, says what the protocol demands.  Lines are compared
// in the order of the text: the compiler keeps the kernel's blocks in order.
#include <algorithm>

#include "catch.h"
#include "kernels/fallback/cuda/fallback_configurations.h"
#include "ptx_module.h"

using namespace sm100;

namespace {

/// Runs the check on every entry, naming it in failures.
template <class F>
void for_each_entry(F&& check) {
  static const std::vector<PtxEntry> all = read_ptx(SM100_FALLBACK_PTX);
  CHECK(all.size() == 2 * kFallbackConfigurationCount);
  for (const PtxEntry& entry : all) {
    INFO(entry.name());
    REQUIRE(entry.kernel() == PtxEntry::Kernel::fallback);
    check(entry, entry.fallback_config());
  }
}

bool guarded(const std::string& line) { return line.starts_with("@"); }

}  // namespace

TEST_CASE("PTX of fallback: no local memory, no calls, no TMA store, no cluster") {
  for_each_entry([](const PtxEntry& e, const FallbackConfig&) {
    CHECK(e.find_anywhere(".local").empty());
    CHECK(e.count("call") == 0);
    CHECK(e.count("ld.global") == 0);
    CHECK(e.count("cp.async.bulk.tensor.2d.global.shared") == 0);
    CHECK(e.count("st.shared") + e.count("stmatrix") == 0);
    CHECK(e.count("barrier.cluster") + e.count("clusterlaunchcontrol") + e.count("mapa") == 0);
  });
}

TEST_CASE("PTX of fallback: one k loop of load, wait, MMAs, commit, wait and block barrier") {
  for_each_entry([](const PtxEntry& e, const FallbackConfig&) {
    std::string order;
    for (const PtxLine& line : e.lines()) {
      if (line.starts_with("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _,")) order += 'x';
      if (line.starts_with("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier")) order += 'l';
      if (line.starts_with("mbarrier.try_wait.parity.acquire.cta.shared::cta.b64")) order += 'w';
      if (line.starts_with("tcgen05.mma.cta_group::1.kind::f16 ")) order += 'm';
      if (line.starts_with("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 ")) order += 'c';
      if (line.starts_with("bar.sync")) order += 'b';
      if (line.starts_with("tcgen05.dealloc")) order += 'd';
    }
    // The barrier of the set-up, a k step, the barrier before the deallocation.
    CHECK(order == "bxllwmmmmcwbbd");
    CHECK(e.count("mbarrier.init.shared::cta.b64") == 2);
    CHECK(e.count("tcgen05.mma") == 4);
    CHECK(e.count("tcgen05.commit") == 1);
    // The loop's branch goes back in front of its copies.
    const size_t barrier = e.find("bar.sync").at(1), copy = e.find("cp.async.bulk.tensor").at(0);
    size_t back = barrier;
    while (e.lines()[back].find("bra") == std::string::npos) ++back;
    CHECK(guarded(e.lines()[back]));
    const std::string target = e.lines()[back].substr(e.lines()[back].find('$'));
    const auto label = std::find(e.lines().begin(), e.lines().end(), target.substr(0, target.size() - 1) + ":");
    REQUIRE(label != e.lines().end());
    CHECK(size_t(label - e.lines().begin()) < copy);
  });
}

TEST_CASE("PTX of fallback: tensor memory is freed after a block barrier that follows every load's wait") {
  for_each_entry([](const PtxEntry& e, const FallbackConfig&) {
    const auto loads = e.find("tcgen05.ld"), waits = e.find("tcgen05.wait::ld.sync.aligned"),
               barriers = e.find("bar.sync"), frees = e.find("tcgen05.dealloc"),
               permits = e.find("tcgen05.relinquish_alloc_permit"),
               before = e.find("tcgen05.fence::before_thread_sync"),
               after = e.find("tcgen05.fence::after_thread_sync");
    REQUIRE(frees.size() == 1);
    REQUIRE(permits.size() == 1);
    CHECK(e.count("tcgen05.alloc") == 1);
    REQUIRE(!loads.empty());
    REQUIRE(!waits.empty());
    CHECK(loads.back() < waits.back());
    CHECK(permits[0] < loads.front());
    // wait::ld, fence, bar.sync, fence, dealloc
    CHECK(waits.back() < before.back());
    CHECK(before.back() < barriers.back());
    CHECK(barriers.back() < after.back());
    CHECK(after.back() < frees[0]);
  });
}

TEST_CASE("PTX of fallback: every element is stored under a guard, halves of 32 bits where rows are words") {
  for_each_entry([](const PtxEntry& e, const FallbackConfig& c) {
    size_t b16 = 0, b32 = 0;  // the recorder's own stores are .v4.b32 and of unsigned types
    const size_t first = e.find("tcgen05.ld").front();
    for (size_t i = 0; i < e.lines().size(); ++i) {
      const PtxLine& line = e.lines()[i];
      const bool halves = line.find("st.global.b16") != std::string::npos,
                 words = line.find("st.global.b32") != std::string::npos;
      if (!halves && !words) continue;
      CHECK(line.starts_with("@p "));
      CHECK(first < i);
      b16 += halves, b32 += words;
    }
    // Registers that one wait::ld covers, times the loads that the compiler has unrolled.
    const size_t registers = e.count("tcgen05.ld") * size_t(widest_strip(c.block_n) / 2);
    CHECK(b32 == (c.output == DataType::f32 ? registers : registers / 2));
    CHECK(b16 == (c.output == DataType::f32 ? 0 : registers));
    CHECK((e.count("cvt.rn.bf16x2.f32") > 0) == (c.output == DataType::bf16));
    if (!e.traced()) CHECK(e.find_anywhere("st.global").size() == b16 + b32);
  });
}
