// SPDX-License-Identifier: Apache-2.0
// Placement of clusters on SMs (docs/instructions.md: all CTAs of a cluster run in one GPC), in waves.
#include "models/gpu.h"

#include <stdexcept>

#include "catch.h"
#include "models/gpu_bench.h"

using namespace sm100;
using namespace sm100::models;

using Bench = GpuBench;

namespace {

std::string refusal(Dim3 grid, Dim3 cluster, int sms) {
  try {
    Gpu::first_wave_sms({.grid = grid, .warps = 1, .smem_bytes = 0, .cluster = cluster}, b200(), sms);
    return "";
  } catch (const std::invalid_argument& error) { return error.what(); }
}

}  // namespace

TEST_CASE("ranks of a cluster are x-fastest on consecutive SMs, and no cluster crosses a GPC", "[gpu]") {
  Bench b(10);
  b.launch({4, 4, 1}, {2, 2, 1});
  sc_core::sc_start();
  // One cluster of four fits a GPC of five: SMs 4 and 9 stay free.
  CHECK(b.at == std::map<int, Dim3>{{0, {0, 0, 0}},
                                    {1, {1, 0, 0}},
                                    {2, {0, 1, 0}},
                                    {3, {1, 1, 0}},
                                    {5, {2, 0, 0}},
                                    {6, {3, 0, 0}},
                                    {7, {2, 1, 0}},
                                    {8, {3, 1, 0}}});
  CHECK(b.gpu.ctas_running() == 8);
  CHECK(b.gpu.clusters().rank(7) == 2);
}

TEST_CASE("a waiting cluster starts when the last SM of a place is free, all CTAs at the same cycle", "[gpu]") {
  Bench b(5);
  b.launch({6, 1, 1}, {2, 1, 1});
  Stimulus exits([&] {
    models::wait(10000);
    CHECK(b.at.size() == 4);
    b.exit(1);
    b.exit(2);  // SMs 1 and 2 are neighbours, but halves of two places
    models::wait(10000);
    CHECK(b.at.size() == 2);
    b.exit(3);
  });
  sc_core::sc_start();
  CHECK(b.at.at(2) == Dim3{4, 0, 0});
  CHECK(b.at.at(3) == Dim3{5, 0, 0});
  CHECK(b.started[2] == b.started[3]);
  CHECK(b.started[2] == 20000 + b.profile.cycles_of_ns(b.profile.launch.cta_gap_ns) +
                            b.profile.cycles_of_ns(b.profile.launch.setup_ns));
}

TEST_CASE("launch and CLC take whole clusters", "[gpu][clc]") {
  Bench b(2);
  b.gpu.clc().start_grid({6, 2, 1}, {2, 1, 1});
  CHECK(b.gpu.clc().total() == 6);
  CHECK(b.gpu.clc().take() == Dim3{0, 0, 0});
  CHECK(b.gpu.clc().take() == Dim3{2, 0, 0});
  CHECK(b.gpu.clc().take() == Dim3{4, 0, 0});
  CHECK(b.gpu.clc().take() == Dim3{0, 1, 0});
}

TEST_CASE("the first wave's SMs: whole clusters in GPCs of 18", "[gpu]") {
  const DeviceProfile p = b200();
  const auto sms = [&](Dim3 grid, Dim3 cluster, int of) {
    return Gpu::first_wave_sms({.grid = grid, .warps = 1, .smem_bytes = 0, .cluster = cluster}, p, of);
  };
  CHECK(sms({100, 1, 1}, {1, 1, 1}, 148) == 100);
  CHECK(sms({1000, 1, 1}, {1, 1, 1}, 148) == 148);
  CHECK(sms({24, 1, 1}, {8, 1, 1}, 148) == 18 + 8);        // two in the first GPC, one in the second
  CHECK(sms({800, 1, 1}, {8, 1, 1}, 148) == 7 * 18 + 16);  // the last four SMs are a GPC of their own
}

TEST_CASE("a launch that can never run says why", "[gpu]") {
  CHECK(refusal({4, 1, 1}, {4, 1, 1}, 3) == "a cluster of 4 CTAs needs 4 SMs in one GPC; there are 3");
  CHECK(refusal({6, 1, 1}, {4, 1, 1}, 148) ==
        "a grid of 6 x 1 x 1 CTAs is no multiple of the cluster of 4 x 1 x 1");
  CHECK(refusal({32, 1, 1}, {32, 1, 1}, 148) == "a cluster of 32 x 1 x 1 CTAs: allowed are 1 to 16 CTAs");
  CHECK(refusal({32, 1, 1}, {0, 1, 1}, 148) == "a cluster of 0 x 1 x 1 CTAs: allowed are 1 to 16 CTAs");
}

TEST_CASE("a launch starts when the one ahead has completed: the gap counts from its last visible write",
          "[gpu][pdl]") {
  Bench b(10);
  b.launch_two(2, false);
  Stimulus exits([&] {
    models::wait(10000);
    b.gpu.launch_dependents(b.gpu.cta(0));
    b.gpu.launch_dependents(b.gpu.cta(1));  // no programmatic launch: they change nothing
    b.exit(0, 30000);
    b.exit(1);
  });
  sc_core::sc_start();
  CHECK(b.at == std::map<int, Dim3>{{0, {0, 0, 0}}, {1, {1, 0, 0}}});
  CHECK(b.launch_at[0] == 1);
  CHECK(b.started[0] == 30000 + b.ns(b.profile.launch.grid_gap_ns) + b.ns(b.profile.launch.setup_ns));
  CHECK(b.gpu.first_start(1) == b.started[0]);
  CHECK(b.gpu.visible(0) == 30000);
}

TEST_CASE("a programmatic launch starts when each CTA ahead has executed launch_dependents or exited",
          "[gpu][pdl]") {
  Bench b(10);
  b.launch_two(2, true);
  Cycles woken = 0;
  Waiter waiter;
  Stimulus stimulus([&] {
    models::wait(10000);
    b.gpu.launch_dependents(b.gpu.cta(0));
    b.gpu.launch_dependents(b.gpu.cta(0));  // the second of a CTA has no effect
    models::wait(10000);
    CHECK(b.at.size() == 2);
    b.exit(1);
    models::wait(10000);
    CHECK(b.launch_at[2] == 1);  // SM 1 is free, but not at once
    CHECK_FALSE(b.gpu.prerequisites_complete(1));
    CHECK(b.gpu.unfinished_writer(GlobalAddr{0x10ff}, 1) == 0);
    CHECK_FALSE(b.gpu.unfinished_writer(GlobalAddr{0x1100}, 1).has_value());
    CHECK_FALSE(b.gpu.unfinished_writer(GlobalAddr{0x1000}, 0).has_value());  // its own output
    b.gpu.wait_prerequisites(1, waiter);
    b.exit(0, 40000);
    models::wait(waiter.wake);
    woken = now();
    CHECK(b.gpu.prerequisites_complete(1));
    CHECK_FALSE(b.gpu.unfinished_writer(GlobalAddr{0x1000}, 1).has_value());
  });
  sc_core::sc_start();
  const Cycles open = 20000 + b.ns(b.profile.launch.dependent_start_ns);
  CHECK(b.started[2] == open + b.ns(b.profile.launch.setup_ns));
  CHECK(woken == 40000 + b.ns(b.profile.launch.dependency_wait_ns));
}

TEST_CASE("a dependent whose SMs are taken starts as a waiting CTA does, on the SM that is free first",
          "[gpu][pdl]") {
  Bench b(2);
  b.launch_two(2, true);
  Stimulus stimulus([&] {
    models::wait(10000);
    b.gpu.launch_dependents(b.gpu.cta(0));
    b.gpu.launch_dependents(b.gpu.cta(1));
    models::wait(10000);
    b.exit(1);
    models::wait(10000);
    CHECK(b.at.at(1) == Dim3{0, 0, 0});
    CHECK(b.launch_at[1] == 1);
    CHECK(b.launch_at[0] == 0);
  });
  sc_core::sc_start();
  CHECK(b.started[1] == 20000 + b.ns(b.profile.launch.cta_gap_ns) + b.ns(b.profile.launch.setup_ns));
}

TEST_CASE("a cancel takes clusters of its own grid, and the last one lets dependents start", "[gpu][clc][pdl]") {
  Bench b(2);
  b.launch_two(3, true);  // the third CTA waits, and holds the second launch back
  bool cancelled = false;
  Stimulus stimulus([&] {
    models::wait(10000);
    b.gpu.launch_dependents(b.gpu.cta(0));
    b.gpu.launch_dependents(b.gpu.cta(1));
    for (int i = 0; i < 2; ++i) {
      b.gpu.clc().try_cancel(b.gpu.cta(0).clc, b.gpu.cta(0).smem, 0x400, 0x410, now(), {},
                             [&](const ClcResponse& answer, const Source&) { cancelled = is_canceled(answer); });
      models::wait(10000);
      CHECK(cancelled == (i == 0));
    }
    b.exit(0);
  });
  sc_core::sc_start();
  CHECK(b.gpu.clc().waiting(0) == 0);
  CHECK(b.gpu.clc().waiting(1) == 2);
  CHECK(b.launch_at[0] == 1);
}

TEST_CASE("two CTAs fit on an SM when its shared memory and its threads hold both", "[gpu]") {
  const DeviceProfile p = b200();
  const auto fit = [&](uint32_t bytes, int warps) {
    return occupancy({.warps = warps, .smem_bytes = bytes}, p).ctas >= 2;
  };
  CHECK(fit(113 * 1024, 7));  // 228 KiB, 1 KiB of each CTA's is the system's
  CHECK_FALSE(fit(113 * 1024 + 1, 7));
  CHECK(fit(1024, 32));
  CHECK_FALSE(fit(1024, 33));
}

// ---- several CTAs on an SM

TEST_CASE("CTAs go where the fewest are, and a second one to an SM when all have one", "[gpu][ctas_per_sm]") {
  Bench b(3, 2);
  b.launch({5, 1, 1}, {1, 1, 1});
  Stimulus exits([&] {
    models::wait(20000);
    // SM s has the slots 2 s and 2 s + 1.
    CHECK(b.at ==
          std::map<int, Dim3>{{0, {0, 0, 0}}, {2, {1, 0, 0}}, {4, {2, 0, 0}}, {1, {3, 0, 0}}, {3, {4, 0, 0}}});
    CHECK(b.gpu.cta(3).sm.id == 1);
    b.exit(2);
    CHECK(b.gpu.ctas_running() == 4);
  });
  sc_core::sc_start();
}

TEST_CASE("a cluster needs a place on each of its SMs, and its ranks know each other by slot",
          "[gpu][ctas_per_sm]") {
  Bench b(4, 2);
  b.launch({8, 1, 1}, {2, 1, 1});
  sc_core::sc_start();
  CHECK(b.at == std::map<int, Dim3>{{0, {0, 0, 0}},
                                    {2, {1, 0, 0}},
                                    {4, {2, 0, 0}},
                                    {6, {3, 0, 0}},
                                    {1, {4, 0, 0}},
                                    {3, {5, 0, 0}},
                                    {5, {6, 0, 0}},
                                    {7, {7, 0, 0}}});
  CHECK(b.gpu.clusters().rank(3) == 1);
  CHECK(b.gpu.clusters().slot_of(3, 0) == 1);
}

TEST_CASE("an SM takes no more CTAs than fit, whatever its slots", "[gpu][ctas_per_sm]") {
  Bench b(2, 4);
  b.gpu.launch({.grid = {16, 1, 1}, .warps = 6, .smem_bytes = 70 * 1024}, b);  // three of 71 KiB fit into 228
  sc_core::sc_start();
  CHECK(b.at.size() == 6);
}

TEST_CASE("a programmatic dependent's CTAs start beside those that still run", "[gpu][ctas_per_sm]") {
  Bench b(2, 2);
  b.launch_two(2, true);
  Stimulus trigger([&] {
    models::wait(20000);
    CHECK(b.at.size() == 2);
    b.gpu.launch_dependents(b.gpu.cta(0));
    b.gpu.launch_dependents(b.gpu.cta(2));
    models::wait(20000);
    CHECK(b.at.size() == 4);
    CHECK(b.launch_at.at(1) == 1);
    CHECK(b.launch_at.at(3) == 1);
  });
  sc_core::sc_start();
}
