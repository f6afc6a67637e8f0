// SPDX-License-Identifier: Apache-2.0
// The fallback kernel: the right product on every shape, an element at a time where rows of C have no even pitch;
// its hangs; and the two block barriers without which slow warps would break it.
#include <fmt/format.h>

#include <optional>
#include <random>
#include <set>

#include "catch.h"
#include "kernels/fallback/fallback_kernel.h"
#include "kernels/fallback/host/fallback_run.h"
#include "sim/child_process.h"
#include "sim/device.h"
#include "sim/explained.h"
#include "sim/kernel_code.h"
#include "sim/program.h"
#include "sim/sim_isa.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

Scenario product(int m, int n, int k, FallbackConfig config) {
  Scenario s;
  s.name = "product";
  s.kernel = &host::fallback_definition();
  s.profile = "b200";
  s.device = load_profile("b200");
  s.problem = host::FallbackProblem{m, n, k, config};
  s.sms = 3;
  return s;
}

class RandomProducts {
 public:
  explicit RandomProducts(uint64_t seed) : random_(seed) {}

  Scenario next() {
    FallbackConfig c;
    c.block_m = pick({64, 128});
    const int step = c.block_m == 64 ? 8 : 16;
    c.block_n = between(0, 1) ? step * between(1, 256 / step) : pick({16, 32, 64, 128, 256});
    c.output = pick({DataType::bf16, DataType::bf16, DataType::f32});
    Scenario s =
        product(between(1, 3 * c.block_m), between(1, 3 * c.block_n), 8 * between(1, 60), c);  // any N, also odd
    s.sms = between(1, 5);
    s.seed = random_();
    return s;
  }

 private:
  int between(int low, int high) { return low + int(random_() % uint64_t(high - low + 1)); }
  template <class T>
  T pick(std::initializer_list<T> of) {
    return *(of.begin() + between(0, int(of.size()) - 1));
  }
  std::mt19937_64 random_;
};

void run_batch(uint64_t seed) {
  RandomProducts products(seed);
  int odd = 0;
  for (int i = 0; i < 30; ++i) {
    Scenario s = products.next();
    CAPTURE(s.configuration_json(), s.sms);
    odd += s.problem_as<host::FallbackProblem>().n % 2;
    const RecordedRun full = record_in_child(s);
    CAPTURE(said(full), full.check.relative_error);
    CHECK(full.outcome == Outcome::pass);
    CHECK(full.verified);
    CHECK(full.recorded_events > 0);
    s.jitter = seed + uint64_t(i);
    const RunResult shaken = run_in_child(s);
    CHECK(shaken.outcome == Outcome::pass);
    CHECK(shaken.output_hash == full.output_hash);
    s.jitter.reset();
    s.data = DataMode::none;
    const RecordedRun none = record_in_child(s);
    CHECK(none.cycles == full.cycles);
    CHECK(none.recorded_events == full.recorded_events);
    CHECK(none.barrier_hash == full.barrier_hash);
  }
  CHECK(odd >= 5);
}

std::string report(const std::string& fault) {
  ScratchDirectory scratch;
  scratch.write("s.toml",
                "kernel = \"fallback\"\nprofile = \"b200\"\n[problem]\nm = 200\nn = 77\nk = 296\n[run]\nsms = 1\n"
                "[[fault]]\naction = \"drop\"\ncta = 1\noccurrence = 2\n" +
                    fault);
  const Ran ran = run(scratch, "run s.toml");
  CHECK(ran.exit_code == 3);
  return ran.out;
}

/// The kernel with warps 1-3 held up, and block barriers that may be missing.
struct Mutation {
  std::set<int>
      dropped;  ///< block barriers of each warp that are not executed: 0 is the set-up's, then one per k step
  bool slow_loads = false;  ///< warps 1-3 come late to their first tcgen05.ld
  bool slow_waits = false;  ///< warps 1-3 come late to their first mbarrier wait
};

class MutatedIsa : public SimIsa {
 public:
  MutatedIsa(Warp& warp, const models::DeviceProfile& profile, const Mutation& mutation)
      : SimIsa(warp, profile), mutation_(mutation) {}

  void bar_sync(int id, int threads, Loc loc = Loc::current()) {
    if (!mutation_.dropped.count(barriers_++)) SimIsa::bar_sync(id, threads, loc);
  }
  bool mbarrier_try_wait_parity(SmemAddr barrier, uint32_t parity, Scope scope, Loc loc = Loc::current()) {
    if (mutation_.slow_waits && waits_++ == 0) hold_up();
    return SimIsa::mbarrier_try_wait_parity(barrier, parity, scope, loc);
  }
  template <int R>
  LaneArray<uint32_t, 4 * R> tcgen05_ld_16x256b(TmemAddr address, Loc loc = Loc::current()) {
    if (mutation_.slow_loads && loads_++ == 0) hold_up();
    return SimIsa::tcgen05_ld_16x256b<R>(address, loc);
  }

 private:
  void hold_up() {
    if (warpid() != 0) for_each_lane(20000, [](int) {});
  }
  const Mutation& mutation_;
  int barriers_ = 0, waits_ = 0, loads_ = 0;
};
static_assert(Isa<MutatedIsa>);

/// One CTA with five k steps: block barriers 1 to 5 end them, 6 is in front of the deallocation.
struct MutatedRun {
  static constexpr int kSteps = 5;

  explicit MutatedRun(const Mutation& mutation) {
    const Scenario s = product(100, 61, 64 * kSteps, {.block_m = 128, .block_n = 64});
    const host::FallbackRun run(s);
    Kernel kernel = kernel_of(run);
    Device device(s.device, kernel,
                  {.sms = 1, .with_data = true, .accumulation = models::Accumulation::fast, .jitter_seed = {}},
                  nullptr);
    const auto tensors = allocate_tensors(host::plan_of(s), s, device.gpu.memory()).front();
    const FallbackParams params = run.params(tensors, [](const TensorMapFields& fields) { return encode(fields); });
    kernel.run_warp = [&](Warp& warp) {
      MutatedIsa isa(warp, s.device, mutation);
      fallback_kernel(isa, run.config(), params);
    };
    device.launch();
    sc_core::sc_start();  // to the end, the first violation, or the hang
    finished = device.observer.ctas_exited() == 1;
    if (!device.observer.violations().empty()) {
      violation = device.observer.violations().front().id;
      warp = device.observer.violations().front().source.warp;
      message = device.observer.violations().front().message;
    }
    if (finished && violation.empty()) {
      std::vector<const uint8_t*> bytes;
      for (size_t i = 0; i < tensors.size(); ++i)
        bytes.push_back(device.gpu.memory().data(tensors[i], run.tensors()[i].bytes));
      verified = run.check(bytes).ok;
    }
  }

  bool finished = false, verified = false;
  std::string violation, message;
  int warp = -1;
};

}  // namespace

TEST_CASE("random products of the fallback kernel verify, batch 1", "[sweep]") { run_batch(21); }
TEST_CASE("random products of the fallback kernel verify, batch 2", "[sweep]") { run_batch(22); }
TEST_CASE("random products of the fallback kernel verify, batch 3", "[sweep]") { run_batch(23); }

TEST_CASE("neighbours of an element that the fallback kernel must not store stay as they were", "[fallback]") {
  // 65 rows and 63 columns of a tile of 128 x 64: what lies past a row's end is the next row's beginning, so a
  // store without its guard shows as a wrong element there, and one past the last row as a finding.
  for (const DataType output : {DataType::bf16, DataType::f32})
    for (const int n : {1, 2, 3, 62, 63, 64, 65}) {
      CAPTURE(name(output), n);
      const RunResult r = run_in_child(product(65, n, 72, {.output = output, .block_m = 128, .block_n = 64}));
      CAPTURE(said(r));
      CHECK(r.verified);
    }
}

TEST_CASE("a fallback CTA without its commit, its expect_tx or a copy: the report names what is missing",
          "[fallback]") {
  const std::string commit = report("instruction = \"tcgen05_commit\"\n");
  CHECK_THAT(commit, Catch::Contains("4 of 4 warps of CTA 1 can never wake"));
  CHECK_THAT(commit, Catch::Contains("warp (warps 0-3) of CTA 1 waits for mma[0] parity 0"));
  CHECK_THAT(commit, Catch::Contains("phase 2 misses 1 of 1 arrivals: tcgen05.commit of warp (warp 0) of CTA 1"));
  CHECK_THAT(commit,
             Catch::Contains("likely cause: warp waits for its own tcgen05.commit on mma[0], which is missing"));
  const std::string armed = report("instruction = \"mbarrier_arrive_expect_tx\"\n");
  CHECK_THAT(armed, Catch::Contains("warp (warps 0-3) of CTA 1 waits for tma[0] parity 0"));
  CHECK_THAT(armed, Catch::Contains("likely cause: 32,768 bytes were delivered to a phase that nobody armed"));
  const std::string copy = report("instruction = \"cp_async_bulk_tensor_shared_global\"\n");
  CHECK_THAT(copy, Catch::Contains("warp (warps 0-3) of CTA 1 waits for tma[0] parity 1"));
  CHECK_THAT(copy, Catch::Contains("likely cause: warp has gone on without a copy of 16,384 bytes into stage 0"));
}

// KB-20: a warp that reads its accumulators after warp 0 has freed tensor memory.
TEST_CASE("late accumulator loads: the block barrier holds the deallocation back", "[fallback]") {
  const MutatedRun sound({.slow_loads = true});
  CAPTURE(sound.message);
  CHECK(sound.finished);
  CHECK(sound.verified);
}
TEST_CASE("late accumulator loads without the block barrier read freed tensor memory", "[fallback]") {
  const MutatedRun broken({.dropped = {MutatedRun::kSteps + 1}, .slow_loads = true});
  CAPTURE(broken.message);
  CHECK(broken.violation == "TC1");
  CHECK(broken.warp > 0);
}

// A parity tells a phase from its neighbours only: a warp that is two k steps behind waits for the wrong one.
TEST_CASE("late warps: the block barrier of each k step keeps warp 0 from running ahead", "[fallback]") {
  const MutatedRun sound({.slow_waits = true});
  CAPTURE(sound.message);
  CHECK(sound.finished);
  CHECK(sound.verified);
}
TEST_CASE("late warps without the block barriers of the k steps wait for a phase that never comes", "[fallback]") {
  const MutatedRun broken({.dropped = {1, 2, 3, 4, 5}, .slow_waits = true});
  CAPTURE(broken.message);
  CHECK(broken.violation == "");
  CHECK_FALSE(broken.finished);
}

TEST_CASE("global stores of lanes whose predicate holds, inside an allocation and aligned", "[fallback]") {
  const Scenario s = product(1, 1, 8, {});
  Kernel kernel;
  kernel.grid = {1, 1, 1};
  kernel.warps = 1;
  kernel.smem_bytes = 1024;
  kernel.roles = {"test"};
  Device device(s.device, kernel,
                {.sms = 1, .with_data = true, .accumulation = models::Accumulation::fast, .jitter_seed = {}},
                nullptr);
  const GlobalAddr memory = device.gpu.memory().allocate("words", 64, true);
  const auto store = [&](SimIsa& isa, uint64_t stride, int lanes, bool half) {
    LaneArray<GlobalAddr, 1> address;
    LaneArray<uint32_t, 1> value;
    LaneArray<bool, 1> inside;
    isa.for_each_lane(1, [&](int lane) {
      address[lane][0] = memory + stride * uint64_t(lane);
      value[lane][0] = 0xabcd0100u + uint32_t(lane);
      inside[lane][0] = lane < lanes;
    });
    half ? isa.st_global_b16(address, value, inside) : isa.st_global_b32(address, value, inside);
  };
  std::vector<std::string> found;
  kernel.run_warp = [&](Warp& warp) {
    SimIsa isa(warp, s.device);
    const auto violations = [&] { return device.observer.violations().size(); };
    store(isa, 2, 5, true);  // the upper halves go nowhere
    const auto* halves = reinterpret_cast<const uint16_t*>(device.gpu.memory().data(memory, 64));
    CHECK(halves[0] == 0x0100);
    CHECK(halves[4] == 0x0104);
    CHECK(halves[5] == 0);
    store(isa, 4, 16, false);  // all 64 bytes
    CHECK(device.gpu.memory().data(memory, 64)[63] == 0xab);
    CHECK(violations() == 0);
    store(isa, 4, 17, false);
    CHECK(violations() == 1);
    store(isa, 2, 2, false);
    CHECK(violations() == 2);
  };
  device.launch();
  sc_core::sc_start();
  REQUIRE(device.observer.violations().size() == 2);
  CHECK(device.observer.violations()[0].id == std::string("GM1"));
  CHECK_THAT(device.observer.violations()[0].message,
             Catch::Contains("st.global.b32 of 4 bytes at 0x7f0000000040 by lane 16, which no allocation holds"));
  CHECK(device.observer.violations()[1].id == std::string("GM2"));
}

TEST_CASE("random configurations have no findings with provenance and strict scopes: fallback",
          "[sweep][explained]") {
  check_explained<RandomProducts>();
}
