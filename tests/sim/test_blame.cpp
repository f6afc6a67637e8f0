// SPDX-License-Identifier: Apache-2.0
// Findings of small role code under the hazard checker: waits that leave out phases, a test_wait whose answer is
// thrown away, barriers that no table names, readers that come before the first fill.  Broken programs stand beside
// their sound twins.
#include "catch.h"
#include "sim/clusters.h"
#include "sim/hang_report.h"
#include "sim/hazards/hazard_checker.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// One CTA whose waits and accesses are checked for order.
struct Checked : Clusters {
  explicit Checked(int warps) : Clusters(1, 1, warps, 1) {
    before = [this] { check(); };
  }
  void check() { device->observer.set_hazards(&checker.emplace(kernel, sms, device->observer)); }
  std::string warnings() const {
    std::string ids;
    for (const auto& w : device->observer.warnings()) ids += w.id + std::string(" ");
    return ids;
  }
  std::optional<HazardChecker> checker;
};

void arrive(SimIsa& isa, uint32_t barrier = kBar) {
  isa.elected([&] { isa.mbarrier_arrive(own(isa, barrier), Scope::cta); });
}
void wait(SimIsa& isa, uint32_t parity, uint32_t barrier = kBar) {
  while (!isa.mbarrier_try_wait_parity(own(isa, barrier), parity, Scope::cta)) {}
}
bool test(SimIsa& isa, uint32_t parity) {
  return isa.mbarrier_test_wait_parity(own(isa, kBar), parity, Scope::cta);
}
void pause(SimIsa& isa, int cycles) {
  isa.for_each_lane(cycles, [](int) {});
}

/// Warp 1 completes phases 0 to 3 of kBar; warp 0 sees phase 0, then asks for parity 1 when phase 3 is open.
/// @param warps_meet  the warps meet after phase 2: warp 0 knows that phases 1 and 2 are over
void leave_out_two_phases(Checked& c, bool warps_meet) {
  c.program = [warps_meet](SimIsa& isa) {
    if (isa.warpid() == 0) init_barrier(isa, 1);
    isa.bar_sync(0, 64);
    if (isa.warpid() == 0) wait(isa, 0);
    if (isa.warpid() == 1) arrive(isa), pause(isa, 1000), arrive(isa), arrive(isa);
    if (warps_meet) isa.bar_sync(1, 64);
    if (isa.warpid() == 0) pause(isa, 3000), wait(isa, 1);
    if (isa.warpid() == 1) pause(isa, 6000), arrive(isa);
  };
  c.run();
}

/// Warp 0 tests kBar for phase 0 before and after warp 1 completes it, then waits for that phase `waits` times.
void test_then_wait(Checked& c, int waits, std::vector<bool>& answers, models::Cycles& took) {
  c.program = [&, waits](SimIsa& isa) {
    if (isa.warpid() == 0) init_barrier(isa, 1);
    isa.bar_sync(0, 64);
    if (isa.warpid() == 1) return pause(isa, 2000), arrive(isa);
    const models::Cycles begin = models::now();
    answers.push_back(test(isa, 0));
    took = models::now() - begin;
    pause(isa, 4000);
    answers.push_back(test(isa, 0));
    for (int i = 0; i < waits; ++i) wait(isa, 0);
  };
  c.run();
}

constexpr uint32_t kOther = kBar + 8;
constexpr uint32_t kBytes = 128;

/// Two barriers that no table has, each armed for one copy; one copy to the first, `copies` to the second.
void two_barriers(Checked& c, int copies) {
  TensorMap map;
  c.before = [&] {
    c.check();
    map = row_of_words(c.device->gpu.memory().allocate("row", kBytes, true));
  };
  c.program = [&map, copies](SimIsa& isa) {
    init_barrier(isa, 1), init_barrier(isa, 1, kOther);
    isa.elected([&] { isa.fence_mbarrier_init(); });
    isa.bar_warp_sync();
    isa.elected([&] {
      isa.mbarrier_arrive_expect_tx(own(isa, kBar), kBytes, Scope::cta);
      isa.cp_async_bulk_tensor_shared_global(own(isa, kData), &map, TensorCoords{0}, own(isa, kBar));
      isa.mbarrier_arrive_expect_tx(own(isa, kOther), kBytes, Scope::cta);
      for (uint32_t i = 1; i <= uint32_t(copies); ++i)
        isa.cp_async_bulk_tensor_shared_global(own(isa, kData + 1024 * i), &map, TensorCoords{0}, own(isa, kOther));
    });
    wait(isa, 0), wait(isa, 0, kOther);
  };
  c.run();
}

}  // namespace

TEST_CASE("MB8: a warp that knows that two phases are over may wait for the third", "[blame]") {
  Checked c(2);
  leave_out_two_phases(c, true);
  CHECK(c.violation() == "");
  CHECK(c.warnings() == "");
  CHECK(c.exits.size() == 1);
}

TEST_CASE("MB8: a warp that knows nothing of the phases in between was lapped", "[blame]") {
  Checked c(2);
  leave_out_two_phases(c, false);
  REQUIRE(c.violation() == "MB8");
  CHECK(c.finding().message ==
        "mbarrier.try_wait.parity on mbarrier at 0x400 for phase 1 when phase 3 is open: a parity names the open "
        "phase or the one before, and nothing tells the warp that phase 2 is over");
}

TEST_CASE("MB8: a warp that has completed the phases itself knows that they are over", "[blame]") {
  Checked c(1);
  c.program = [](SimIsa& isa) {
    init_barrier(isa, 1);
    arrive(isa), wait(isa, 0);
    for (int phase = 1; phase < 4; ++phase) arrive(isa);
    wait(isa, 1);  // for phase 3, the one before the open one
  };
  c.run();
  CHECK(c.violation() == "");
  CHECK(c.warnings() == "");
}

TEST_CASE("MB8: a test_wait answers at once, and the phase that it has found may be asked for once more",
          "[blame]") {
  Checked c(2);
  std::vector<bool> answers;
  models::Cycles took = 0;
  test_then_wait(c, 1, answers, took);
  CHECK(c.violation() == "");
  CHECK(c.warnings() == "");
  CHECK(answers == std::vector<bool>{false, true});
  CHECK(took < 200);  // warp 1 arrives 2,000 cycles later
}

TEST_CASE("MB8: answers of tests may be thrown away, as CUTLASS does at the end of a tile", "[blame]") {
  Checked c(1);
  c.program = [](SimIsa& isa) {
    init_barrier(isa, 1);
    for (int i = 0; i < 3; ++i) CHECK(test(isa, 1));  // the phase before the first
    wait(isa, 1);
  };
  c.run();
  CHECK(c.violation() == "");
  CHECK(c.warnings() == "");
}

TEST_CASE("MB8: but not twice", "[blame]") {
  Checked c(2);
  std::vector<bool> answers;
  models::Cycles took = 0;
  test_then_wait(c, 2, answers, took);
  CHECK(c.violation() == "");
  CHECK(c.warnings() == "MB8 ");
  CHECK(c.device->observer.warnings().front().message ==
        "mbarrier.try_wait.parity on mbarrier at 0x400 passes at once on phase 0, which the warp has already seen: "
        "parity 0 once more");
}

TEST_CASE("MB8: a loop that tests ahead and waits where the answer was no passes every phase once", "[blame]") {
  Checked c(2);
  c.kernel.barriers.push_back({"input_full", {kBar}, 1, 1, "mma", "mbarrier.arrive", "load"});
  int spared = 0;
  c.program = [&](SimIsa& isa) {
    if (isa.warpid() == 0) init_barrier(isa, 1);
    isa.bar_sync(0, 64);
    for (uint32_t i = 0; i < 6; ++i) {
      if (isa.warpid() == 1) {
        pause(isa, i % 2 ? 500 : 3000), arrive(isa), isa.bar_sync(1, 64);
        continue;
      }
      pause(isa, 1500);
      if (test(isa, i & 1))
        ++spared;
      else
        wait(isa, i & 1);
      isa.bar_sync(1, 64);
    }
    if (isa.warpid() == 0) CHECK(c.device->slots().front()->warps().front()->use[0].waits == 6);
  };
  c.run();
  CHECK(c.violation() == "");
  CHECK(c.warnings() == "");
  CHECK(spared == 3);
}

TEST_CASE("MB8: a test_wait for parity 2 names the instruction", "[blame]") {
  Checked c(1);
  c.program = [](SimIsa& isa) { init_barrier(isa, 1), test(isa, 2); };
  c.run();
  REQUIRE(c.violation() == "MB8");
  CHECK_THAT(c.finding().message, Catch::StartsWith("mbarrier.test_wait.parity with parity 2"));
}

TEST_CASE("MB11: barriers that no table names count their own copies only", "[blame]") {
  Checked c(1);
  two_barriers(c, 1);
  CHECK(c.violation() == "");
  CHECK(c.warnings() == "");
}

TEST_CASE("MB11: a barrier that no table names is named by its address", "[blame]") {
  Checked c(1);
  two_barriers(c, 2);
  REQUIRE(c.violation() == "MB11");
  CHECK(c.finding().message ==
        "the mbarrier at 0x408 completes phase 0 while a copy that signals it is on the way: expect_tx counts too "
        "few bytes");
}

TEST_CASE("a named barrier that counts more threads than the CTA has: the hang says so", "[blame][report]") {
  Clusters c(1, 1, 2);
  c.program = [](SimIsa& isa) {
    if (isa.warpid() == 0) isa.bar_sync(1, 96);
  };
  c.run();
  CHECK(c.violation() == "");
  const std::string text = explain_hang(c.device->slots(), models::now(), 0, "replay").text;
  CHECK_THAT(text,
             Catch::Contains("likely cause: load comes to named barrier 1 with 96 threads; the CTA has 64: it "
                             "can never complete\n"));
}

TEST_CASE("a cycle of waits with a named barrier in it: who has not come to the barrier is at fault",
          "[blame][report]") {
  Clusters c(1, 1, 2);
  c.kernel.roles = {"epilogue", "mma"};
  c.kernel.barriers.push_back({"accum_full", {kOther}, 1, 1, "mma", "mbarrier.arrive", "epilogue"});
  c.kernel.barriers.push_back({"accum_empty", {kBar}, 1, 1, "epilogue", "mbarrier.arrive", "mma"});
  c.kernel.named_barriers = {{0, "set-up", "epilogue, mma"}, {1, "tmem address", "epilogue, mma"}};
  c.program = [](SimIsa& isa) {
    if (isa.warpid() == 0) init_barrier(isa, 1), init_barrier(isa, 1, kOther);
    isa.bar_sync(0, 64);
    if (isa.warpid() == 1) {  // without its bar.arrive
      for (uint32_t round = 0; round < 2; ++round) wait(isa, round ^ 1), arrive(isa, kOther);
      return;
    }
    isa.bar_sync(1, 64);
    for (uint32_t round = 0; round < 2; ++round) wait(isa, round, kOther), arrive(isa);
  };
  c.run();
  CHECK(c.violation() == "");
  const HangReport hang = explain_hang(c.device->slots(), models::now(), 0, "replay");
  CAPTURE(hang.text);
  CHECK(hang.finding.fault_role == "mma");
  CHECK(
      hang.finding.cause ==
      "mma has not arrived on named barrier 1 (tmem address): its arrival is missing, or comes behind its wait for "
      "accum_empty[0], which needs the barrier first");
}

namespace {

/// The load warp arms input_full for 192 bytes and copies 128 of them; the rest is a smaller copy, which the scales
/// warp makes.  It waits for the stage to come back first.
void filled_by_two_warps(Clusters& c, uint32_t first_parity, bool small_copy) {
  static TensorMap map, small;
  c.kernel.roles = {"load", "mma", "scales"};
  c.kernel.barriers.push_back({"input_full", {kBar}, 1, 1, "load", "mbarrier.arrive.expect_tx", "mma"});
  c.kernel.barriers.push_back({"input_empty", {kOther}, 1, 1, "mma", "mbarrier.arrive", "load, scales"});
  c.before = [&c] {
    const GlobalAddr row = c.device->gpu.memory().allocate("row", kBytes, true);
    map = sm100::sim::row_of_words(row);
    TensorMapFields f;
    f.data_type = TensorMapDataType::uint32;
    f.rank = 1;
    f.global_address = row.value;
    f.global_dim[0] = f.box_dim[0] = 16;
    f.element_stride[0] = 1;
    small = encode(f);
  };
  c.program = [=](SimIsa& isa) {
    if (isa.warpid() == 0) init_barrier(isa, 1), init_barrier(isa, 1, kOther);
    isa.elected([&] { isa.fence_mbarrier_init(); });
    isa.bar_sync(0, 96);
    if (isa.warpid() == 1) {
      wait(isa, 0);
      return arrive(isa, kOther);
    }
    wait(isa, isa.warpid() == 2 ? first_parity : 1, kOther);
    isa.elected([&] {
      if (isa.warpid() == 0) isa.mbarrier_arrive_expect_tx(own(isa, kBar), kBytes + 64, Scope::cta);
      if (isa.warpid() == 0)
        isa.cp_async_bulk_tensor_shared_global(own(isa, kData), &map, TensorCoords{0}, own(isa, kBar));
      else if (small_copy)
        isa.cp_async_bulk_tensor_shared_global(own(isa, kData + 1024), &small, TensorCoords{0}, own(isa, kBar));
    });
    if (isa.warpid() == 2) pause(isa, 4000);
  };
  c.run();
}

}  // namespace

TEST_CASE("a first fill that lacks less than its smallest copy so far may lack a smaller one", "[blame][report]") {
  Clusters c(1, 1, 3);
  filled_by_two_warps(c, 1, false);
  CHECK(c.violation() == "");
  const HangReport hang = explain_hang(c.device->slots(), models::now(), 0, "replay");
  CAPTURE(hang.text);
  CHECK(hang.finding.cause ==
        "expect_tx counts 64 bytes more than the copies of this phase deliver: a copy is missing, smaller than any "
        "to "
        "input_full so far, or 192 is too much");
}

TEST_CASE("a wrong parity keeps a copy of the first fill back: it is at fault, not expect_tx", "[blame][report]") {
  Clusters c(1, 1, 3);
  filled_by_two_warps(c, 0, true);
  const HangReport hang = explain_hang(c.device->slots(), models::now(), 0, "replay");
  CAPTURE(hang.text);
  CHECK(hang.finding.fault_role == "scales");
  CHECK_THAT(hang.finding.cause, Catch::StartsWith("scales waits for the release of a fill that it never made"));
}

TEST_CASE("a first fill whose warps all copy completes", "[blame]") {
  Clusters c(1, 1, 3);
  filled_by_two_warps(c, 1, true);
  CHECK(c.violation() == "");
  CHECK(c.exits.size() == 1);
}

namespace {

/// A load warp and an MMA warp hand one stage to and fro, on barriers whose names say nothing.
void hand_over(Clusters& c, uint32_t first_parity, bool fills = true) {
  c.kernel.barriers.push_back({"a", {kBar}, 1, 1, "load", "mbarrier.arrive.expect_tx", "mma"});
  c.kernel.barriers.push_back({"b", {kOther}, 1, 1, "mma", "tcgen05.commit", "load"});
  c.program = [first_parity, fills](SimIsa& isa) {
    if (isa.warpid() == 0) init_barrier(isa, 1), init_barrier(isa, 1, kOther);
    isa.bar_sync(0, 64);
    for (uint32_t round = 0; round < 2; ++round)
      if (isa.warpid() == 0) {
        wait(isa, round ^ first_parity, kOther);
        if (fills) arrive(isa);
      } else {
        wait(isa, round);
        arrive(isa, kOther);
      }
    if (isa.warpid() == 0) wait(isa, 1, kOther);
  };
  c.run();
}

}  // namespace

TEST_CASE("nobody can have emptied what nobody has filled: the producer's parity is to blame", "[blame][report]") {
  Clusters c(1, 1, 2);
  hand_over(c, 0);
  CHECK(c.violation() == "");
  const HangReport hang = explain_hang(c.device->slots(), models::now(), 0, "replay");
  CAPTURE(hang.text);
  CHECK(hang.finding.fault_role == "load");
  CHECK(hang.finding.barrier == "b");
  CHECK_THAT(hang.finding.cause, Catch::StartsWith("load waits for the release of a fill that it never made"));
  CHECK_THAT(hang.text, Catch::Contains("at fault: load (warp 0) of CTA 0  test_blame.cpp"));
}

TEST_CASE("a producer that has forgotten its fill and waits for the release is not told of parities",
          "[blame][report]") {
  Clusters c(1, 1, 2);
  hand_over(c, 1, false);
  const HangReport hang = explain_hang(c.device->slots(), models::now(), 0, "replay");
  CAPTURE(hang.text);
  CHECK_THAT(hang.finding.cause, !Catch::Contains("parity"));
}

TEST_CASE("a producer whose first lap waits for parity 1 hands its stage over", "[blame]") {
  Clusters c(1, 1, 2);
  hand_over(c, 1);
  CHECK(c.violation() == "");
  CHECK(c.exits.size() == 1);
  CHECK(c.device->observer.ctas_exited() == 1);
}

namespace {

/// Warps 1 and 2 arrive once each on a barrier of `count`, warp 0 waits; warp 2 may leave it out.
void two_arrive(Clusters& c, uint32_t count, bool all_come) {
  c.kernel.barriers.push_back({"ready", {kBar}, 1, count, "mma", "mbarrier.arrive", "load"});
  c.program = [count, all_come](SimIsa& isa) {
    if (isa.warpid() == 0) init_barrier(isa, count);
    isa.bar_sync(0, 96);
    if (isa.warpid() == 0) return wait(isa, 0);
    if (isa.warpid() == 1 || all_come) arrive(isa);
  };
  c.run();
}

}  // namespace

TEST_CASE("a table whose count nobody can make up: the count is too high", "[blame][report]") {
  Clusters c(1, 1, 3);
  two_arrive(c, 3, true);
  const HangReport hang = explain_hang(c.device->slots(), models::now(), 0, "replay");
  CAPTURE(hang.text);
  CHECK(hang.finding.cause ==
        "ready[0] is initialised for 3 arrivals a phase; 2 have come, of mma (warps 1-2) of CTA 0, and nobody else "
        "arrives on it: the count is 1 too high, or an arrival is not in the program");
  CHECK(hang.finding.fault_role == "load");
  CHECK_THAT(hang.finding.fault_location, Catch::StartsWith("clusters.h:"));
}

TEST_CASE("a count that one warp leaves open is that warp's", "[blame][report]") {
  Clusters c(1, 1, 3);
  two_arrive(c, 2, false);
  const HangReport hang = explain_hang(c.device->slots(), models::now(), 0, "replay");
  CAPTURE(hang.text);
  CHECK_THAT(hang.finding.cause, !Catch::Contains("too high"));
  CHECK(hang.finding.fault_role == "mma");
}
