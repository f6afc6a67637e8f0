// SPDX-License-Identifier: Apache-2.0
// The PTX of every compiled kernel, plain and traced, says what the protocol demands.  Lines are compared in the
// order of the text: the compiler keeps the roles apart and each role's blocks in order.
#include <algorithm>
#include <map>
#include <set>

#include "catch.h"
#include "kernels/epilogue/strip_functor.h"
#include "kernels/matmul/cluster_share.h"
#include "ptx_module.h"

using namespace sm100;

namespace {

const std::vector<PtxEntry>& entries() {
  static const std::vector<PtxEntry> all = read_ptx(SM100_MATMUL_PTX);
  return all;
}

/// Runs the check on every entry, naming it in failures.
template <class F>
void for_each_entry(F&& check) {
  for (const PtxEntry& entry : entries()) {
    INFO(entry.name());
    check(entry);
  }
}

/// Last of the sorted `lines` before `line`; fails the test if there is none.
size_t last_before(const std::vector<size_t>& lines, size_t line) {
  const auto after = std::lower_bound(lines.begin(), lines.end(), line);
  REQUIRE(after != lines.begin());
  return *std::prev(after);
}
size_t first_after(const std::vector<size_t>& lines, size_t line) {
  const auto after = std::upper_bound(lines.begin(), lines.end(), line);
  REQUIRE(after != lines.end());
  return *after;
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::vector<size_t> merged(std::vector<size_t> a, const std::vector<size_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end());
  return a;
}

bool functor_on_strip(const MatmulConfig& c) { return has_functor(c) && !c.register_epilogue; }

}  // namespace

TEST_CASE("PTX: every configuration is there, plain and traced") {
  std::set<std::string> seen;
  for_each_entry([&](const PtxEntry& e) { seen.insert(e.name()); });
  CHECK(seen.size() == entries().size());
  for (const MatmulList& list : kMatmulLists)
    for (const NamedConfig& c : list.entries) {
      INFO(c.name);
      CHECK(seen.count(c.name) == 1);
      CHECK(seen.count(std::string(c.name) + ", traced") == 1);
    }
}

TEST_CASE("PTX: no local memory, no calls, no generic access where a state space is known") {
  for_each_entry([](const PtxEntry& e) {
    CHECK(e.find_anywhere(".local").empty());
    CHECK(e.count("call") == 0);
    const bool split = e.config().num_split_k > 1;
    CHECK((e.count("ld.global") > 0) == (e.config().bias || e.config().residual || split));
    CHECK((e.count("st.global") > 0) == (e.traced() || split));
  });
}

TEST_CASE(
    "PTX: a dependent launch waits in the load and scheduler warps, and lets the next start after the last MMA") {
  for_each_entry([](const PtxEntry& e) {
    const auto waits = e.find("griddepcontrol.wait"), releases = e.find("griddepcontrol.launch_dependents"),
               loads = e.find("cp.async.bulk.tensor.2d.shared::cluster.global"),
               requests = e.find("clusterlaunchcontrol.try_cancel");
    CHECK(waits.size() == (e.config().pdl ? 1 + (e.config().clc_stages > 0) : 0));
    CHECK(releases.size() == (e.config().pdl ? 1 : 0));
    if (!e.config().pdl) return;
    CHECK(last_before(waits, loads.at(0)) != last_before(waits, requests.at(0)));
    CHECK(e.find("tcgen05.commit").back() < releases[0]);
    CHECK(releases[0] < e.find("tcgen05.relinquish_alloc_permit").at(0));
  });
}

TEST_CASE("PTX: one MMA per 32 bytes of K, a commit per stage, and one per tile, all of the configured group") {
  for_each_entry([](const PtxEntry& e) {
    const std::string group = ".cta_group::" + std::to_string(e.config().cta_group);
    std::string order;  // C: multicast
    for (const PtxLine& line : e.lines()) {
      const std::string commit = "tcgen05.commit" + group + ".mbarrier::arrive::one.shared::cluster";
      if (line.starts_with("tcgen05.mma" + group + ".kind::" + name(mma_kind(e.config())) + " ")) order += 'm';
      if (line.starts_with(commit + ".b64 ")) order += 'c';
      if (line.starts_with(commit + ".multicast::cluster.b64 ")) order += 'C';
    }
    const std::string stage(size_t(e.config().k_group_size * mmas_per_k_tile(e.config())), 'm');
    // A stage is released to all that load into it or hold it too, an accumulator handed to the epilogues of the
    // pair.
    CHECK(order == stage + (cluster_size(e.config()) > 1 ? "C" : "c") + (e.config().cta_group == 2 ? "C" : "c"));
    CHECK(e.count("tcgen05.mma") + e.count("tcgen05.commit") == order.size());
    CHECK(e.find_anywhere(".cta_group::").size() == e.find_anywhere(group).size());
  });
}

TEST_CASE("PTX: tensor memory is allocated, given up and freed once") {
  for_each_entry([](const PtxEntry& e) {
    const auto alloc = e.find("tcgen05.alloc"), dealloc = e.find("tcgen05.dealloc"),
               permit = e.find("tcgen05.relinquish_alloc_permit");
    REQUIRE(alloc.size() == 1);
    REQUIRE(dealloc.size() == 1);
    REQUIRE(permit.size() == 1);
    CHECK(alloc[0] < permit[0]);
    CHECK(permit[0] < dealloc[0]);
  });
}

TEST_CASE("PTX: every mbarrier wait is a loop of try_wait.parity with acquire") {
  for_each_entry([](const PtxEntry& e) {
    CHECK(e.count("mbarrier.test_wait") == 0);
    const auto waits = e.find("mbarrier.try_wait"), branches = e.find("bra");
    CHECK(waits.size() >= 8);
    for (const size_t at : waits) {
      INFO(e.lines()[at]);
      CHECK(e.lines()[at].starts_with("mbarrier.try_wait.parity.acquire."));
      // Back to the label in front of the wait, on "not done".
      size_t label = at;
      while (label > 0 && !e.lines()[label].ends_with(":")) --label;
      const std::string target = e.lines()[label].substr(0, e.lines()[label].size() - 1);
      const std::string& branch = e.lines()[first_after(branches, at)];
      CHECK(branch.starts_with("@"));
      CHECK(contains(branch, target + ";"));
      CHECK(at - label < 6);
    }
  });
}

TEST_CASE("PTX: every barrier of the table is initialised, then fenced, then the cluster meets") {
  for_each_entry([](const PtxEntry& e) {
    int barriers = 0;
    for_each_barrier_array(e.config(), storage_at<SharedStorage>(e.config()),
                           [&](const BarrierArray& array) { barriers += array.stages; });
    const auto inits = e.find("mbarrier.init.shared::cta.b64"),
               fence = e.find("fence.mbarrier_init.release.cluster"), arrive = e.find("barrier.cluster.arrive"),
               wait = e.find("barrier.cluster.wait");
    CHECK(inits.size() == size_t(barriers));
    REQUIRE(fence.size() == 1);
    REQUIRE(arrive.size() == 1);
    REQUIRE(wait.size() == 1);
    CHECK(inits.back() < fence[0]);
    CHECK(fence[0] < arrive[0]);
    CHECK(arrive[0] < wait[0]);
  });
}

TEST_CASE("PTX: a stage is armed once, then its A and B copies complete on a barrier") {
  for_each_entry([](const PtxEntry& e) {
    const MatmulConfig& c = e.config();
    const std::string load = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes";
    const auto loads = e.find(load);
    REQUIRE(loads.size() == size_t(2 * c.k_group_size));
    for (size_t i = 0; i < loads.size(); ++i) {  // a slice of A, then one of B
      const bool shared = (i % 2 == 0 ? a_sharers(c) : b_sharers(c)) > 1;
      const std::string expected =
          load + (shared ? ".multicast::cluster" : "") + (c.cta_group == 2 ? ".cta_group::2" : "") + " ";
      CHECK(contains(e.lines()[loads[i]], expected));
    }
    const auto arms = e.find("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _,");
    REQUIRE(arms.size() == 1);
    CHECK(arms[0] < loads[0]);
  });
}

TEST_CASE("PTX: loaded registers are used after wait::ld only") {
  for_each_entry([](const PtxEntry& e) {
    const auto loads = e.find("tcgen05.ld.sync.aligned.16x256b.x" + std::to_string(strip_columns(e.config()) / 8) +
                              ".b32"),
               waits = e.find("tcgen05.wait::ld.sync.aligned");
    CHECK(loads.size() == e.count("tcgen05.ld"));
    CHECK(loads.size() == waits.size() * (has_lower_fragment(e.config()) ? 2 : 1));
    for (const size_t at : loads) {
      const std::string& line = e.lines()[at];
      const auto results = ptx_registers(line.substr(0, line.find('}')));
      const std::set<std::string> written(results.begin(), results.end());
      CHECK(written.size() == size_t(strip_columns(e.config()) / 2));
      for (size_t i = at + 1; i < first_after(waits, at); ++i)
        for (const std::string& name : ptx_registers(e.lines()[i])) CHECK(written.count(name) == 0);
    }
    // The accumulator is handed back after the wait and the fence.
    const auto fences = e.find("tcgen05.fence::before_thread_sync"), arrives = e.find("mbarrier.arrive.release");
    const size_t handed_back = first_after(arrives, waits.back());
    CHECK(last_before(fences, handed_back) > waits.back());
  });
}

TEST_CASE("PTX: strips are written, fenced, met at the barrier, stored and committed as a bulk group") {
  for_each_entry([](const PtxEntry& e) {
    const MatmulConfig& c = e.config();
    const bool by_matrix = output_bytes(c) == 2;
    CHECK((e.count("st.shared") > 0) == (!by_matrix || functor_on_strip(c)));
    CHECK((e.count("stmatrix.sync.aligned.m8n8") > 0) == by_matrix);
    CHECK((e.find_anywhere(".trans.").size() > 0) == (by_matrix && c.ab_swapped));
    CHECK((e.count("cvt.rn.bf16x2.f32") > 0) == (c.output == DataType::bf16));
    CHECK((e.count("cvt.rn.f16x2.f32") > 0) == (c.output == DataType::f16));
    CHECK((e.count("cvt.rn.satfinite.e4m3x2.f32") > 0) == (c.output == DataType::e4m3));
    const auto stores = e.find("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group");
    REQUIRE(!stores.empty());
    CHECK(e.count("cp.async.bulk.tensor.2d.global") == stores.size());
    const auto writes = merged(e.find("stmatrix"), e.find("st.shared")),
               fences = e.find("fence.proxy.async.shared::cta"), barriers = e.find("bar.sync"),
               commits = e.find("cp.async.bulk.commit_group"), reads = e.find("cp.async.bulk.wait_group.read");
    for (const size_t store : stores) {
      const size_t write = last_before(writes, store), barrier = last_before(barriers, store);
      const size_t fence = last_before(fences, barrier);
      CHECK(write < fence);
      CHECK(fence < barrier);
      CHECK(first_after(commits, store) < first_after(reads, store));
    }
    // Transposed strips are several boxes in one group.
    const size_t boxes = c.ab_swapped ? size_t(store_rows(c) / block_columns(c)) : 1;
    CHECK(commits.size() * boxes == stores.size());
  });
}

TEST_CASE("PTX: the functor in registers loads neighbours in C at once, and a bias once for all rows") {
  for_each_entry([](const PtxEntry& e) {
    const MatmulConfig& c = e.config();
    if (!has_functor(c) || !c.register_epilogue) return;
    const size_t strips = e.count("tcgen05.wait::ld"), fragments = has_lower_fragment(c) ? 2 : 1,
                 registers = size_t(strip_columns(c) / 2);
    std::map<std::string, size_t> expected;
    if (c.bias && !c.ab_swapped) expected["v2.b32"] += registers / 4;
    if (c.bias && c.ab_swapped) expected["b32"] += 2 * fragments;
    const char* const of_bytes[] = {"", "", "b16", "", "b32", "", "", "", "v2.b32"};
    const int neighbours = c.ab_swapped ? 1 : 2;
    if (c.residual) expected[of_bytes[neighbours * output_bytes(c)]] += fragments * registers / size_t(neighbours);
    for (const char* width : {"b16", "b32", "v2.b32", "v4.b32"}) {
      INFO(width);
      CHECK(e.count(std::string("ld.global.") + width + " ") == strips * expected[width]);
    }
  });
}

TEST_CASE("PTX: the functor on the strip meets at the barrier, then loads, computes and stores vectors in place") {
  for_each_entry([](const PtxEntry& e) {
    const MatmulConfig& c = e.config();
    const auto reads = e.find("ld.shared::cta.v4.b32"), updates = e.find("st.shared::cta.v4.b32");
    const size_t strips = e.count("tcgen05.wait::ld"), vectors = size_t(vectors_per_lane(c));
    const bool on_strip = functor_on_strip(c);
    CHECK(reads.size() == (on_strip ? strips * vectors : 0));
    CHECK(updates.size() == reads.size());
    if (!on_strip) return;
    const size_t biases = !c.bias ? 0 : (same_columns(c) ? 1 : vectors) * size_t(4 / output_bytes(c));
    CHECK(e.count("ld.global.v4.b32") == strips * (biases + (c.residual ? vectors : 0)));
    CHECK(e.count("ld.global") == e.count("ld.global.v4.b32"));
    auto fragments = merged(e.find("stmatrix"), e.find("st.shared::cta.v2.b32"));
    const auto barriers = e.find("bar.sync"), fences = e.find("fence.proxy.async.shared::cta"),
               stores = e.find("cp.async.bulk.tensor.2d.global");
    for (size_t strip = 0; strip < strips; ++strip) {
      const size_t first = reads[strip * vectors], last = updates[(strip + 1) * vectors - 1];
      CHECK(last_before(barriers, first) > last_before(fragments, first));
      const size_t fence = first_after(fences, last), barrier = first_after(barriers, last);
      CHECK(fence < barrier);
      CHECK(barrier < first_after(stores, last));
    }
  });
}

TEST_CASE("PTX: splits meet at a lock, acquired in a loop and released once, between barriers of the epilogue") {
  for_each_entry([](const PtxEntry& e) {
    const MatmulConfig& c = e.config();
    const auto acquires = e.find("ld.acquire.gpu.global.u32"), releases = e.find("st.release.gpu.global.u32"),
               stores = e.find("st.global.v2.b32"), tmem_stores = e.find("tcgen05.st.sync.aligned.16x256b");
    auto loads = e.find("ld.global.v2.b32");
    std::erase_if(loads, [&](size_t at) { return e.lines()[at].starts_with("@"); });  // the functor's
    const bool split = c.num_split_k > 1;
    CHECK(acquires.size() == (split ? 1 : 0));
    CHECK(releases.size() == (split ? 1 : 0));
    CHECK(stores.empty() == !split);
    CHECK(loads.empty() == !split);
    CHECK(tmem_stores.empty() == !split);
    CHECK(e.count("tcgen05.wait::st.sync.aligned") == (split ? 1 : 0));
    if (!split) return;
    const auto meetings = e.find("bar.sync");
    // Acquire, barrier, loads; stores, barrier, release.
    CHECK(first_after(meetings, acquires[0]) < loads.front());
    CHECK(last_before(meetings, releases[0]) > stores.back());
    CHECK(tmem_stores.back() < e.find("tcgen05.wait::st.sync.aligned")[0]);
    // The loop: back on "not equal".
    CHECK(e.lines()[first_after(e.find("bra"), acquires[0])].starts_with("@"));
  });
}

TEST_CASE("PTX: cluster launch control is there exactly when the configuration has it, at cluster scope") {
  for_each_entry([](const PtxEntry& e) {
    const bool clc = e.config().clc_stages > 0;
    CHECK(e.count("clusterlaunchcontrol.try_cancel") == (clc ? 1 : 0));
    CHECK(e.find_anywhere(".multicast::cluster::all").size() == (clc && cluster_size(e.config()) > 1 ? 1 : 0));
    // One fetch each of scheduler, load, MMA and epilogue, where the compiler has not merged or split them.
    const auto canceled = e.find("clusterlaunchcontrol.query_cancel.is_canceled"),
               first = e.find("clusterlaunchcontrol.query_cancel.get_first_ctaid"), branches = e.find("bra");
    CHECK((canceled.size() >= 4) == clc);
    CHECK(first.size() == canceled.size());
    for (size_t i = 0; i < first.size(); ++i) {
      CHECK(canceled[i] < first[i]);
      CHECK(first_after(branches, canceled[i]) < first[i]);  // only under the predicate
    }
    const size_t cluster_waits = e.count("mbarrier.try_wait.parity.acquire.cluster.shared::cta");
    CHECK((cluster_waits > 0) == (clc || cluster_size(e.config()) > 1));
    CHECK(cluster_waits >= canceled.size());
    // Each reader's release of the response goes to CTA 0; of a pair, accumulators go to the leader and tensor
    // memory to the peer.
    const size_t pair = e.config().cta_group == 2 ? 2 + (e.config().num_split_k > 1) : 0;
    CHECK(e.count("mbarrier.arrive.shared::cluster.b64 _,") == canceled.size() + pair);
    CHECK(e.count("mbarrier.arrive.release.cluster") == 0);
    CHECK(e.count("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _,") == (clc ? 1 : 0));
    // The response is read before the async proxy may write the next one over it.
    const auto reads = e.find("ld.shared::cta.v2.b64"), fences = e.find("fence.proxy.async.shared::cta"),
               releases = e.find("mbarrier.arrive.release.cta.shared::cluster.b64 _,");
    CHECK(reads.size() == canceled.size());
    if (e.config().cta_group == 1)  // a pair has other remote arrivals too
      for (const size_t release : releases) CHECK(last_before(fences, release) > last_before(reads, release));
  });
}
