// SPDX-License-Identifier: Apache-2.0
#include "kernels/hold/host/hold_run.h"

#include <cmath>

#include "catch.h"
#include "scratch_directory.h"

using namespace sm100;
using namespace sm100::host;

namespace {

Scenario hold(const std::string& problem, const std::string& config = "") {
  ScratchDirectory scratch;
  return load_scenario(
      scratch.write("s.toml", "kernel = 'hold'\nprofile = 'b200'\n[problem]\n" + problem + "[config]\n" + config));
}

}  // namespace

TEST_CASE("hold: a CTA for every SM that takes all the shared memory, unless told otherwise", "[hold]") {
  const Scenario s = hold("microseconds = 10\n");
  CHECK(make_run(s)->launch().grid == Dim3{148, 1, 1});
  CHECK(make_run(s)->launch().smem_bytes == uint32_t(s.device.device.smem_bytes_per_cta_max));
  const Scenario small = hold("ctas = 3\nmicroseconds = 10\n", "smem_bytes = 1024\n");
  CHECK(make_run(small)->launch().grid == Dim3{3, 1, 1});
  CHECK(make_run(small)->launch().smem_bytes == 1024);
}

TEST_CASE("hold: its steps take the time that is asked for, to half a block", "[hold]") {
  const Scenario s = hold("ctas = 1\nmicroseconds = 10\n");
  const double cycles =
      double(s.problem_as<HoldProblem>().blocks) * kHoldBlockSteps * kHoldStepInstructions * s.device.issue.alu;
  CHECK(std::abs(cycles - 10e3 * s.device.device.sm_clock_ghz) <= kHoldBlockSteps * kHoldStepInstructions);
}

TEST_CASE("hold: what each thread has computed is compared", "[hold]") {
  const auto run = make_run(hold("ctas = 2\nmicroseconds = 0.5\n"));
  const int steps = int(hold("ctas = 2\nmicroseconds = 0.5\n").problem_as<HoldProblem>().blocks) * kHoldBlockSteps;
  std::vector<uint32_t> words(64);
  for (uint32_t i = 0; i < 64; ++i) {
    words[i] = i + 1;
    for (int step = 0; step < steps; ++step) words[i] = xorshift(words[i]);
  }
  const auto check = [&] { return run->check({reinterpret_cast<const uint8_t*>(words.data())}); };
  CHECK(check().ok);
  words[63] ^= 1;
  CHECK_FALSE(check().ok);
}
