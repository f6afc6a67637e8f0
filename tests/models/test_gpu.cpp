// Placement of clusters on SMs (reference isa.md 6.1: all CTAs of a cluster run in one GPC), in waves.
#include "models/gpu.h"

#include <map>
#include <stdexcept>

#include "catch.h"
#include "models/fixture.h"

using namespace sm100;
using namespace sm100::models;

namespace {

/// A device of `sms` SMs in GPCs of five, whose CTAs run until the test ends them.
struct Bench : CtaRunner {
  explicit Bench(int sms) : profile(with_gpcs_of_five()), gpu("gpu", profile, options(sms), observer) {}
  static DeviceProfile with_gpcs_of_five() {
    DeviceProfile p = b200();
    p.device.gpc_sms = 5;
    return p;
  }
  static Gpu::Options options(int sms) {
    return {.sms = sms, .with_data = false, .accumulation = Accumulation::fast, .jitter_seed = {}};
  }
  void start_cta(Sm& sm, int, Dim3 ctaid) override {
    at[sm.id] = ctaid;
    started[sm.id] = now();
  }
  void launch(Dim3 grid, Dim3 cluster) {
    gpu.launch({.grid = grid, .warps = 1, .smem_bytes = 1024, .cluster = cluster}, *this);
  }
  void exit(int sm) {
    at.erase(sm);
    gpu.cta_exited(gpu.sm(sm));
  }
  DeviceProfile profile;
  RecordingObserver observer;
  Gpu gpu;
  std::map<int, Dim3> at;
  std::map<int, Cycles> started;
};

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
  Stimulus exits("exits", [&] {
    sc_core::wait(cycles(10000));
    CHECK(b.at.size() == 4);
    b.exit(1);
    b.exit(2);  // SMs 1 and 2 are neighbours, but halves of two places
    sc_core::wait(cycles(10000));
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
