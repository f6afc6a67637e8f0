// SPDX-License-Identifier: Apache-2.0
// The PTX of every compiled grouped 1D-1D kernel, plain and traced: the block-scaled matmul's copies and MMAs,
// stores of both kinds, words about groups read, and the ring of tiles where there is one.
#include <fmt/format.h>

#include <iterator>

#include "catch.h"
#include "ptx_module.h"

using namespace sm100;

namespace {

/// Runs the check on every entry, naming it in failures.
template <class F>
void for_each_entry(F&& check) {
  static const std::vector<PtxEntry> all = read_ptx(SM100_GROUPED_1D1D_PTX);
  CHECK(all.size() == 2 * std::size(Grouped1d1dConfigurations::entries));
  for (const PtxEntry& entry : all) {
    INFO(entry.name());
    REQUIRE(entry.kernel() == PtxEntry::Kernel::grouped_1d1d);
    check(entry, entry.grouped_1d1d_config());
  }
}

}  // namespace

TEST_CASE("PTX of grouped_1d1d: no local memory, no calls, no cluster launch control") {
  for_each_entry([](const PtxEntry& e, const Grouped1d1dConfig&) {
    CHECK(e.find_anywhere(".local").empty());
    CHECK(e.count("call") == 0);
    CHECK(e.count("clusterlaunchcontrol") == 0);
  });
}

TEST_CASE(
    "PTX of grouped_1d1d: a stage is two boxes of elements and two of scales, its scales are copied before its "
    "MMAs") {
  for_each_entry([](const PtxEntry& e, const Grouped1d1dConfig& c) {
    CHECK(e.find("cp.async.bulk.tensor.2d.shared::cluster.global").size() == 2);
    CHECK(e.find("cp.async.bulk.tensor.3d.shared::cluster.global").size() == 2);
    CHECK(e.find_anywhere(".multicast::cluster.L2").empty());
    const auto copies = e.find(fmt::format("tcgen05.cp.cta_group::{}.32x128b.warpx4 ", c.cta_group));
    const auto mmas = e.find(fmt::format("tcgen05.mma.cta_group::{}.kind::{}.block_scale.scale_vec::{}X ",
                                         c.cta_group, name(mma_kind(c)), scales_per_mma(c)));
    REQUIRE(copies.size() == size_t(sfa_tile(c).atoms() + sfb_tile(c).atoms()));
    REQUIRE(mmas.size() == 4);
    CHECK(copies.back() < mmas.front());
  });
}

TEST_CASE("PTX of grouped_1d1d: whole tiles are stored by TMA, tails by guarded stores") {
  for_each_entry([](const PtxEntry& e, const Grouped1d1dConfig& c) {
    CHECK(e.count("cp.async.bulk.tensor.2d.global.shared::cta") >= 1);
    const auto guarded = e.find(c.ab_swapped ? "st.global.b16" : "st.global.b32");
    CHECK(guarded.size() >= 1);
    for (size_t line : guarded)
      if (!e.traced()) CHECK(e.lines()[line].starts_with("@"));
  });
}

TEST_CASE("PTX of grouped_1d1d: words about groups are read by every role, or by the scheduler warp") {
  for_each_entry([](const PtxEntry& e, const Grouped1d1dConfig& c) {
    CHECK(e.count("ld.global.u32") > 0);
    CHECK((e.count("st.shared::cta.v2.b64") == 2) == (c.work_stages > 0));
    CHECK((e.count("ld.shared::cta.v2.b64") > 0) == (c.work_stages > 0));
  });
}
