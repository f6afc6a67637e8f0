// SPDX-License-Identifier: Apache-2.0
// The PTX of every compiled pipeline_copy kernel, plain and traced, says what the protocol demands.
#include <algorithm>

#include "catch.h"
#include "kernels/copy/cuda/copy_configurations.h"
#include "kernels/copy/shared_storage.h"
#include "ptx_module.h"

using namespace sm100;

namespace {

/// Runs the check on every entry, naming it in failures.
template <class F>
void for_each_entry(F&& check) {
  static const std::vector<PtxEntry> all = read_ptx(SM100_COPY_PTX);
  CHECK(all.size() == 2 * kCopyConfigurationCount);
  for (const PtxEntry& entry : all) {
    INFO(entry.name());
    check(entry, entry.copy_config());
  }
}

}  // namespace

TEST_CASE("PTX of pipeline_copy: nothing that sm_90 lacks, no local memory, no generic access") {
  for_each_entry([](const PtxEntry& e, const CopyConfig&) {
    CHECK(e.find_anywhere("tcgen05").empty());
    CHECK(e.find_anywhere("clusterlaunchcontrol").empty());
    CHECK(e.find_anywhere(".local").empty());
    CHECK(e.count("call") == 0);
    CHECK(e.count("ld.global") == 0);
    CHECK((e.find_anywhere("st.global").size() > 0) == e.traced());
  });
}

TEST_CASE("PTX of pipeline_copy: a stage is armed once, then one copy per slot, multicast where configured") {
  for_each_entry([](const PtxEntry& e, const CopyConfig& c) {
    const auto arms = e.find("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _,");
    CHECK(arms.size() == 1);
    const auto loads = e.find("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes");
    CHECK(loads.size() == size_t(c.k_group_size));
    size_t multicast = 0;
    for (const size_t at : loads) multicast += e.lines()[at].find(".multicast::cluster") != std::string::npos;
    CHECK(multicast == (c.multicast ? loads.size() : 0));
    if (!loads.empty() && !arms.empty()) CHECK(arms[0] < loads[0]);
  });
}

TEST_CASE("PTX of pipeline_copy: a dependent launch waits before its loads and lets the next start after them") {
  for_each_entry([](const PtxEntry& e, const CopyConfig& c) {
    const auto waits = e.find("griddepcontrol.wait"), releases = e.find("griddepcontrol.launch_dependents"),
               loads = e.find("cp.async.bulk.tensor.2d.shared::cluster.global");
    CHECK(waits.size() == (c.pdl ? 1 : 0));
    CHECK(releases.size() == (c.pdl ? 1 : 0));
    if (waits.size() == 1 && releases.size() == 1) CHECK((waits[0] < loads.at(0) && loads.back() < releases[0]));
  });
}

TEST_CASE("PTX of pipeline_copy: readers release to their own CTA, or to each CTA of the cluster") {
  for_each_entry([](const PtxEntry& e, const CopyConfig& c) {
    const size_t remote = e.count("mbarrier.arrive.shared::cluster.b64 _,"),
                 own = e.count("mbarrier.arrive.release.cta.shared::cta.b64 _,");
    CHECK((remote > 0) == c.multicast);
    CHECK((own > 0) == !c.multicast);
    CHECK((e.count("mapa.shared::cluster.u32") > 0) == c.multicast);
  });
}

TEST_CASE("PTX of pipeline_copy: strips are written, fenced, met at the barrier, stored and committed") {
  for_each_entry([](const PtxEntry& e, const CopyConfig& c) {
    const auto stores = e.find("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group"),
               writes = e.find("st.shared"), fences = e.find("fence.proxy.async.shared::cta"),
               barriers = e.find("bar.sync"), commits = e.find("cp.async.bulk.commit_group");
    REQUIRE(!stores.empty());
    CHECK(commits.size() == stores.size());
    CHECK(writes.size() % size_t(copy_chunks_per_thread(c)) == 0);
    for (const size_t store : stores) {
      const auto before = [&](const std::vector<size_t>& lines, size_t line) {
        const auto after = std::lower_bound(lines.begin(), lines.end(), line);
        REQUIRE(after != lines.begin());
        return *std::prev(after);
      };
      const size_t barrier = before(barriers, store), fence = before(fences, barrier);
      CHECK(before(writes, store) < fence);
      CHECK(fence < barrier);
    }
  });
}

TEST_CASE("PTX of pipeline_copy: every barrier is initialised, then fenced, then the cluster meets") {
  for_each_entry([](const PtxEntry& e, const CopyConfig& c) {
    const auto inits = e.find("mbarrier.init.shared::cta.b64"),
               fence = e.find("fence.mbarrier_init.release.cluster"), arrive = e.find("barrier.cluster.arrive"),
               wait = e.find("barrier.cluster.wait");
    CHECK(inits.size() == size_t(2 * copy_ring_stages(c)));
    REQUIRE(fence.size() == 1);
    REQUIRE(arrive.size() == 1);
    REQUIRE(wait.size() == 1);
    CHECK(inits.back() < fence[0]);
    CHECK(fence[0] < arrive[0]);
    CHECK(arrive[0] < wait[0]);
  });
}
