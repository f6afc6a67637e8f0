// SPDX-License-Identifier: Apache-2.0
#include "models/sm_clock.h"

#include <catch.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/host/scenario.h"
#include "paths.h"

using namespace sm100::models;

namespace {

/// A chip of round numbers: nothing but tensor pipes takes what depends on the work.
DeviceProfile chip() {
  DeviceProfile profile;
  auto& power = profile.power;
  power.full_ghz = 2, power.limit_watts = 500, power.idle_watts = 100, power.tensor_nj_per_cycle = 2;
  power.energy_exponent = 2, power.tensor_drop = 0.1, power.tensor_exponent = 1, power.first_drop = 0.2;
  power.error = 0.05;
  return profile;
}
Activity busy(double duty) { return {.cycles = 1e6, .sms = 100, .tensor_cycles = duty * 1e8}; }

}  // namespace

TEST_CASE("SM clock: a chip that does nothing runs at its full clock") {
  const ClockEstimate idle = sustained_clock(chip(), {});
  CHECK(idle.ghz == 2);
  CHECK(idle.watts.all() == 100);
}

TEST_CASE("SM clock: tensor pipes lower it, and above the limit the energy of an operation falls with it") {
  // Duty 1/2 drops it by 5 %: 1.9 GHz; 100 SMs x 0.95e9 cycles/s x 2 nJ = 190 W and 100 W at rest.
  const ClockEstimate half = sustained_clock(chip(), busy(0.5));
  CHECK(half.ghz == Approx(1.9));
  CHECK(half.nominal_ghz == 2);
  CHECK(half.watts.tensor == Approx(190));
  // Three times the energy of a full duty: 1.8 GHz would take 100 + 1080 W; 400 W are left, so (f/2)^3 = 400/1080.
  DeviceProfile hungry = chip();
  hungry.power.tensor_nj_per_cycle = 6;
  const ClockEstimate full = sustained_clock(hungry, busy(1));
  CHECK(full.nominal_ghz == Approx(2 * std::cbrt(400.0 / 1080)).epsilon(1e-4));
  CHECK(full.ghz == Approx(0.9 * full.nominal_ghz));
  CHECK(full.watts.all() == Approx(500).epsilon(1e-4));
  CHECK(full.low_ghz == Approx(0.95 * full.ghz));
  // One launch is over before the limit acts: 1.8 GHz, less 0.2 x 2 GHz for each limit beyond the first.
  const ClockEstimate single = single_clock(hungry, busy(1));
  CHECK(single.ghz == Approx(1.8 - 0.2 * 2 * (1180.0 / 500 - 1)));
}

TEST_CASE("SM clock: bytes take what they take whatever the clock, and losses grow with the square") {
  DeviceProfile profile = chip();
  profile.power.l2_pj_per_byte = 20, profile.power.store_pj_per_byte = 30, profile.power.dram_pj_per_byte = 50;
  profile.power.loss_per_kilowatt = 0.5;
  // 1e6 cycles are 0.5 ms: 2 GB out of L2 are 4 TB/s and 80 W, 1 GB each of stores and HBM 60 W and 100 W.
  const ClockEstimate moved = sustained_clock(
      profile, {.cycles = 1e6, .sms = 100, .l2_read_bytes = 2e9, .written_bytes = 1e9, .dram_bytes = 1e9});
  CHECK(moved.watts.l2 == Approx(80));
  CHECK(moved.watts.stores == Approx(60));
  CHECK(moved.watts.dram == Approx(100));
  CHECK(moved.watts.lost == Approx(0.5e-3 * 340 * 340));
}

TEST_CASE("SM clock: kernels of one kind of work on an H200 take the power, and get the clock, that the law says") {
  std::ifstream file(sm100::source_dir() + "/bench/hardware/power_h200.csv");
  REQUIRE(file);
  const DeviceProfile h200 = sm100::host::load_profile("h200");
  double clocks = 0, powers = 0;
  int rows = 0, below_limit = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.starts_with("work")) continue;
    CAPTURE(line);
    std::istringstream cells(line);
    std::vector<std::string> cell;
    for (std::string text; std::getline(cells, text, ',');) cell.push_back(text);
    REQUIRE(cell.size() == 9);
    const double sms = std::stod(cell[2]), ghz = std::stod(cell[3]), watts = std::stod(cell[4]),
                 stored = std::stod(cell[7]) * sms;
    const ClockEstimate said = sustained_clock(h200, {.cycles = ghz * 1e9,  // of a second
                                                      .sms = int(sms),
                                                      .tensor_cycles = std::stod(cell[5]) * sms,
                                                      .l2_read_bytes = std::stod(cell[6]) * sms,
                                                      .written_bytes = stored,
                                                      .dram_bytes = stored});
    CHECK(std::abs(said.ghz / ghz - 1) <= 0.05);
    clocks += std::pow(said.ghz / ghz - 1, 2);
    ++rows;
    // A warp that spins takes more than one that waits, which the law leaves out; at the limit all take the same.
    if (cell[8] == "1" || watts > 680) continue;
    CHECK(std::abs(said.watts.all() / watts - 1) <= 0.07);
    powers += std::pow(said.watts.all() / watts - 1, 2);
    ++below_limit;
  }
  CHECK(rows >= 50);
  CHECK(below_limit >= 25);
  CHECK(std::sqrt(clocks / rows) <= 0.02);
  CHECK(std::sqrt(powers / below_limit) <= 0.03);
}
