// SPDX-License-Identifier: Apache-2.0
// The PTX of every compiled block-scaled kernel in CUTLASS's arrangement, plain and traced: where accumulators
// overlap, scales of a first stage are copied apart; a residual comes by TMA, is read, fenced and handed back.
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
  static const std::vector<PtxEntry> all = read_ptx(SM100_CUTLASS_PTX);
  CHECK(all.size() == 2 * std::size(CutlassConfigurations::entries));
  for (const PtxEntry& entry : all) {
    INFO(entry.name());
    REQUIRE(entry.kernel() == PtxEntry::Kernel::cutlass);
    check(entry, entry.cutlass_config());
  }
}

}  // namespace

TEST_CASE("PTX of cutlass_block_scaled: no local memory, no calls") {
  for_each_entry([](const PtxEntry& e, const CutlassBlockScaledConfig&) {
    CHECK(e.find_anywhere(".local").empty());
    CHECK(e.count("call") == 0);
  });
}

TEST_CASE("PTX of cutlass_block_scaled: scales of a first stage are copied apart where accumulators overlap") {
  for_each_entry([](const PtxEntry& e, const CutlassBlockScaledConfig& c) {
    const auto copies = e.find(fmt::format("tcgen05.cp.cta_group::{}.32x128b.warpx4 ", c.cta_group));
    const auto mmas = e.find(fmt::format("tcgen05.mma.cta_group::{}.kind::{}.block_scale.scale_vec::{}X ",
                                         c.cta_group, name(mma_kind(c)), scales_per_mma(c)));
    CHECK(copies.size() == size_t(sfa_tile(c).atoms() + sfb_tile(c).atoms()) * (overlaps(c) ? 2 : 1));
    REQUIRE(mmas.size() == 4);
    CHECK(e.count("tcgen05.mma") == mmas.size());
    CHECK(copies.back() < mmas.front());
    CHECK(e.find(fmt::format("tcgen05.commit.cta_group::{}.", c.cta_group)).size() == 2);  // of a stage, of a tile
  });
}

TEST_CASE(
    "PTX of cutlass_block_scaled: the residual is a copy of its own, read and handed back behind a proxy fence") {
  for_each_entry([](const PtxEntry& e, const CutlassBlockScaledConfig& c) {
    const auto copies = e.find("cp.async.bulk.tensor.2d.shared::cluster.global");
    // A and B; of the residual one, or one for each strip where the loop over strips is unrolled.
    CHECK((copies.size() == 2) == !c.residual);
    if (c.residual) CHECK((copies.size() == 3 || copies.size() == 2 + size_t(strips_per_tile(c))));
    const auto words = e.find("ld.shared::cta.b32");
    // A warp has 32 rows of 32 columns: 32 elements a lane.
    REQUIRE(words.size() == (c.residual ? size_t(32 * output_bytes(c) / 4) : 0));
    if (!c.residual) return;
    const auto after = [&](const std::vector<size_t>& lines) {
      const auto next = std::find_if(lines.begin(), lines.end(), [&](size_t line) { return line > words.back(); });
      REQUIRE(next != lines.end());
      return *next;
    };
    CHECK(after(e.find("fence.proxy.async.shared::cta")) <
          after(e.find("mbarrier.arrive.release.cta.shared::cta.b64")));
    CHECK(e.count("ld.global") == 0);
  });
}
