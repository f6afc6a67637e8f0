// SPDX-License-Identifier: Apache-2.0
// Which work tiles were had by whom: what is said of tiles that no CTA has had, that several have had, and that lie
// outside of the output.
#include <fstream>

#include "catch.h"
#include "paths.h"
#include "scratch_directory.h"
#include "sim/child_process.h"
#include "sim/provenance/tiles.h"

using namespace sm100;
using namespace sm100::sim;
using provenance::Tiles;
using provenance::TileTaken;

namespace {

std::string cta(const models::Source& source) { return "CTA " + std::to_string(source.cta); }

TileTaken had(int m, int n, int by, models::Cycles begun = 0, int cluster = -1) {
  return {.m = m, .n = n, .by = {.warp = 5, .cta = by}, .begun = begun, .cluster = cluster < 0 ? by : cluster};
}

/// 256 x 256, unless told otherwise, in tiles of 128 x 128.
Tiles tiles(std::vector<TileTaken> taken, host::WorkTiles shape = {.rows = 128, .columns = 128},
            int cluster_ctas = 1, std::vector<Tiles::Size> outputs = {{256, 256}}) {
  Tiles all(shape, std::move(taken), cluster_ctas);
  all.set_outputs(std::move(outputs));
  return all;
}

using Lines = std::vector<std::string>;
Lines details(const Tiles& of) {
  models::Source by;
  return of.details(cta, by);
}

}  // namespace

TEST_CASE("one CTA has had a tile twice instead of another", "[tiles]") {
  const Tiles all = tiles({had(0, 0, 0, 100), had(1, 0, 1, 100), had(1, 1, 0, 4000), had(1, 0, 1, 4200)});
  REQUIRE(all.known());
  CHECK(all.at(127, 128) == Tiles::Place{0, 1});
  CHECK(all.lacking({0, 1}));
  CHECK_FALSE(all.lacking({1, 0}));
  CHECK(all.lacking_text() == "no CTA has had tile (0, 1)");
  CHECK(details(all) == Lines{"tile (1, 0) was had by CTA 1 twice, the last time from cycle 4,200 on"});
  models::Source by;
  all.details(cta, by);
  CHECK(by.cta == 1);
  CHECK(by.warp == 5);
}

TEST_CASE("all CTAs of a cluster have had its first one's tile", "[tiles]") {
  const Tiles all = tiles({had(0, 0, 0, 0, 0), had(0, 0, 1, 0, 0), had(0, 0, 2, 0, 0), had(0, 0, 3, 0, 0)},
                          {.rows = 128, .columns = 128, .round_m = 2, .round_n = 2}, 4);
  CHECK(all.lacking_text() == "no CTA has had tiles (0, 1), (1, 0), (1, 1)");
  CHECK(details(all) == Lines{"all 4 CTAs of a cluster have had tile (0, 0): CTA 0, CTA 1, CTA 2, CTA 3"});
}

TEST_CASE("CTAs that have nothing to do with each other have had one tile", "[tiles]") {
  const Tiles all = tiles({had(0, 0, 0), had(0, 1, 1), had(1, 0, 2), had(0, 0, 3)});
  CHECK(details(all) == Lines{"tile (0, 0) was had twice: by CTA 0, CTA 3"});
}

TEST_CASE("a tile outside of the output was computed, and one that fills up a cluster may be", "[tiles]") {
  const std::vector<TileTaken> taken = {had(0, 0, 0), had(2, 0, 1), had(0, 1, 2), had(1, 1, 3)};
  CHECK(details(tiles(taken)) == Lines{"a tile that lies outside of C was computed: (2, 0) by CTA 1"});
  const Tiles rounded = tiles(taken, {.rows = 128, .columns = 128, .round_m = 4});
  CHECK(details(rounded) == Lines{"CTA 0 has had (0, 0)"});
}

TEST_CASE("a scheduler that steps too far has had some tiles, and says which", "[tiles]") {
  const Tiles all = tiles({had(0, 0, 0, 0), had(1, 0, 0, 1)});
  CHECK(all.lacking_text() == "no CTA has had tiles (0, 1), (1, 1)");
  CHECK(details(all) == Lines{"CTA 0 has had (0, 0), (1, 0)"});
}

TEST_CASE("splits of K have a tile each, groups their own ones, and swapped tiles count along columns", "[tiles]") {
  const Tiles split =
      tiles({had(0, 0, 0), had(0, 0, 1), had(0, 1, 2)}, {.rows = 128, .columns = 128, .times = 2}, 1, {{128, 256}});
  CHECK_FALSE(split.lacking({0, 0}));
  CHECK_FALSE(split.repeated({0, 0}));
  CHECK(split.lacking({0, 1}));
  CHECK(split.lacking_text() == "tile (0, 1) was had once for 2 splits of K");
  const Tiles groups =
      tiles({had(0, 0, 0), had(0, 0, 1), had(1, 0, 0)}, {.rows = 128, .columns = 128}, 1, {{130, 128}, {64, 128}});
  CHECK_FALSE(groups.lacking({0, 0}));
  CHECK_FALSE(groups.lacking({1, 0}));
  CHECK_FALSE(groups.repeated({0, 0}));
  const Tiles swapped = tiles({had(0, 0, 0)}, {.rows = 128, .columns = 64, .turned = true}, 1, {{64, 256}});
  CHECK(swapped.at(0, 200) == Tiles::Place{1, 0});
  CHECK(swapped.lacking({1, 0}));
  CHECK_FALSE(swapped.lacking({0, 0}));
}

TEST_CASE("two CTAs that compute one tile have not multiplied k twice", "[tiles][provenance]") {
  namespace fs = std::filesystem;
  const ScratchDirectory scratch;
  const fs::path from = fs::path(source_dir()) / "scenarios/ptx";
  std::string text = read_whole((from / "gemm.ptx").string());
  const std::string column = "mov.u32 %r3, %ctaid.x;";
  REQUIRE(text.find(column) != std::string::npos);
  text.replace(text.find(column), column.size(), "mov.u32 %r3, 0;       ");
  scratch.write("gemm.ptx", text);
  const auto launch = scratch.write("gemm.toml", read_whole((from / "gemm.toml").string()));
  const RunResult r = run_in_child(host::load_scenario(launch));
  CAPTURE(r.report);
  CHECK(r.outcome == Outcome::findings);  // GM4
  CHECK(r.report.find("a tile is computed and stored 2 times") != std::string::npos);
  CHECK(r.report.find("multiplied more than once") == std::string::npos);
}
