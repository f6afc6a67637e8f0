// SPDX-License-Identifier: Apache-2.0
// The PTX of every compiled blockwise kernel, plain and traced, has the forms of its configuration: scales of A by
// TMA, a commit for each k tile, and their release behind a proxy fence and a warp barrier.
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
  static const std::vector<PtxEntry> all = read_ptx(SM100_BLOCKWISE_PTX);
  CHECK(all.size() == 2 * std::size(BlockwiseConfigurations::entries));
  for (const PtxEntry& entry : all) {
    INFO(entry.name());
    REQUIRE(entry.kernel() == PtxEntry::Kernel::blockwise);
    check(entry, entry.blockwise_config());
  }
}

}  // namespace

TEST_CASE("PTX of blockwise: no local memory, no calls: all sums are in registers") {
  for_each_entry([](const PtxEntry& e, const BlockwiseConfig&) {
    CHECK(e.find_anywhere(".local").empty());
    CHECK(e.count("call") == 0);
  });
}

TEST_CASE("PTX of blockwise: the MMAs of a k tile, the commit of its stage, the commit of its accumulator") {
  for_each_entry([](const PtxEntry& e, const BlockwiseConfig& c) {
    const auto mmas = e.find(fmt::format("tcgen05.mma.cta_group::{}.kind::f8f6f4 ", c.cta_group));
    REQUIRE(mmas.size() == size_t(mmas_per_k_tile(c)));
    CHECK(e.count("tcgen05.mma") == mmas.size());
    const auto commits = e.find(fmt::format("tcgen05.commit.cta_group::{}.", c.cta_group));
    REQUIRE(commits.size() == 2);
    CHECK(mmas.back() < commits.front());
  });
}

TEST_CASE("PTX of blockwise: A, B and the scales of A are loaded, the scales to their own CTA alone") {
  for_each_entry([](const PtxEntry& e, const BlockwiseConfig& c) {
    const auto copies = e.find("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes");
    REQUIRE(copies.size() == 3);
    const std::string& scales = e.lines()[copies.back()];
    CHECK(scales.find(".multicast") == std::string::npos);
    CHECK((scales.find(".cta_group::2") != std::string::npos) == (c.cta_group == 2));
  });
}

TEST_CASE("PTX of blockwise: scales are read, fenced, then handed back behind a warp barrier") {
  for_each_entry([](const PtxEntry& e, const BlockwiseConfig& c) {
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
