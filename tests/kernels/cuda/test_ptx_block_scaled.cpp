// SPDX-License-Identifier: Apache-2.0
// The PTX of every compiled block-scaled kernel, plain and traced, has the forms of its configuration: copies of
// scales to shared and to tensor memory, then the MMAs that read them.
#include <fmt/format.h>

#include <iterator>

#include "catch.h"
#include "ptx_module.h"

using namespace sm100;

namespace {

/// Runs the check on every entry, naming it in failures.
template <class F>
void for_each_entry(F&& check) {
  static const std::vector<PtxEntry> all = read_ptx(SM100_BLOCK_SCALED_PTX);
  CHECK(all.size() == 2 * std::size(BlockScaledConfigurations::entries));
  for (const PtxEntry& entry : all) {
    INFO(entry.name());
    REQUIRE(entry.kernel() == PtxEntry::Kernel::block_scaled);
    check(entry, entry.block_scaled_config());
  }
}

}  // namespace

TEST_CASE("PTX of block_scaled: no local memory, no calls, no MMA without scales") {
  for_each_entry([](const PtxEntry& e, const BlockScaledConfig&) {
    CHECK(e.find_anywhere(".local").empty());
    CHECK(e.count("call") == 0);
    CHECK(e.count("tcgen05.mma") == e.find_anywhere(".block_scale.").size());
  });
}

TEST_CASE("PTX of block_scaled: a stage's scales are copied, its four MMAs follow, then its commit") {
  for_each_entry([](const PtxEntry& e, const BlockScaledConfig& c) {
    const std::string copy = fmt::format("tcgen05.cp.cta_group::{}.32x128b.warpx4 ", c.cta_group);
    const std::string mma = fmt::format("tcgen05.mma.cta_group::{}.kind::{}.block_scale.scale_vec::{}X ",
                                        c.cta_group, name(mma_kind(c)), scales_per_mma(c));
    const auto copies = e.find(copy), mmas = e.find(mma);
    REQUIRE(copies.size() == size_t(sfa_tile(c).atoms() + sfb_tile(c).atoms()));
    CHECK(e.count("tcgen05.cp") == copies.size());
    REQUIRE(mmas.size() == 4);
    CHECK(e.count("tcgen05.mma") == mmas.size());
    CHECK(copies.back() < mmas.front());
    const auto commits = e.find(fmt::format("tcgen05.commit.cta_group::{}.", c.cta_group));
    REQUIRE(commits.size() == 2);  // of a stage, of a tile
    CHECK(mmas.back() < commits.front());
  });
}

TEST_CASE("PTX of block_scaled: scales come by copies of three dimensions, to their own CTA alone") {
  for_each_entry([](const PtxEntry& e, const BlockScaledConfig& c) {
    const auto copies = e.find("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes");
    REQUIRE(copies.size() == 2);
    for (size_t line : copies) {
      CHECK(e.lines()[line].find(".multicast") == std::string::npos);
      CHECK((e.lines()[line].find(".cta_group::2") != std::string::npos) == (c.cta_group == 2));
    }
    CHECK(e.find("cp.async.bulk.tensor.2d.shared::cluster.global").size() == 2);
    const auto arms = e.find("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _,");
    REQUIRE(arms.size() == 1);
    CHECK(arms[0] < copies[0]);
  });
}
