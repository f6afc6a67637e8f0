// SPDX-License-Identifier: Apache-2.0
// An SM's loads by the copy engine and its warps' stores take turns on their way to L2, as on an H200
// (bench/hardware/port_costs.cu).
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "catch.h"
#include "models/store_path.h"
#include "sim/role_code.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr int kDepth = 7, kBoxes = 120, kFirst = 40, kWarps = 4;
constexpr uint32_t kBoxBytes = 8192;  // 64 requests

struct Pattern {
  uint32_t lane_bytes;  ///< 4 or 16
  uint32_t pitch, step;
};

void load(RoleIsa& isa, GlobalAddr from, uint64_t& begin, uint64_t& end) {
  const SmemAddr smem = isa.dynamic_smem(), barriers = smem + kDepth * kBoxBytes;
  const auto issue = [&](int box) {
    const SmemAddr full = barriers + 8 * uint32_t(box % kDepth);
    isa.elected([&] {
      isa.mbarrier_arrive_expect_tx(full, kBoxBytes, Scope::cta);
      isa.cp_async_bulk_shared_global(smem + uint32_t(box % kDepth) * kBoxBytes,
                                      from + uint64_t(box) % 32 * kBoxBytes, kBoxBytes, full);
    });
  };
  for (int box = 0; box < kDepth; ++box) issue(box);
  for (int box = 0; box < kBoxes; ++box) {
    const SmemAddr full = barriers + 8 * uint32_t(box % kDepth);
    while (!isa.mbarrier_try_wait_parity(full, uint32_t(box / kDepth) & 1, Scope::cta)) {}
    if (box == kFirst) begin = models::now();
    if (box + 1 == kBoxes) end = models::now();
    if (box + kDepth < kBoxes) issue(box + kDepth);
  }
}

/// Cycles of a box of 64 rows of 128 bytes while four warps store.
double cycles_of_a_box(const Pattern& p) {
  const auto from = std::make_shared<GlobalAddr>(), to = std::make_shared<GlobalAddr>();
  const auto begin = std::make_shared<uint64_t>(0), end = std::make_shared<uint64_t>(0);
  const std::string text =
      diagnosis({.program =
                     [=](RoleIsa& isa) {
                       const int warp = isa.warpid();
                       if (warp == 0) {
                         isa.elected([&] {
                           for (int i = 0; i < kDepth; ++i)
                             isa.mbarrier_init(isa.dynamic_smem() + kDepth * kBoxBytes + 8 * uint32_t(i), 1);
                         });
                         isa.fence_mbarrier_init();
                       }
                       isa.bar_sync(0, 32 * (kWarps + 1));
                       if (warp == 0) return load(isa, *from, *begin, *end);
                       const LaneArray<uint32_t, 4> values{};
                       for (int i = 0; *end == 0; ++i) {
                         const auto lanes =
                             isa.mad_wide_u32(isa.laneid(), p.pitch,
                                              *to + uint64_t(warp - 1) * 65536 + uint64_t(i) * p.step % 16384);
                         if (p.lane_bytes == 16) {
                           isa.st_global_v4(lanes, values);
                         } else {
                           LaneArray<bool, 1> all{};
                           isa.for_each_lane_address(1, [&](int lane) { all[lane][0] = true; });
                           isa.st_global_b32(lanes, LaneArray<uint32_t, 1>{}, all);
                         }
                       }
                     },
                 .warps = kWarps + 1,
                 .checked = false,
                 .profile = "h200",
                 .before =
                     [=](Device& device) {
                       *from = device.gpu.memory().allocate("from", 32 * kBoxBytes, false);
                       *to = device.gpu.memory().allocate("to", 4 * 65536, false);
                     },
                 .after = [=](Device&) { throw std::runtime_error(std::to_string(*end - *begin)); }});
  CAPTURE(text);
  REQUIRE(text.rfind("error: ", 0) == 0);
  return std::strtod(text.c_str() + 7, nullptr) / (kBoxes - 1 - kFirst);
}

}  // namespace

TEST_CASE("Loads and warps' stores take turns on their way out of an SM, as on an H200") {
  // Half of port_costs' boxes of 128 rows.
  CHECK(cycles_of_a_box({.lane_bytes = 4, .pitch = 512, .step = 4}) == Approx(386.1 / 2).epsilon(0.03));
  CHECK(cycles_of_a_box({.lane_bytes = 16, .pitch = 512, .step = 16}) == Approx(386.0 / 2).epsilon(0.03));
  CHECK(cycles_of_a_box({.lane_bytes = 16, .pitch = 16, .step = 512}) == Approx(641.4 / 2).epsilon(0.03));
}

TEST_CASE("A load's requests wait for a line each of the stores on the way, which let them pass") {
  models::StorePath path;
  CHECK(path.ask(100, 120, 8, 1) == 128);
  CHECK(path.has_room(100, 2) == 100);
  CHECK(path.pass(100, {.count = 32, .cycles = 64}, 0) == 164);
  CHECK(path.pass(100, {.count = 32, .cycles = 128}, 0) == 292);
  CHECK(path.has_room(100, 2) == 164);
  // 48 requests, each behind a line of 3 cycles in the mean: the first store's 32 lines let 32 pass, both 48.
  CHECK(path.ask(100, 120, 48, 1) == 120 + 48 + 48 * 3);
  CHECK(path.has_room(100, 2) == 164 + 32);
  CHECK(path.pass(200, {.count = 1, .cycles = 2}, 0) == 292 + 48 + 2);
}
