// SPDX-License-Identifier: Apache-2.0
// What warps get of an SM beside a warpgroup whose wgmma read their operands in shared memory first, against an
// H200: loads and stores of whole warps (measured/h200/wgmma_contention.csv), trace points
// (bench/hardware/recorder_costs.cu).
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "catch.h"
#include "sim/role_code.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr uint32_t kA = 0x800, kB = 0x1000, kData = 0x8000;

template <int N>
void multiply(RoleIsa& isa, int times) {
  constexpr WgmmaForm form{.n = N};
  LaneArray<float, wgmma_d_registers(form)> d;
  const SmemDescriptor a = make_wgmma_descriptor({kA}, 64 * 16, 8 * 16, Swizzle::none),
                       b = make_wgmma_descriptor({kB}, N * 16, 8 * 16, Swizzle::none);
  for (int i = 0; i < times; ++i) {
    isa.wgmma_fence(d);
    for (int j = 0; j < 4; ++j) isa.wgmma_mma_async<form>(d, a, b, false);
    isa.wgmma_commit_group();
    isa.wgmma_wait_group<1>();
  }
  isa.wgmma_wait_group<0>(d);
}

/// The cycle at which the last of the warps behind the first warpgroup, which multiplies for 40,000 cycles, has run
/// `beside` so many times.
double end_of(int n, int warps, int times, const std::function<void(RoleIsa&)>& beside) {
  static double end;
  end = 0;
  const std::string text = diagnosis({.program =
                                          [=](RoleIsa& isa) {
                                            const int turns = 40000 / (4 * std::max(32, n / 2));
                                            if (isa.warpid() < 4) {
                                              if (n == 64) multiply<64>(isa, turns);
                                              if (n == 128) multiply<128>(isa, turns);
                                              if (n == 256) multiply<256>(isa, turns);
                                              return;
                                            }
                                            for (int i = 0; i < times; ++i) beside(isa);
                                            isa.bar_sync(1, 32 * uint32_t(warps));
                                            end = std::max(end, double(models::now()));
                                          },
                                      .warps = 4 + warps,
                                      .checked = false,
                                      .profile = "h200",
                                      .after = [](Device&) { throw std::runtime_error(std::to_string(end)); }});
  CAPTURE(text);
  REQUIRE(text.rfind("error: ", 0) == 0);
  return std::strtod(text.c_str() + 7, nullptr);
}
double cycles_of(int n, int warps, const std::function<void(RoleIsa&)>& beside) {
  return (end_of(n, warps, 48, beside) - end_of(n, warps, 16, beside)) / 32;
}

/// Bytes that four warps store or load in a cycle.
double bytes_beside(int n, bool stores) {
  return 4 * 512 / cycles_of(n, 4, [stores](RoleIsa& isa) {
           LaneArray<SmemAddr, 1> at{};
           isa.for_each_lane(
               0, [&](int lane) { at[lane][0] = {kData + 16u * uint32_t(isa.warpid() * kWarpLanes + lane)}; });
           if (stores)
             isa.st_shared_v4(at, LaneArray<uint32_t, 4>{});
           else
             isa.ld_shared_v4(at);
         });
}

double cycles_of_pair(int n, int warps) {
  return cycles_of(n, warps, [](RoleIsa& isa) {
    isa.charge_recorder(0);
    isa.trace_begin(TraceEvent::mma_commit, {});
    isa.trace_end();
  });
}

}  // namespace

TEST_CASE("wgmma: warps get what its operands leave of the port of shared memory", "[wgmma]") {
  CHECK(bytes_beside(128, true) == Approx(28.1).epsilon(0.15));  // 128 of 512 cycles
  CHECK(bytes_beside(256, true) == Approx(47.4).epsilon(0.05));  // 192 of 512
  CHECK(bytes_beside(128, false) == Approx(30.7).epsilon(0.06));
  // Nothing is left: wgmma.least_left, one constant for both, is 3.84.
  CHECK(bytes_beside(64, true) == Approx(4.2).epsilon(0.1));
  CHECK(bytes_beside(64, false) == Approx(3.0).epsilon(0.3));
  CHECK(bytes_beside(0, true) > 100);
}

TEST_CASE("wgmma: a trace point costs more beside it", "[wgmma]") {
  CHECK(cycles_of_pair(0, 1) == Approx(131).epsilon(0.06));
  CHECK(cycles_of_pair(128, 1) == Approx(190).epsilon(0.06));
  CHECK(cycles_of_pair(256, 1) == Approx(189).epsilon(0.06));
  CHECK(cycles_of_pair(128, 8) == Approx(267).epsilon(0.1));
  CHECK(cycles_of_pair(64, 8) == Approx(578).epsilon(0.06));
}
