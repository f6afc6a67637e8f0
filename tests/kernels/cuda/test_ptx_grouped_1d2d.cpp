// SPDX-License-Identifier: Apache-2.0
// The PTX of every compiled grouped 1D-2D kernel, plain and traced: the blockwise matmul's stages and sums, stores
// of both kinds, words about groups read, and the ring of tiles where there is one.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "catch.h"
#include "ptx_module.h"

using namespace sm100;

namespace {

/// Runs the check on every entry, naming it in failures.
template <class F>
void for_each_entry(F&& check) {
  static const std::vector<PtxEntry> all = read_ptx(SM100_GROUPED_1D2D_PTX);
  CHECK(all.size() == 2 * std::size(Grouped1d2dConfigurations::entries));
  for (const PtxEntry& entry : all) {
    INFO(entry.name());
    REQUIRE(entry.kernel() == PtxEntry::Kernel::grouped_1d2d);
    check(entry, entry.grouped_1d2d_config());
  }
}

}  // namespace

TEST_CASE("PTX of grouped_1d2d: no local memory, no calls, no cluster launch control") {
  for_each_entry([](const PtxEntry& e, const Grouped1d2dConfig&) {
    CHECK(e.find_anywhere(".local").empty());
    CHECK(e.count("call") == 0);
    CHECK(e.count("clusterlaunchcontrol") == 0);
  });
}

TEST_CASE("PTX of grouped_1d2d: a stage is A, B and scales, and the MMAs of one k tile fill an accumulator") {
  for_each_entry([](const PtxEntry& e, const Grouped1d2dConfig& c) {
    CHECK(e.find("cp.async.bulk.tensor.2d.shared::cluster.global").size() == 3);
    CHECK(e.find_anywhere(".multicast::cluster.L2").empty());
    const auto mmas = e.find(fmt::format("tcgen05.mma.cta_group::{}.kind::f8f6f4 ", c.cta_group));
    REQUIRE(mmas.size() == size_t(mmas_per_k_tile(c)));
    const auto commits = e.find(fmt::format("tcgen05.commit.cta_group::{}.", c.cta_group));
    REQUIRE(commits.size() == 2);
    CHECK(mmas.back() < commits.front());
  });
}

TEST_CASE("PTX of grouped_1d2d: scales are read, fenced, then handed back behind a warp barrier") {
  for_each_entry([](const PtxEntry& e, const Grouped1d2dConfig& c) {
    const int bits = element_bits(c.scale_dtype);
    const auto words = e.find(fmt::format("ld.shared::cta.b{}", bits));
    REQUIRE(words.size() == (has_lower_fragment(c) ? 4 : 2));
    CHECK(e.find_anywhere(fmt::format("ld.global.b{}", bits)).size() == size_t(n_blocks_per_tile(c)));
    const auto after = [&](const std::vector<size_t>& lines) {
      const auto next = std::find_if(lines.begin(), lines.end(), [&](size_t line) { return line > words.back(); });
      REQUIRE(next != lines.end());
      return *next;
    };
    const size_t fence = after(e.find("fence.proxy.async.shared::cta")), sync = after(e.find("bar.warp.sync")),
                 arrive = after(e.find("mbarrier.arrive.release.cta.shared::cta.b64"));
    CHECK(fence < sync);
    CHECK(sync < arrive);
  });
}

TEST_CASE("PTX of grouped_1d2d: whole tiles of sums are stored by TMA, tails by guarded stores") {
  for_each_entry([](const PtxEntry& e, const Grouped1d2dConfig&) {
    CHECK(e.count("cp.async.bulk.tensor.2d.global.shared::cta") >= 1);
    const auto guarded = e.find("st.global.b32");
    CHECK(guarded.size() >= 1);
    for (size_t line : guarded)
      if (!e.traced()) CHECK(e.lines()[line].starts_with("@"));
  });
}

TEST_CASE("PTX of grouped_1d2d: words about groups are read by every role, or by the scheduler warp") {
  for_each_entry([](const PtxEntry& e, const Grouped1d2dConfig& c) {
    CHECK(e.count("ld.global.u32") > 0);
    CHECK((e.count("st.shared::cta.v2.b64") == 2) == (c.work_stages > 0));
    CHECK((e.count("ld.shared::cta.v2.b64") > 0) == (c.work_stages > 0));
    CHECK((e.count("griddepcontrol.wait") > 0) == c.pdl);
  });
}
