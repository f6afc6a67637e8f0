// SPDX-License-Identifier: Apache-2.0
// Launches on several streams: who waits for whom, and who gets an SM first.
#include "catch.h"
#include "models/gpu_bench.h"

using namespace sm100;
using namespace sm100::models;
using Bench = GpuBench;

TEST_CASE("launches of two streams start at once, in the order of the host's calls", "[gpu][streams]") {
  Bench b(4);
  b.launch_on(0, 3);
  b.launch_on(1, 3);
  Stimulus stimulus([&] {
    models::wait(10000);
    CHECK(b.slots_of(0) == std::vector{0, 1, 2});
    CHECK(b.slots_of(1) == std::vector{3});  // what the first one leaves
    CHECK(b.started[3] == b.started[0]);
    b.exit(1);
    models::wait(10000);
    CHECK(b.slots_of(1) == std::vector{1, 3});
    CHECK_FALSE(b.gpu.has_dependents(0));
    CHECK_FALSE(b.gpu.has_prerequisites(1));
  });
  sc_core::sc_start();
  CHECK(b.started[0] == b.ns(b.profile.launch.kernel_start_ns) + b.ns(b.profile.launch.setup_ns));
  CHECK(b.started[1] == 10000 + b.ns(b.profile.launch.cta_gap_ns) + b.ns(b.profile.launch.setup_ns));
}

TEST_CASE("a launch waits for its stream and for the event of another one, the later of the two",
          "[gpu][streams]") {
  Bench b(4);
  b.launch_on(0, 1);
  b.launch_on(1, 1);
  b.launch_on(0, 1, {1});
  Stimulus stimulus([&] {
    models::wait(10000);
    b.exit(0);  // the stream is free, the event is missing
    models::wait(10000);
    CHECK(b.at.size() == 1);
    b.exit(1, 30000);  // what it wrote is visible at cycle 30000
    models::wait(20000);
    CHECK(b.slots_of(2) == std::vector{0});
  });
  sc_core::sc_start();
  CHECK(b.started[0] == 30000 + b.ns(b.profile.launch.grid_gap_ns) + b.ns(b.profile.launch.setup_ns));
}

TEST_CASE("an event behind a launch comes when all ahead of it in its stream have completed too",
          "[gpu][streams]") {
  Bench b(4);
  b.launch_on(1, 1);
  b.launch_on(1, 1, {}, 1024, true);  // overlaps the first
  b.launch_on(0, 1, {1});
  Stimulus stimulus([&] {
    models::wait(10000);
    b.gpu.launch_dependents(b.gpu.cta(0));
    models::wait(10000);
    CHECK(b.slots_of(1) == std::vector{1});
    b.exit(1);
    models::wait(10000);
    CHECK(b.slots_of(2).empty());
    b.exit(0);
    models::wait(10000);
    CHECK(b.slots_of(2) == std::vector{0});
  });
  sc_core::sc_start();
  CHECK(b.started[0] == 30000 + b.ns(b.profile.launch.grid_gap_ns) + b.ns(b.profile.launch.setup_ns));
}

TEST_CASE("a programmatic launch waits for its events too, and follows its own stream", "[gpu][streams]") {
  Bench b(4);
  b.launch_on(0, 1);
  b.launch_on(1, 1);
  b.launch_on(0, 1, {1}, 1024, true);
  Waiter waiter;
  Cycles woken = 0;
  Stimulus stimulus([&] {
    models::wait(10000);
    b.gpu.launch_dependents(b.gpu.cta(1));  // of the other stream: nobody depends on it
    b.gpu.launch_dependents(b.gpu.cta(0));
    models::wait(10000);
    CHECK(b.at.size() == 2);  // the event is missing
    b.exit(1);
    models::wait(10000);
    CHECK(b.slots_of(2) == std::vector{1});
    CHECK_FALSE(b.gpu.prerequisites_complete(2));
    b.gpu.wait_prerequisites(2, waiter);
    b.exit(0);
    models::wait(waiter.wake);
    woken = now();
  });
  sc_core::sc_start();
  CHECK(b.started[1] == 20000 + b.ns(b.profile.launch.grid_gap_ns) + b.ns(b.profile.launch.setup_ns));
  CHECK(woken == 30000 + b.ns(b.profile.launch.dependency_wait_ns));
}

TEST_CASE("a launch gets no SM while clusters of an earlier one wait, though its own would fit", "[gpu][streams]") {
  Bench b(2, 2);
  b.launch_on(0, 3, {}, 200 * 1024);  // one per SM
  b.launch_on(1, 1, {}, 1024);
  Stimulus stimulus([&] {
    models::wait(10000);
    CHECK(b.slots_of(0) == std::vector{0, 2});
    CHECK(b.slots_of(1).empty());
    b.exit(0);
    models::wait(10000);
    CHECK(b.slots_of(0) == std::vector{1, 2});  // of the free slots the one that is free for longer
    CHECK(b.slots_of(1) == std::vector{0});
  });
  sc_core::sc_start();
}

TEST_CASE("CTAs of different kernels share an SM as far as their resources add up", "[gpu][streams]") {
  Bench b(1, 4);
  b.launch_on(0, 1, {}, 150 * 1024);
  b.launch_on(1, 4, {}, 30 * 1024);  // 228 KiB hold 151 + 2 x 31
  sc_core::sc_start();
  CHECK(b.slots_of(0).size() == 1);
  CHECK(b.slots_of(1).size() == 2);
}

TEST_CASE("CLC takes clusters of the own grid only, whichever stream asks", "[gpu][streams][clc]") {
  Bench b(2);
  b.launch_on(0, 4);
  b.launch_on(1, 4);
  Stimulus stimulus([&] {
    models::wait(10000);
    CHECK(b.gpu.clc().waiting(0) == 2);
    CHECK(b.gpu.clc().take(0) == Dim3{2, 0, 0});
    CHECK(b.gpu.clc().take(0) == Dim3{3, 0, 0});
    CHECK_FALSE(b.gpu.clc().take(0).has_value());
    CHECK(b.gpu.clc().waiting(1) == 4);
    b.exit(0);
    models::wait(10000);
    CHECK(b.slots_of(1) == std::vector{0});
  });
  sc_core::sc_start();
}

TEST_CASE("outputs of launches that nothing orders may not be read, finished or not", "[gpu][streams]") {
  Bench b(4);
  b.launch_on(0, 1);       // writes 0x1000
  b.launch_on(1, 1);       // 0x2000
  b.launch_on(0, 1, {1});  // 0x3000
  Stimulus stimulus([&] {
    models::wait(10000);
    CHECK(b.gpu.unfinished_writer(GlobalAddr{0x2000}, 0) == 1);
    CHECK(b.gpu.unfinished_writer(GlobalAddr{0x1000}, 1) == 0);
    CHECK_FALSE(b.gpu.unfinished_writer(GlobalAddr{0x3000}, 0).has_value());  // comes behind it
    b.exit(0);
    b.exit(1);
    models::wait(10000);
    CHECK(b.gpu.unfinished_writer(GlobalAddr{0x1000}, 1) == 0);  // this time it has finished before
    CHECK_FALSE(b.gpu.unfinished_writer(GlobalAddr{0x1000}, 2).has_value());
    CHECK_FALSE(b.gpu.unfinished_writer(GlobalAddr{0x2000}, 2).has_value());
  });
  sc_core::sc_start();
}

TEST_CASE("SMs that launches can use together: each behind the last", "[gpu][streams]") {
  const auto launch = [](uint32_t ctas, uint32_t cluster) {
    return Gpu::Launch{.grid = {ctas, 1, 1}, .warps = 1, .smem_bytes = 0, .cluster = {cluster, 1, 1}};
  };
  const DeviceProfile profile = Bench::with_gpcs_of_five();
  CHECK(Gpu::first_wave_sms({launch(3, 1), launch(4, 2)}, profile, 10) == 7);  // 0-2, 3-4, 5-6
  CHECK(Gpu::first_wave_sms({launch(3, 1), launch(8, 1)}, profile, 10) == 10);
}
