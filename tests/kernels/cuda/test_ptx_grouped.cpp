// SPDX-License-Identifier: Apache-2.0
// The PTX of every compiled grouped block-scaled kernel, plain and traced: maps are edited in all that depends on
// the group, released, then acquired, and copied with.
#include <fmt/format.h>

#include <iterator>

#include "catch.h"
#include "ptx_module.h"

using namespace sm100;

namespace {

/// Runs the check on every entry, naming it in failures.
template <class F>
void for_each_entry(F&& check) {
  static const std::vector<PtxEntry> all = read_ptx(SM100_GROUPED_PTX);
  CHECK(all.size() == 2 * std::size(GroupedBlockScaledConfigurations::entries));
  for (const PtxEntry& entry : all) {
    INFO(entry.name());
    REQUIRE(entry.kernel() == PtxEntry::Kernel::grouped);
    check(entry, entry.grouped_config());
  }
}

constexpr size_t kMaps = 5;  ///< A, B, SFA, SFB, C

}  // namespace

TEST_CASE("PTX of grouped_block_scaled: no local memory, no calls") {
  for_each_entry([](const PtxEntry& e, const GroupedBlockScaledConfig&) {
    CHECK(e.find_anywhere(".local").empty());
    CHECK(e.count("call") == 0);
  });
}

TEST_CASE(
    "PTX of grouped_block_scaled: address, dimensions and strides of all maps, where the configuration edits "
    "them") {
  for_each_entry([](const PtxEntry& e, const GroupedBlockScaledConfig& c) {
    const char* space = c.map_edits == MapEdits::shared ? "shared::cta" : "global";
    const auto edits = [&](const char* field, const char* type) {
      return e.count(fmt::format("tensormap.replace.tile.{}.{}.b1024.{}", field, space, type));
    };
    CHECK(edits("global_address", "b64") == kMaps);
    CHECK(edits("global_dim", "b32") == 2 * kMaps);
    CHECK(edits("global_stride", "b64") == kMaps);
    CHECK(e.count("tensormap.replace") == 4 * kMaps);
  });
}

TEST_CASE("PTX of grouped_block_scaled: a release behind the edits, and an acquire of each map behind it") {
  for_each_entry([](const PtxEntry& e, const GroupedBlockScaledConfig& c) {
    const bool shared = c.map_edits == MapEdits::shared;
    const auto copies =
        e.find("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned");
    const auto releases = e.find("fence.proxy.tensormap::generic.release.gpu");
    const auto acquires = e.find("fence.proxy.tensormap::generic.acquire.gpu");
    CHECK(copies.size() == (shared ? kMaps : 0));
    // of the load and of the epilogue warp, and of the one that loads the scales of B
    CHECK(releases.size() == (shared ? 0 : stores_sfb(c) ? 3 : 2));
    CHECK(acquires.size() == kMaps);
    const auto& last = shared ? copies : releases;
    REQUIRE(!last.empty());
    CHECK(last.front() < acquires.front());
    CHECK(last.back() < acquires.back());
  });
}
