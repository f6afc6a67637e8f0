// SPDX-License-Identifier: Apache-2.0
// Time of wgmma against what was measured on an H200; what instructions do: tests/sim/ptx/test_wgmma.cpp.
#include "models/wgmma.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "models/fixture.h"
#include "paths.h"
#include "sim/accuracy/csv.h"

using namespace sm100;
using namespace sm100::models;

namespace {

struct WgmmaBench {
  DeviceProfile profile = host::load_profile("h200");
  Jitter jitter{std::nullopt, profile};
  RecordingObserver observer;
  SharedMemory smem;
  Sm sm{"sm", 0, false};
  Wgmma wgmma{0, sm, Accumulation::fast, smem, profile, jitter, observer};

  /// From wgmma.fence until wgmma.wait_group 0 has returned.
  double chain(const WgmmaForm& form, int length) const {
    return profile.wgmma.fence_cycles + wgmma.execution_latency(form) +
           (length - 1) * wgmma.initiation_interval(form) + profile.wgmma.wait_cycles;
  }
};

WgmmaForm form_of(const std::string& type, int n, const std::string& a) {
  const bool integers = type == "s8";
  const DataType of = type == "tf32"   ? DataType::tf32
                      : type == "e4m3" ? DataType::e4m3
                      : integers       ? DataType::s8
                                       : DataType::bf16;
  return {.n = n, .a = of, .b = of, .d = integers ? WgmmaD::s32 : WgmmaD::f32, .a_in_registers = a == "R"};
}

std::filesystem::path measured(const char* table) {
  const std::filesystem::path path = std::filesystem::path(measured_dir()) / "h200" / table;
  if (!std::filesystem::exists(path) && std::getenv("SM100_REQUIRE_MEASURED"))
    FAIL("measured data not found in " << path);
  return path;
}

}  // namespace

TEST_CASE("wgmma's laws give the intervals and latencies that an H200 has", "[wgmma]") {
  const WgmmaBench b;
  constexpr int kN[] = {8, 16, 32, 64, 96, 128, 192, 256};
  constexpr double kIntervals[] = {18, 20, 24, 32, 48, 64, 96, 128};
  constexpr double kOne[] = {59, 63, 71, 87, 103, 119, 151, 183},
                   kSixteen[] = {329, 363, 431, 567, 823, 1079, 1591, 2103};
  for (size_t i = 0; i < std::size(kN); ++i) {
    const WgmmaForm form = form_of("bf16", kN[i], "S");
    INFO(kN[i]);
    CHECK(b.wgmma.initiation_interval(form) == kIntervals[i]);
    CHECK(b.chain(form, 1) == kOne[i]);
    CHECK(std::abs(b.chain(form, 16) - kSixteen[i]) <= 3);
  }
  CHECK(b.wgmma.initiation_interval(form_of("bf16", 16, "R")) == 13);
  CHECK(b.wgmma.initiation_interval(form_of("bf16", 32, "R")) == 16);
}

TEST_CASE("every interval of wgmma measured on an H200 is reproduced", "[wgmma][measured]") {
  const std::filesystem::path path = measured("wgmma_throughput.csv");
  if (!std::filesystem::exists(path))
    SM100_SKIP("no measured data in '" << path << "': see docs/architecture.md section 8");
  const sim::CsvTable rows(path);
  const WgmmaBench b;
  double sum = 0, worst = 0;
  std::string where;
  int count = 0;
  for (size_t i = 0; i < rows.rows(); ++i) {
    if (rows.text(i, "type") != "bf16" && rows.text(i, "type") != "tf32" && rows.text(i, "type") != "e4m3" &&
        rows.text(i, "type") != "s8")
      continue;
    const double simulated = b.wgmma.initiation_interval(
                     form_of(rows.text(i, "type"), rows.integer(i, "N"), rows.text(i, "a_src"))),
                 error = std::abs(simulated / rows.number(i, "cycles_per_mma_sm") - 1);
    sum += error, ++count;
    if (error > worst)
      worst = error, where = rows.text(i, "type") + " N " + rows.text(i, "N") + " A " + rows.text(i, "a_src") +
                             ", warpgroups " + rows.text(i, "warpgroups");
  }
  REQUIRE(count > 300);
  CHECK(sum / count < 0.01);
  CHECK(worst < 0.10);
  WARN(count << " intervals: mean error " << 100 * sum / count << " %, largest " << 100 * worst << " % (" << where
             << ")");
}

TEST_CASE("every latency of one warpgroup's wgmma measured on an H200 is reproduced", "[wgmma][measured]") {
  const std::filesystem::path path = measured("wgmma_latency.csv");
  if (!std::filesystem::exists(path))
    SM100_SKIP("no measured data in '" << path << "': see docs/architecture.md section 8");
  const sim::CsvTable rows(path);
  const WgmmaBench b;
  for (const char* a : {"S", "R"}) {
    double sum = 0, worst = 0;
    std::string where;
    int count = 0;
    for (size_t i = 0; i < rows.rows(); ++i) {
      if (rows.text(i, "warpgroups") != "1" || rows.text(i, "a_src") != a) continue;
      const double simulated =
                       b.chain(form_of(rows.text(i, "type"), rows.integer(i, "N"), a), rows.integer(i, "chain")),
                   error = std::abs(simulated - rows.number(i, "done_min"));
      sum += error, ++count;
      if (error > worst)
        worst = error,
        where = rows.text(i, "type") + " N " + rows.text(i, "N") + ", chain " + rows.text(i, "chain");
    }
    REQUIRE(count > 50);
    if (*a == 'S') CHECK(worst <= 3);  // of registers, chains have 0 or about 36 cycles more, once
    WARN(count << " latencies, A in " << (*a == 'S' ? "shared memory" : "registers") << ": mean error "
               << sum / count << " cycles, largest " << worst << " (" << where << ")");
  }
}
