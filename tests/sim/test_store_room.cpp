// SPDX-License-Identifier: Apache-2.0
// How many stores of a warp find room on the way out of an SM before the warp waits, against an H200
// (bench/hardware/store_costs.cu): cycles until the warp has made so many stores.
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "catch.h"
#include "sim/role_code.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// One warp, which stores four bytes of each lane into 32 lines, so many times.
double until_made(int times) {
  const auto made = std::make_shared<uint64_t>(0);
  const auto memory = std::make_shared<GlobalAddr>();
  const std::string text =
      diagnosis({.program =
                     [=](RoleIsa& isa) {
                       const auto lanes = isa.mad_wide_u32(isa.laneid(), 512, *memory);
                       LaneArray<uint32_t, 1> value{};
                       LaneArray<bool, 1> all{};
                       isa.for_each_lane_address(1, [&](int lane) { all[lane][0] = true; });
                       for (int i = 0; i < times; ++i) isa.st_global_b32(lanes, value, all);
                       isa.bar_sync(0, 32);  // ends when what the warp has been charged for has passed
                       isa.elected([&] { *made = models::now(); });
                     },
                 .warps = 1,
                 .checked = false,
                 .profile = "h200",
                 .before = [=](Device& device) { *memory = device.gpu.memory().allocate("to", 64 << 10, false); },
                 .after = [=](Device&) { throw std::runtime_error(std::to_string(*made)); }});
  CAPTURE(text);
  REQUIRE(text.rfind("error: ", 0) == 0);
  return std::strtod(text.c_str() + 7, nullptr);
}

}  // namespace

TEST_CASE("Some stores find room on the way out of an SM, a warp with more of them waits, as on an H200") {
  // An H200's warp takes 223 cycles for 16, 683 for 32 and 2,731 for 64.  While there is room the model's warp is
  // faster (issue.st_shared is 4 cycles, its loop takes 10), so what is held begins at 16.
  const double of_16 = until_made(16), of_32 = until_made(32), of_64 = until_made(64);
  CHECK(of_32 - of_16 == Approx(683 - 223).epsilon(0.03));
  CHECK(of_64 - of_32 == Approx(2731 - 683).epsilon(0.001));
}
