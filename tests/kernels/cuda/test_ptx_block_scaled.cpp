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
    REQUIRE(copies.size() == size_t(sfa_tile(c).atoms() + (stores_sfb(c) ? 0 : sfb_tile(c).atoms())));
    CHECK(e.count("tcgen05.cp") == copies.size());
    REQUIRE(mmas.size() == 4);
    CHECK(e.count("tcgen05.mma") == mmas.size());
    CHECK(copies.back() < mmas.front());
    const auto commits = e.find(fmt::format("tcgen05.commit.cta_group::{}.", c.cta_group));
    REQUIRE(commits.size() == (stores_sfb(c) ? 3 : 2));  // of a stage, of its stored scales, of a tile
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
    REQUIRE(arms.size() == (stores_sfb(c) ? 2 : 1));
    CHECK(arms[0] < copies[0]);
  });
}

TEST_CASE(
    "PTX of block_scaled: below 64 columns warps store the scales of B, and say so behind wait::st and fence") {
  for_each_entry([](const PtxEntry& e, const BlockScaledConfig& c) {
    const auto stores = e.find("tcgen05.st.sync.aligned.32x32b.");
    REQUIRE(stores.size() == (stores_sfb(c) ? size_t(sfb_slot(c).k_atoms) : 0));
    CHECK(e.count("ld.shared::cta.b32") == (stores_sfb(c) ? stores.size() * size_t(ceil_div(c.mma_n, 32)) : 0));
    const auto waits = e.find("tcgen05.wait::st.sync.aligned");
    REQUIRE(waits.size() == (stores_sfb(c) ? 1 : 0));
    if (!stores_sfb(c)) return;
    CHECK(stores.back() < waits[0]);
    CHECK(e.lines()[waits[0] + 1].find("tcgen05.fence::before_thread_sync") == 0);
  });
}

TEST_CASE(
    "PTX of block_scaled: quantised outputs round scales, take their reciprocals and store them by themselves") {
  for_each_entry([](const PtxEntry& e, const BlockScaledConfig& c) {
    const bool rows = c.scaled_output.direction == ScaleDirection::rows;
    const bool ue4m3 = c.scaled_output.type == ScaleType::ue4m3;
    if (!quantises(c)) {
      CHECK(e.count("rcp.approx.ftz.f32") == 0);
      CHECK(e.count("st.global.b") == 0);
      return;
    }
    CHECK((e.count("cvt.rn.satfinite.e2m1x2.f32") > 0) == (c.output == DataType::e2m1));
    CHECK((e.count("rcp.approx.ftz.f32") > 0) == ue4m3);
    CHECK((e.count("cvt.rp.satfinite.ue8m0x2.f32") > 0) == !ue4m3);
    CHECK(e.count("max.NaN.f32") > 0);
    CHECK(e.count("min.NaN.f32") > 0);
    CHECK((e.count("shfl.sync.bfly.b32") > 0) == (!rows && c.scaled_output.block == 16));
    CHECK(e.count("tcgen05.ld.sync.aligned.32x32b.x32") == 1);
    CHECK(e.count("st.global.b") > 0);
  });
}
