// SPDX-License-Identifier: Apache-2.0
// What a recorder's trace points cost beside other warps of the SM, against an H100
// (bench/hardware/sharing_costs.cu): cycles for a begin and an end of each of many warps.
#include <cstdlib>
#include <stdexcept>

#include "catch.h"
#include "sim/role_code.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// The cycle at which the last of some warps of an SM has recorded so many pairs.
double end_of(int pairs, int warps_per_cta, int ctas_per_sm) {
  const std::string text =
      diagnosis({.program =
                     [=](RoleIsa& isa) {
                       isa.charge_recorder(0);
                       for (int i = 0; i < pairs; ++i) {
                         isa.trace_begin(TraceEvent::wait, {});
                         isa.trace_end();
                       }
                     },
                 .warps = warps_per_cta,
                 .clusters = uint32_t(ctas_per_sm),
                 .ctas_per_sm = ctas_per_sm,
                 .profile = "h200",
                 .after = [](Device&) { throw std::runtime_error(std::to_string(models::now())); }});
  CAPTURE(text);
  REQUIRE(text.rfind("error: ", 0) == 0);
  return std::strtod(text.c_str() + 7, nullptr);
}

/// Cycles of a pair, without the launch.
double cycles_of_pair(int warps_per_cta, int ctas_per_sm) {
  return (end_of(128, warps_per_cta, ctas_per_sm) - end_of(64, warps_per_cta, ctas_per_sm)) / 64;
}

}  // namespace

TEST_CASE("recorder: a warp alone pays for its own trace points, many wait for each other's stores") {
  // One warp: issue.control, trace.begin and trace.end.
  CHECK(cycles_of_pair(1, 1) == Approx(15 + 80 + 42).epsilon(0.01));
  // Three stores of each warp, one behind the other: an H100 takes 254 and 494.
  CHECK(cycles_of_pair(16, 1) == Approx(254).epsilon(0.03));
  CHECK(cycles_of_pair(16, 2) == Approx(494).epsilon(0.03));
}

TEST_CASE("recorder: two CTAs of an SM share what its stores pass") {
  CHECK(cycles_of_pair(8, 2) == Approx(cycles_of_pair(16, 1)).epsilon(0.03));
}
