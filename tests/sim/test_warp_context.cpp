// SPDX-License-Identifier: Apache-2.0
// Instructions as values: what is no role code drives the model, with lanes by mask and lines of its own.
#include <string_view>

#include "catch.h"
#include "sim/clusters.h"
#include "sim/warp_context.h"

namespace sm100::sim {
namespace {

using namespace instructions;

constexpr Loc::Place kInit{.file = "gemm.ptx", .line = 12, .column = 3, .function = "gemm"};
constexpr Loc::Place kMeeting{.file = "gemm.ptx", .line = 40, .column = 3, .function = "gemm"};

/// One warp of one CTA.
void run_alone(const std::function<void(WarpContext&)>& program, Clusters& c,
               const std::vector<host::FaultSpec>& faults = {}) {
  std::vector<uint64_t> altered(faults.size());
  c.kernel.run_warp = [&](Warp& warp) {
    FaultInterceptor interceptor(faults, altered);
    WarpContext context(warp, c.profile, faults.empty() ? nullptr : &interceptor);
    program(context);
  };
  c.run();
}

}  // namespace

TEST_CASE("WarpContext: an arrival counts once for each lane of the mask", "[warp_context]") {
  Clusters c(1, 1);
  int64_t phase = -1;
  bool passed = false;
  run_alone(
      [&](WarpContext& context) {
        const Loc loc(kInit);
        context.execute(MbarrierInit{{kBar}, 4}, 1, loc);
        context.execute(MbarrierArrive{{kBar}, Scope::cta}, 0b1010, loc);
        passed = context.execute(MbarrierTestWaitParity{{kBar}, 0, Scope::cta}, kAllLanes, loc);
        context.execute(MbarrierArrive{{kBar}, Scope::cta}, 0b11, loc);
        phase = context.own.mbarrier.find(kBar)->phase;
      },
      c);
  CHECK_FALSE(passed);
  CHECK(phase == 1);
  CHECK(c.violation() == "");
}

TEST_CASE("WarpContext: elect.sync returns the lowest lane", "[warp_context]") {
  Clusters c(1, 1);
  uint32_t elected = 0;
  run_alone([&](WarpContext& context) { elected = context.execute(ElectSync{}, kAllLanes, Loc(kInit)); }, c);
  CHECK(elected == 1);
}

TEST_CASE("WarpContext: lanes that must be together are checked, and the finding names the line given",
          "[warp_context]") {
  Clusters c(1, 1);
  run_alone([](WarpContext& context) { context.execute(BarSync{1, 32}, 0xffff, Loc(kMeeting)); }, c);
  REQUIRE(c.violation() == "TC2");
  CHECK(c.finding().message == "bar.sync with 16 of 32 lanes: all lanes must execute it together");
  CHECK(std::string_view(c.finding().source.loc.file_name()) == "gemm.ptx");
  CHECK(c.finding().source.loc.line() == 40);
}

TEST_CASE("WarpContext: faults alter what another front end executes", "[warp_context][fault]") {
  Clusters c(1, 1);
  int64_t phase = -1;
  run_alone(
      [&](WarpContext& context) {
        const Loc loc(kInit);
        context.execute(MbarrierInit{{kBar}, 32}, 1, loc);
        context.execute(MbarrierArrive{{kBar}, Scope::cta}, 1, loc);
        phase = context.own.mbarrier.find(kBar)->phase;
      },
      c, {{.instruction = "mbarrier_arrive", .action = host::FaultAction::all_lanes}});
  CHECK(phase == 1);
}

}  // namespace sm100::sim
