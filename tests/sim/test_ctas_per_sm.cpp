// SPDX-License-Identifier: Apache-2.0
// Two CTAs on an SM: they share tensor memory, tensor pipe and ports, and nothing else.
#include "catch.h"
#include "sim/role_code.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr uint32_t kAddress = 0x800, kBarrier = 0x400;

/// Columns, and how long the CTA keeps them.
void use_tensor_memory(RoleIsa& isa, uint32_t columns, int cycles) {
  const SmemAddr address{isa.cluster_ctarank() << kClusterRankShift | kAddress};
  isa.tcgen05_alloc(address, columns, 1);
  const TmemAddr first{isa.ld_shared_u32(address)};
  models::wait(models::Cycles(cycles));
  isa.tcgen05_relinquish_alloc_permit(1);
  isa.tcgen05_dealloc(first, columns, 1);
}

}  // namespace

TEST_CASE("an alloc waits for the columns of another CTA of its SM, and gets them", "[ctas_per_sm]") {
  // "" when the last CTA ends before cycle 9,000 or after it, as expected.
  const auto ends = [](int ctas_per_sm, uint32_t columns, bool early) {
    return diagnosis({.program =
                          [=, ended = 0](RoleIsa& isa) mutable {
                            use_tensor_memory(isa, columns, 5000);
                            if (++ended == 2) must((models::now() < 9000) == early);
                          },
                      .warps = 1,
                      .clusters = 2,
                      .ctas_per_sm = ctas_per_sm});
  };
  CHECK(ends(1, 512, false) == "");
  CHECK(ends(2, 512, false) == "");
  CHECK(ends(2, 256, true) == "");  // both have what they want at once
}

TEST_CASE("two CTAs that want the rest of each other's columns hang, and the report names both", "[ctas_per_sm]") {
  const RoleCode twice{.program =
                           [](RoleIsa& isa) {
                             isa.tcgen05_alloc({kAddress}, 256, 1);
                             isa.tcgen05_alloc({kAddress + 4}, 256, 1);
                             isa.tcgen05_dealloc({isa.ld_shared_u32({kAddress + 4})}, 256, 1);
                             isa.tcgen05_dealloc({isa.ld_shared_u32({kAddress})}, 256, 1);
                           },
                       .warps = 1,
                       .clusters = 2,
                       .explained = true};
  CHECK(diagnosis(twice) == "");  // one after the other
  RoleCode together = twice;
  together.ctas_per_sm = 2;
  const std::string report = diagnosis(together);
  CHECK_THAT(report, Catch::Contains("HANG at cycle"));
  CHECK_THAT(report, Catch::Contains("likely cause: tcgen05.alloc of 256 columns waits for tensor memory of SM 0: "
                                     "CTA 1 holds 256 columns, CTA 0 holds 256 columns; w0 of CTA 1 waits for 256 "
                                     "columns too, and neither gives up what it holds"));
  CHECK_THAT(report, Catch::Contains("at fault: w0 (warp 0) of CTA 1"));
}

TEST_CASE("clusters that allocate all columns in different orders on two SMs hang", "[ctas_per_sm]") {
  // Each cluster has one of two SMs and waits for its other CTA, which waits for the other cluster's.
  const RoleCode code{.program =
                          [](RoleIsa& isa) {
                            const SmemAddr address{isa.cluster_ctarank() << kClusterRankShift | kAddress};
                            if (isa.ctaid().x / 2 != isa.cluster_ctarank()) models::wait(100);
                            isa.tcgen05_alloc(address, 512, 1);
                            isa.barrier_cluster_arrive();
                            isa.barrier_cluster_wait();
                            isa.tcgen05_dealloc({isa.ld_shared_u32(address)}, 512, 1);
                          },
                      .warps = 1,
                      .ctas = 2,
                      .clusters = 2,
                      .ctas_per_sm = 2,
                      .explained = true};
  const std::string report = diagnosis(code);
  CHECK_THAT(report, Catch::Contains("these wait for each other: "));
  CHECK_THAT(report, Catch::Contains("of CTA 1 -> tcgen05.alloc -> "));
  CHECK_THAT(report, Catch::Contains("of CTA 2 -> tcgen05.alloc -> "));
  RoleCode apart = code;
  apart.ctas_per_sm = 1;
  CHECK(diagnosis(apart) == "");
}

TEST_CASE("a CTA does not reach the columns, the barriers and the shared memory of its neighbour",
          "[ctas_per_sm]") {
  const auto text = [](std::function<void(RoleIsa&)> program) {
    return diagnosis(
        {.program = std::move(program), .warps = 1, .with_data = true, .clusters = 2, .ctas_per_sm = 2});
  };
  CHECK_THAT(text([](RoleIsa& isa) {
               isa.tcgen05_alloc({kAddress}, 32, 1);
               const uint32_t column = TmemAddr{isa.ld_shared_u32({kAddress})}.column();
               models::wait(1000);
               if (isa.ctaid().x == 0) isa.tcgen05_ld_32x32b<1>(TmemAddr::at(0, column ^ 32));  // what CTA 1 has
               models::wait(1000);
               isa.tcgen05_dealloc({isa.ld_shared_u32({kAddress})}, 32, 1);
             }),
             Catch::StartsWith("finding TC1"));
  CHECK(text([](RoleIsa& isa) {
          // The same offset is another barrier and another word in each CTA.
          isa.elected([&] { isa.mbarrier_init({kBarrier}, isa.ctaid().x + 1); });
          const LaneArray<SmemAddr, 1> word = [] {
            LaneArray<SmemAddr, 1> all;
            for (int lane = 0; lane < kWarpLanes; ++lane) all[lane][0] = {kAddress + 4u * uint32_t(lane)};
            return all;
          }();
          LaneArray<uint32_t, 1> values;
          for (int lane = 0; lane < kWarpLanes; ++lane) values[lane][0] = isa.ctaid().x;
          isa.st_shared_b32(word, values);
          models::wait(1000);
          must(isa.ld_shared_u32({kAddress}) == isa.ctaid().x);
          isa.elected([&] { isa.mbarrier_arrive(SmemAddr{kBarrier}, Scope::cta); });
          must(isa.mbarrier_test_wait_parity({kBarrier}, 0, Scope::cta) == (isa.ctaid().x == 0));
          if (isa.ctaid().x == 1) isa.elected([&] { isa.mbarrier_arrive(SmemAddr{kBarrier}, Scope::cta); });
        }) == "");
}

TEST_CASE("the warps of two CTAs share the SM's data port", "[ctas_per_sm][timing]") {
  // Four warps that read 512 bytes each take the port for 16 cycles.
  const auto slow = [](int ctas_per_sm, bool both_access, bool expected) {
    return diagnosis({.program =
                          [=](RoleIsa& isa) {
                            if (isa.ctaid().x == 1 && !both_access) return;
                            LaneArray<SmemAddr, 1> words;
                            for (int lane = 0; lane < kWarpLanes; ++lane)
                              words[lane][0] = {kAddress + 16u * uint32_t(lane)};
                            const models::Cycles begin = models::now();
                            for (int i = 0; i < 1000; ++i) isa.ld_shared_v4(words);
                            must((models::now() - begin > 24000) == expected);
                          },
                      .warps = 4,
                      .clusters = 2,
                      .ctas_per_sm = ctas_per_sm});
  };
  CHECK(slow(2, false, false) == "");
  CHECK(slow(2, true, true) == "");
  CHECK(slow(1, true, false) == "");
}
