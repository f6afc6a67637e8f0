// SPDX-License-Identifier: Apache-2.0
// What config = "auto" picks.  Expected values are worked by hand from the rules of docs/choose.md.

#include "kernels/matmul/host/choose_config.h"

#include <random>

#include "catch.h"
#include "kernels/host/toml_reader.h"
#include "matmul_of.h"
#include "scratch_directory.h"

namespace sm100::host {
namespace {

ConfigChoice choose(int m, int n, int k, bool swap = false, int sms = 148) {
  ConfigChoice choice = choose_config({.m = m, .n = n, .k = k, .sms = sms}, swap);
  REQUIRE(choice.broken.empty());
  return choice;
}

const ConfigCandidate& chosen(const ConfigChoice& choice) { return choice.candidates.at(choice.chosen); }

const std::string& reason(const ConfigChoice& choice, const std::string& key) {
  for (const ConfigDecision& decision : choice.decisions)
    if (decision.key == key) return decision.reason;
  throw std::out_of_range(key);
}

struct Expected {
  const char* why;
  int m, n, k;
  int64_t tiles, waves;
  MatmulConfig config;
};

MatmulConfig config(int cta_group, int mma_m, int mma_n, int g, int swizzle, int clc, int accum, int stages) {
  MatmulConfig c;
  c.cta_group = c.cluster_m = cta_group;
  c.mma_m = mma_m, c.mma_n = mma_n;
  c.k_group_size = g, c.block_swizzle = swizzle, c.clc_stages = clc, c.accum_stages = accum, c.stages = stages;
  return c;
}

const Expected kExpected[] = {
    {"32 x 32 tiles need 14 waves of 74; any smaller tile needs more than 14 * 74 = 1036 tiles", 8192, 8192, 8192,
     1024, 14, config(2, 256, 256, 1, 8, 2, 2, 6)},
    {"smallest tile of all, 4 x 16 = 64 of 74", 512, 512, 512, 64, 1, config(2, 128, 32, 2, 0, 0, 1, 20)},
    {"2 waves: 16 * ceil(1536 / n) <= 148 from n = 171 on", 4096, 1536, 4096, 144, 2,
     config(2, 256, 176, 1, 0, 2, 2, 8)},
    {"the tile of the hand-tuned table", 8192, 1536, 4096, 192, 3, config(2, 256, 256, 1, 0, 2, 2, 6)},
    {"tall: one column of tiles, so that every swizzle reads the same", 65536, 64, 1024, 256, 4,
     config(2, 256, 64, 1, 1, 2, 2, 10)},
    {"flat: ceil(16384 / n) <= 74 from n = 222 on", 128, 16384, 7168, 74, 1, config(2, 128, 224, 1, 0, 0, 1, 9)},
    {"tiny M: 64 tiles of 64 x 8, 16 k tiles in groups of 4", 4, 512, 1024, 64, 1,
     config(1, 64, 8, 4, 0, 0, 1, 24)},
    {"M of 1: ceil(4096 / n) <= 148 from n = 28 on", 1, 4096, 7168, 128, 1, config(1, 64, 32, 2, 0, 0, 1, 18)},
    {"a pair whose block has 64 * 16 elements: groups of 4", 1000, 16, 1024, 8, 1,
     config(2, 128, 16, 4, 0, 0, 1, 24)},
    {"6 k tiles: groups of 2", 1000, 16, 384, 8, 1, config(2, 128, 16, 2, 0, 0, 1, 24)},
    {"5 k tiles: no groups", 1000, 16, 320, 8, 1, config(2, 128, 16, 1, 0, 0, 1, 24)},
};

}  // namespace

TEST_CASE("choose config: values worked by hand") {
  for (const Expected& e : kExpected) {
    const ConfigChoice choice = choose(e.m, e.n, e.k);
    INFO(e.m << " x " << e.n << " x " << e.k << ": " << e.why << "\n" << config_toml(choice));
    CHECK(choice.config == e.config);
    CHECK(chosen(choice).tiles == e.tiles);
    CHECK(chosen(choice).waves == e.waves);
    CHECK_FALSE(choice.config.ab_swapped);
    CHECK(check_config(choice.config, e.m, e.n, e.k).empty());
  }
}

TEST_CASE("choose config: the swizzle reads the fewest rows in the first wave") {
  // 74 pairs of 256 x 256 tiles walk down 32 rows.  Width 1: all rows, 3 columns.  2: all rows, 4 columns (the
  // second strip upwards).  4: 8 + 8 rows and ceil(10 / 4) = 3 more, 4 columns.  8: 4 + 4 + 2 rows, 8 columns.
  const int64_t rows[] = {32 * 256 + 3 * 256, 32 * 256 + 4 * 256, 19 * 256 + 4 * 256, 10 * 256 + 8 * 256};
  CHECK(reason(choose(8192, 8192, 8192), "block_swizzle") ==
        "rows of A and B that a wave reads: " + std::to_string(rows[0]) + " with 1, " + std::to_string(rows[1]) +
            " with 2, " + std::to_string(rows[2]) + " with 4, " + std::to_string(rows[3]) + " with 8");
}

TEST_CASE("choose config: below M = 32 a CTA works alone, and where there is one SM") {
  CHECK(choose(31, 512, 512).config.cta_group == 1);
  CHECK(choose(32, 512, 512).config.cta_group == 2);
  const ConfigChoice one = choose(256, 256, 256, false, 1);
  CHECK(one.config == config(1, 128, 256, 1, 0, 2, 2, 4));  // 2 waves of 1; 64 x 256 has 4
  CHECK(reason(one, "cta_group") == "1 SM has no pairs");
}

TEST_CASE("choose config: with swapped operands M becomes the N of the MMA") {
  // 4096 rows of B in tiles of 64, 16 rows of A in tiles of 8: 128 tiles of 148.
  const ConfigChoice small = choose(16, 4096, 7168, true);
  CHECK(small.config.ab_swapped);
  CHECK(chosen(small).tiles == 128);
  MatmulConfig swapped = config(1, 64, 8, 4, 0, 0, 1, 24);
  swapped.ab_swapped = true;
  CHECK(small.config == swapped);
  CHECK(config_toml(small).find("config = { ab_swapped = true, cta_group = 1, mma = [64, 8, 16]") == 0);

  // As given 64 tiles of 64 x 64 fill one wave, swapped 32 x 2 tiles of 64 x 32 do too and are smaller.
  const ConfigChoice large = choose(48, 4096, 4096, true);
  CHECK(large.config.ab_swapped);
  CHECK(large.config.mma_m == 128);
  CHECK(large.config.mma_n == 32);
  CHECK(chosen(large).tiles == 64);
  CHECK(choose(48, 4096, 4096).config.mma_n == 64);

  // Equals stay as given.
  CHECK_FALSE(choose(512, 512, 512, true).config.ab_swapped);
}

TEST_CASE("choose config: a pick that breaks a rule is passed over with the rule") {
  // 75 tiles of 128 x 8 are one wave, but M = 128 needs N in steps of 16; of 64 x 8 there are 149.
  const ConfigChoice choice = choose(8, 9536, 512, true);
  REQUIRE(choice.chosen == 1);
  CHECK(choice.candidates[0].mma_m == 128);
  CHECK(choice.candidates[0].mma_n == 8);
  CHECK(choice.candidates[0].waves == 1);
  CHECK(choice.candidates[0].broken ==
        "config.mma = [128, 8, 16]: allowed are N = multiples of 16 from 16 to 256 (shapes of this kernel family "
        "with "
        "M = 128)");
  CHECK(choice.config.mma_m == 64);
  CHECK(chosen(choice).waves == 2);
  CHECK(reason(choice, "mma").find("fewest that the kernel can run") != std::string::npos);
}

TEST_CASE("choose config: shapes that no configuration fits") {
  const auto broken = [](int m, int n, int k) {
    const ConfigChoice choice = choose_config({.m = m, .n = n, .k = k, .sms = 148});
    CHECK(choice.candidates.empty());
    return choice.broken.empty() ? "" : choice.broken.front().key;
  };
  CHECK(broken(128, 100, 64) == "problem.n");
  CHECK(broken(128, 128, 12) == "problem.k");
  CHECK(broken(0, 128, 64) == "problem.m");
  CHECK(broken(128, 1 << 30, 64) == "problem.n");  // the grid has 65535 columns
  CHECK_THROWS_AS(choose_config({.m = 128, .n = 128, .k = 64, .sms = 0}), std::invalid_argument);
}

TEST_CASE("choose config: every pick is legal, counts the tiles of its grid and needs the fewest waves") {
  std::mt19937 random(4);
  const auto up_to = [&](int most) { return int(random() % uint32_t(most)) + 1; };
  const int sms[] = {1, 2, 3, 7, 20, 132, 148, 160};
  for (int i = 0; i < 600; ++i) {
    const int wide = i % 3 == 0 ? 30000 : i % 3 == 1 ? 2000 : 64;
    const ConfigRequest request{.m = i % 4 == 0 ? up_to(40) : up_to(wide),
                                .n = 8 * up_to(i % 5 == 0 ? 8 : wide / 8),
                                .k = 8 * up_to(i % 7 == 0 ? 2000 : 200),
                                .output = i % 6 == 0 ? DataType::f32 : DataType::bf16,
                                .sms = sms[random() % std::size(sms)]};
    const ConfigChoice choice = choose_config(request);
    INFO(request.m << " x " << request.n << " x " << request.k << " on " << request.sms << " SMs, "
                   << name(request.output));
    REQUIRE(choice.broken.empty());
    const MatmulConfig& c = choice.config;
    INFO(config_toml(choice));
    REQUIRE(check_config(c, request.m, request.n, request.k).empty());
    const ConfigCandidate& pick = chosen(choice);
    const int rows = c.ab_swapped ? request.n : request.m, columns = c.ab_swapped ? request.m : request.n;
    CHECK(pick.tiles * cluster_size(c) == int64_t(grid_m(c, rows)) * grid_n(c, columns));
    CHECK((pick.waves - 1) * (request.sms / c.cta_group) < pick.tiles);
    CHECK(pick.waves * (request.sms / c.cta_group) >= pick.tiles);
    for (const ConfigCandidate& other : choice.candidates)
      if (other.broken.empty())
        CHECK((other.waves > pick.waves || (other.waves == pick.waves && other.block_size >= pick.block_size)));
    for (const ConfigDecision& decision : choice.decisions) CHECK_FALSE(decision.reason.empty());
    CHECK_NOTHROW(choose_config(request, false));
  }
}

TEST_CASE(
    "config = \"auto\" in a scenario is the choice for the SMs of the run, and its TOML line loads as the same") {
  ScratchDirectory scratch;
  const std::string problem = "\n[problem]\nm = 1000\nn = 1024\nk = 512\n";
  const std::string head = "kernel = 'matmul'\nprofile = 'b200'\n";
  const auto file = scratch.write("auto.toml", head + "config = \"auto\"" + problem);
  const Scenario all = load_scenario(file);
  CHECK(matmul_of(all).auto_config);
  CHECK(matmul_of(all).config == choose(1000, 1024, 512, true).config);
  const Scenario few = load_scenario(file, {"run.sms=10"});
  const ConfigChoice choice = choose(1000, 1024, 512, true, 10);
  CHECK(matmul_of(few).config == choice.config);
  CHECK_FALSE(matmul_of(few).config == matmul_of(all).config);

  const Scenario pasted = load_scenario(scratch.write("pasted.toml", head + config_toml(choice) + problem));
  CHECK_FALSE(matmul_of(pasted).auto_config);
  CHECK(matmul_of(pasted).config == choice.config);
  CHECK(matmul_of(load_scenario(scratch / "pasted.toml", {"config=auto", "run.sms=10"})).config == choice.config);
}

TEST_CASE("config is the word auto or a table, and says so") {
  ScratchDirectory scratch;
  const auto complaint = [&](const std::string& config, const std::vector<std::string>& overrides = {}) {
    const auto file = scratch.write(
        "s.toml", "kernel = 'matmul'\nprofile = 'b200'\n" + config + "\n[problem]\nm = 64\nn = 64\nk = 64\n");
    try {
      load_scenario(file, overrides);
      return std::string();
    } catch (const InputError& error) {
      return std::string(error.what()).substr(file.parent_path().string().size() + 1);
    }
  };
  CHECK(complaint("config = 'auto'").empty());
  const std::string allowed = ": allowed are \"auto\" and a table, [config]";
  CHECK(complaint("config = 'atuo'") == "s.toml:3: key 'config' = \"atuo\"" + allowed);
  CHECK(complaint("config = 3") == "s.toml:3: key 'config' = 3" + allowed);
  CHECK(complaint("config = ['auto']") == "s.toml:3: key 'config' = [\"auto\"]" + allowed);
  CHECK(complaint("config = 'auto'\n[config]\nstages = 3").find("s.toml:4: not valid TOML") == 0);
  ScratchDirectory other;
  const auto copy = other.write("copy.toml",
                                "kernel = 'pipeline_copy'\nprofile = 'h200'\nconfig = 'auto'\n"
                                "[problem]\nm = 64\nn = 64\n");
  CHECK_THROWS_WITH(load_scenario(copy),
                    Catch::EndsWith("copy.toml:3: key 'config' = \"auto\": must be a table, [config]"));
}

}  // namespace sm100::host
