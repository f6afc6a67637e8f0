// SPDX-License-Identifier: Apache-2.0
// wgmma of role code: values, that faults reach its instructions, hazards, a device without it.  What the unit does
// with an instruction: tests/sim/ptx/test_wgmma.cpp.
#include "catch.h"
#include "sim/role_code.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr uint32_t kA = 0x800, kB = 0x1000;
constexpr WgmmaForm kForm{.n = 64};  // bf16, one step of 16 along K
constexpr int kK = wgmma_k(kForm);
using Sums = LaneArray<float, wgmma_d_registers(kForm)>;

float value_of_a(int row, int k) { return float((row + 3 * k) % 7 - 3); }
float value_of_b(int column, int k) { return float((5 * column + k) % 9 - 4); }

/// 64 rows of 16 elements without swizzle, K-major: thread t writes the 16 bytes of row t % 64, half t / 64.
template <class Value>
void write_tile(SimIsa& isa, uint32_t tile, Value value) {
  LaneArray<SmemAddr, 1> rows{};
  LaneArray<uint32_t, 4> words{};
  isa.for_each_lane(1, [&](int lane) {
    const int thread = isa.warpid() * kWarpLanes + lane;
    rows[lane][0] = {tile + 16u * uint32_t(thread)};
    for (int i = 0; i < 4; ++i) {
      const int row = thread % 64, k = thread / 64 * 8 + 2 * i;
      words[lane][i] = SimIsa::cvt_rn_bf16x2_f32(value(row, k + 1), value(row, k));
    }
  });
  isa.st_shared_v4(rows, words);
}
SmemDescriptor descriptor(uint32_t tile) { return make_wgmma_descriptor({tile}, 64 * 16, 8 * 16, Swizzle::none); }

/// The four warps write the operands.
void write_operands(SimIsa& isa) {
  write_tile(isa, kA, value_of_a);
  write_tile(isa, kB, value_of_b);
  isa.fence_proxy_async_shared_cta();
  isa.bar_sync(1, 128);
}
bool holds_products(SimIsa& isa, const Sums& d, float times) {
  bool right = true;
  isa.for_each_lane(1, [&](int lane) {
    for (int r = 0; r < wgmma_d_registers(kForm); ++r) {
      const WgmmaCell at = wgmma_d_cell(isa.warpid(), lane, r);
      float sum = 0;
      for (int k = 0; k < kK; ++k) sum += value_of_a(at.row, k) * value_of_b(at.column, k);
      right &= d[lane][r] == times * sum;
    }
  });
  return right;
}

/// A B, then A B again on top; `right` says whether the accumulators must hold that.
RoleCode twice(bool right = true, std::vector<host::FaultSpec> faults = {}) {
  return {.program =
              [right](RoleIsa& isa) {
                write_operands(isa);
                Sums d;
                isa.for_each_lane(1, [&](int lane) {
                  for (float& sum : d[lane]) sum = -7;
                });
                isa.wgmma_fence(d);
                isa.wgmma_mma_async<kForm>(d, descriptor(kA), descriptor(kB), false);
                isa.wgmma_commit_group();
                isa.wgmma_mma_async<kForm>(d, descriptor(kA), descriptor(kB), true);
                isa.wgmma_commit_group();
                isa.wgmma_wait_group<1>();
                must(!holds_products(isa, d, 2));  // the second group is pending
                isa.wgmma_wait_group<0>(d);
                must(holds_products(isa, d, 2) == right);
              },
          .warps = 4,
          .with_data = true,
          .faults = std::move(faults),
          .profile = "h200"};
}

#define CHECK_TOLD(code, expected)            \
  do {                                        \
    const std::string text = diagnosis(code); \
    CAPTURE(text);                            \
    CHECK(ids_of(text) == expected);          \
  } while (false)

TEST_CASE("role code multiplies with wgmma", "[wgmma]") {
  CHECK_TOLD(twice(), "clean");
  CHECK_TOLD(twice(false), "died");  // the expectations look at something
}

TEST_CASE("faults alter wgmma of role code", "[wgmma]") {
  CHECK_TOLD(twice(true, {{.instruction = "wgmma_mma_async",
                           .warp = 2,
                           .action = host::FaultAction::add,
                           .operand = "b",
                           .value = 16}}),
             "finding WG2");
  CHECK_TOLD(twice(false, {{.instruction = "wgmma_mma_async", .occurrence = 1}}), "clean");
  CHECK_TOLD(twice(true, {{.instruction = "wgmma_fence"}}), "warning WG3");
  CHECK_TOLD(twice(false, {{.instruction = "wgmma_commit_group"}}), "clean");
  CHECK_TOLD(twice(false, {{.instruction = "wgmma_wait_group"}}), "clean");  // nobody waits: D is not there
}

TEST_CASE("operands of role code's wgmma are not overwritten before it has been waited for", "[wgmma]") {
  const auto overwrites = [](bool waits) {
    return RoleCode{.program =
                        [waits](RoleIsa& isa) {
                          write_operands(isa);
                          Sums d;
                          isa.wgmma_fence(d);
                          isa.wgmma_mma_async<kForm>(d, descriptor(kA), descriptor(kB), false);
                          isa.wgmma_commit_group();
                          if (waits) isa.wgmma_wait_group<0>(d);
                          isa.bar_sync(1, 128);
                          write_tile(isa, kB, value_of_b);
                          isa.wgmma_wait_group<0>(d);
                        },
                    .warps = 4,
                    .with_data = true,
                    .profile = "h200"};
  };
  CHECK_TOLD(overwrites(true), "clean");
  const std::string text = diagnosis(overwrites(false));
  CAPTURE(text);
  CHECK(text.find("wgmma") != std::string::npos);
  CHECK(ids_of(text).starts_with("finding "));
}

TEST_CASE("role code's wgmma on a B200 is not implemented", "[wgmma]") {
  RoleCode code = twice();
  code.profile = "b200";
  const std::string text = diagnosis(code);
  CAPTURE(text);
  CHECK(text.find("not implemented: wgmma on NVIDIA B200") != std::string::npos);
}

}  // namespace
