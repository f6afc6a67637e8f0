// SPDX-License-Identifier: Apache-2.0
// Small warp programs on the model: what the seam does with operands that hardware would trap on or that PTX
// leaves undefined, and that running ahead of the clock changes no order that a program relies on.
#include "sim/sim_isa.h"

#include <optional>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "sim/device.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr SmemAddr kBar{0x400}, kData{0x800};

/// One CTA of a few warps, each with its own program.
struct Program {
  explicit Program(int warps) {
    kernel.grid = {1, 1, 1};
    kernel.warps = warps;
    kernel.smem_bytes = 64 * 1024;
    kernel.roles.assign(size_t(warps), "test");
    programs.resize(size_t(warps));
    kernel.run_warp = [this](Warp& warp) {
      SimIsa isa(warp, profile);
      if (programs[size_t(warp.index)]) programs[size_t(warp.index)](isa);
    };
    device.emplace(profile, kernel,
                   models::Gpu::Options{
                       .sms = 1, .with_data = true, .accumulation = models::Accumulation::fast, .jitter_seed = {}},
                   nullptr);
  }
  void run() {
    device->launch();
    sc_core::sc_start();
  }
  std::string violation() const {
    const auto& v = device->observer.violations();
    return v.empty() ? "" : v.front().id;
  }
  std::string warning() const {
    const auto& w = device->observer.warnings();
    return w.empty() ? "" : w.front().id;
  }

  models::DeviceProfile profile = host::load_profile("b200");
  Kernel kernel;
  std::vector<std::function<void(SimIsa&)>> programs;
  std::optional<Device> device;
};

/// A one-warp program that must end in the given violation.
std::string violation_of(std::function<void(SimIsa&)> program) {
  Program p(1);
  p.programs[0] = std::move(program);
  p.run();
  return p.violation();
}

TensorMap row_of_words(GlobalAddr address) {
  TensorMapFields f;
  f.data_type = TensorMapDataType::uint32;
  f.rank = 1;
  f.global_address = address.value;
  f.global_dim[0] = 32;
  f.box_dim[0] = 32;
  f.element_stride[0] = 1;
  return encode(f);
}

void store_word(SimIsa& isa, uint32_t value) {
  LaneArray<SmemAddr, 1> address;
  LaneArray<uint32_t, 2> values;
  for (int lane = 0; lane < 32; ++lane) {
    address[lane][0] = kData + 8u * uint32_t(lane % 16);
    values[lane][0] = values[lane][1] = value;
  }
  isa.st_shared_v2(address, values);
}

}  // namespace

TEST_CASE("a strip rewritten after wait_group.read never shows in the store, however far the warp ran ahead",
          "[simisa]") {
  Program p(1);
  const GlobalAddr memory = p.device->gpu.memory().allocate("row", 128, true);
  const TensorMap map = row_of_words(memory);
  p.programs[0] = [&](SimIsa& isa) {
    store_word(isa, 111);
    isa.fence_proxy_async_shared_cta();
    isa.elected([&] {
      isa.cp_async_bulk_tensor_global_shared(&map, TensorCoords{0}, kData);
      isa.cp_async_bulk_commit_group();
    });
    isa.for_each_lane(2000, [](int) {});
    isa.cp_async_bulk_wait_group_read<0>();
    store_word(isa, 222);
  };
  p.run();
  CHECK(p.violation() == "");
  CHECK(*reinterpret_cast<uint32_t*>(p.device->gpu.memory().data(memory, 4)) == 111);
}

TEST_CASE("a commit covers its own thread's MMAs only", "[simisa]") {
  Program p(2);
  models::Cycles waited = 0;
  p.programs[0] = [&](SimIsa& isa) {
    isa.elected([&] { isa.mbarrier_init(kBar, 1); });
    isa.tcgen05_alloc(kBar + 8, 512, 1);
    isa.bar_sync(0, 64);
    const SmemDescriptor tile = make_smem_descriptor(kData, 16, 1024, Swizzle::b128);
    const InstrDescriptor idesc =
        make_instr_descriptor(MmaKind::f16, DataType::bf16, DataType::bf16, DataType::f32, 128, 128);
    isa.elected([&] {
      for (int i = 0; i < 64; ++i) isa.tcgen05_mma(MmaKind::f16, 1, TmemAddr::at(0, 0), tile, tile, idesc, false);
    });
    isa.bar_sync(1, 64);
    isa.for_each_lane(8000, [](int) {});
    isa.tcgen05_dealloc(TmemAddr::at(0, 0), 512, 1);
  };
  p.programs[1] = [&](SimIsa& isa) {
    isa.bar_sync(0, 64);
    isa.bar_sync(1, 64);
    isa.elected([&] { isa.tcgen05_commit(1, kBar); });
    const models::Cycles start = models::now();
    isa.mbarrier_try_wait_parity(kBar, 0, Scope::cta);
    waited = models::now() - start;
  };
  p.run();
  CHECK(p.violation() == "");
  CHECK(p.warning() == "TC12");
  CHECK(waited < 200);  // the MMAs take over 4,000 cycles
}

TEST_CASE("a block-scaled MMA multiplies by the scale factors that warps have stored", "[simisa]") {
  Program p(4);
  std::vector<float> d(4 * 32);
  const auto program = [&](SimIsa& isa, uint32_t warp) {
    if (warp == 0) {
      isa.elected([&] { isa.mbarrier_init(kBar, 1); });
      isa.tcgen05_alloc(kBar + 8, 512, 1);
    }
    LaneArray<uint32_t, 4> ones, scales;
    LaneArray<SmemAddr, 1> rows;
    for (int lane = 0; lane < kWarpLanes; ++lane)
      for (int i = 0; i < 4; ++i) ones[lane][i] = 0x22222222, scales[lane][i] = 0x40384038;  // 1; 2 and 1 in turn
    constexpr uint32_t kAllWarps = 4 * 32 * 16, kBytes = (128 + 64) * 32;                    // A and B
    for (uint32_t first = 0; first < kBytes; first += kAllWarps) {
      for (int lane = 0; lane < kWarpLanes; ++lane)
        rows[lane][0] = kData + first + (warp * 32 + uint32_t(lane)) * 16;
      isa.st_shared_v4(rows, ones);
    }
    isa.fence_proxy_async_shared_cta();
    isa.bar_sync(0, 128);  // there is tensor memory
    for (const uint32_t half : {0u, 16u}) isa.tcgen05_st_16x256b(TmemAddr::at(32 * warp + half, 256), scales);
    isa.tcgen05_wait_st();
    isa.tcgen05_fence_before_thread_sync();
    isa.bar_sync(0, 128);
    isa.tcgen05_fence_after_thread_sync();
    if (warp == 0)
      isa.elected([&] {
        const SmemDescriptor a = make_smem_descriptor(kData, 128, 256, Swizzle::none),
                             b = make_smem_descriptor(kData + 128 * 32, 128, 256, Swizzle::none);
        const InstrDescriptor idesc =
            make_instr_descriptor(MmaKind::mxf4nvf4, DataType::e2m1, DataType::e2m1, DataType::f32, 128, 64);
        isa.tcgen05_mma_block_scale(MmaKind::mxf4nvf4, 1, ScaleVec::x4, TmemAddr::at(0, 0), a, b, idesc,
                                    TmemAddr::at(0, 256), TmemAddr::at(0, 260), false);
        isa.tcgen05_commit(1, kBar);
      });
    isa.mbarrier_try_wait_parity(kBar, 0, Scope::cta);
    isa.tcgen05_fence_after_thread_sync();
    auto loaded = isa.tcgen05_ld_32x32b<1>(TmemAddr::at(32 * warp, 63));
    isa.tcgen05_wait_ld(loaded);
    for (uint32_t lane = 0; lane < 32; ++lane) d[warp * 32 + lane] = as_float(loaded[int(lane)][0]);
    isa.bar_sync(0, 128);
    if (warp == 0) isa.tcgen05_dealloc(TmemAddr::at(0, 0), 512, 1);
  };
  for (uint32_t warp = 0; warp < 4; ++warp) p.programs[warp] = [&, warp](SimIsa& isa) { program(isa, warp); };
  p.run();
  CHECK(p.violation() == "");
  for (const float x : d) CHECK(x == 2 * 16 + 2 * 16 * 4);
}

TEST_CASE("MB3: waiting on an address far outside shared memory", "[simisa]") {
  CHECK(violation_of([](SimIsa& isa) { isa.mbarrier_try_wait_parity({0xC00000}, 0, Scope::cta); }) == "MB3");
}
TEST_CASE("MB8: parity 2", "[simisa]") {
  CHECK(violation_of([](SimIsa& isa) {
          isa.elected([&] { isa.mbarrier_init(kBar, 1); });
          isa.mbarrier_try_wait_parity(kBar, 2, Scope::cta);
        }) == "MB8");
}
TEST_CASE("MB2: 32 lanes initialise one barrier", "[simisa]") {
  CHECK(violation_of([](SimIsa& isa) { isa.mbarrier_init(kBar, 1); }) == "MB2");
}
TEST_CASE("MB3: a shared::cta address with another CTA's rank", "[simisa]") {
  CHECK(violation_of([](SimIsa& isa) { isa.ld_shared_u32({0x05001000}); }) == "MB3");
}
TEST_CASE("SM2: misaligned shared access", "[simisa]") {
  CHECK(violation_of([](SimIsa& isa) { isa.ld_shared_b128({0x1004}); }) == "SM2");
}
TEST_CASE("SM2: misaligned store of 16 bytes", "[simisa]") {
  CHECK(violation_of([](SimIsa& isa) { isa.st_shared_b128({0x1008}, {}); }) == "SM2");
}
TEST_CASE("GM1: a word for all lanes from where nothing is allocated", "[simisa]") {
  CHECK(violation_of([](SimIsa& isa) { isa.ld_global_u32({0x1000}); }) == "GM1");
}
TEST_CASE("SM1: shared access past the CTA's memory", "[simisa]") {
  CHECK(violation_of([](SimIsa& isa) { isa.ld_shared_u32({0x30000}); }) == "SM1");
}
TEST_CASE("TC2: tcgen05.alloc by one lane", "[simisa]") {
  CHECK(violation_of([](SimIsa& isa) { isa.elected([&] { isa.tcgen05_alloc(kBar, 512, 1); }); }) == "TC2");
}
TEST_CASE("CL3: the id of a failed CLC response", "[simisa]") {
  CHECK(violation_of([](SimIsa& isa) {
          isa.clusterlaunchcontrol_query_cancel_get_first_ctaid(make_clc_response(false, {}));
        }) == "CL3");
}
TEST_CASE("TM2: a box of 2^32 bytes does not wrap around to nothing", "[simisa]") {
  CHECK(violation_of([](SimIsa& isa) {
          TensorMapFields f;
          f.data_type = TensorMapDataType::uint8;
          f.rank = 4;
          f.global_address = 0x10000;
          for (int i = 0; i < 4; ++i) {
            f.global_dim[i] = 1024;
            f.box_dim[i] = 256;
            f.element_stride[i] = 1;
          }
          for (int i = 0; i < 3; ++i) f.global_stride[i] = uint64_t{1024} << (10 * i);
          const TensorMap map = encode(f);
          isa.elected([&] {
            isa.mbarrier_init(kBar, 1);
            isa.cp_async_bulk_tensor_shared_global(kData, &map, TensorCoords{0, 0, 0, 0}, kBar);
          });
        }) == "TM2");
}
TEST_CASE("TC9: exit with tensor memory still allocated", "[simisa]") {
  CHECK(violation_of([](SimIsa& isa) { isa.tcgen05_alloc(kBar, 32, 1); }) == "TC9");
}
TEST_CASE("MB10: exit with bytes still expected", "[simisa]") {
  Program p(1);
  p.kernel.barriers.push_back({"full", kBar, 1, 1, "test", "mbarrier.arrive.expect_tx", "test"});
  p.programs[0] = [](SimIsa& isa) {
    isa.elected([&] {
      isa.mbarrier_init(kBar, 1);
      isa.mbarrier_arrive_expect_tx(kBar, 64, Scope::cta);
    });
  };
  p.run();
  CHECK(p.violation() == "MB10");
}
TEST_CASE("a barrier left with pending arrivals at exit is a warning only", "[simisa]") {
  Program p(1);
  p.kernel.barriers.push_back({"empty", kBar, 1, 2, "test", "mbarrier.arrive", "test"});
  p.programs[0] = [](SimIsa& isa) {
    isa.elected([&] {
      isa.mbarrier_init(kBar, 2);
      isa.mbarrier_arrive(kBar, Scope::cta);
    });
  };
  p.run();
  CHECK(p.violation() == "");
  CHECK(p.warning() == "MB10");
}

namespace {

/// One warp that initialises kBar for one arrival and goes on with `program`.
void with_barrier(Program& p, std::function<void(SimIsa&)> program) {
  p.programs[0] = [program = std::move(program)](SimIsa& isa) {
    isa.elected([&] { isa.mbarrier_init(kBar, 1); });
    program(isa);
  };
  p.run();
}
void arrive_once(SimIsa& isa) {
  isa.elected([&] { isa.mbarrier_arrive(kBar, Scope::cta); });
}

}  // namespace

TEST_CASE("MB8: a second wait of equal parity that passes on the phase already seen is a warning", "[simisa]") {
  Program p(1);
  with_barrier(p, [](SimIsa& isa) {
    isa.mbarrier_try_wait_parity(kBar, 1, Scope::cta);  // a producer's first lap
    arrive_once(isa);
    isa.mbarrier_try_wait_parity(kBar, 0, Scope::cta);
    CHECK(isa.mbarrier_try_wait_parity(kBar, 0, Scope::cta));
  });
  CHECK(p.violation() == "");
  REQUIRE(p.warning() == "MB8");
  CHECK_THAT(p.device->observer.warnings().front().message, Catch::Contains("passes at once on phase 0"));
}
TEST_CASE("a cursor may leave out two waits: parity 1 then names phase 3, which is open", "[simisa]") {
  Program p(2);
  p.programs[1] = [](SimIsa& isa) {
    isa.for_each_lane(5000, [](int) {});
    arrive_once(isa);
  };
  with_barrier(p, [](SimIsa& isa) {
    arrive_once(isa);
    isa.mbarrier_try_wait_parity(kBar, 0, Scope::cta);
    for (int i = 0; i < 2; ++i) arrive_once(isa);
    isa.mbarrier_try_wait_parity(kBar, 1, Scope::cta);
    CHECK(models::now() > 5000);
  });
  CHECK(p.violation() == "");
  CHECK(p.warning() == "");
}
TEST_CASE("a cursor may leave out a wait, and alternating parities are fine", "[simisa]") {
  Program p(1);
  with_barrier(p, [](SimIsa& isa) {
    for (uint32_t i = 0; i < 6; ++i) {
      arrive_once(isa);
      if (i != 3) isa.mbarrier_try_wait_parity(kBar, i & 1, Scope::cta);
    }
  });
  CHECK(p.violation() == "");
  CHECK(p.warning() == "");
}
TEST_CASE("MB15: an arrival by a role that the table does not list", "[simisa]") {
  Program p(2);
  p.kernel.roles = {"load", "mma"};
  p.kernel.barriers.push_back({"full", kBar, 1, 1, "load", "mbarrier.arrive", "load, mma"});
  p.programs[1] = [](SimIsa& isa) {
    isa.for_each_lane(100, [](int) {});
    arrive_once(isa);
  };
  with_barrier(p, [](SimIsa& isa) { isa.mbarrier_try_wait_parity(kBar, 0, Scope::cta); });
  REQUIRE(p.violation() == "MB15");
  CHECK(p.device->observer.violations().front().message ==
        "arrival on full[0] by mma: the kernel's barrier table lists load");
}
TEST_CASE("MB18: a wait by a role that the table does not list", "[simisa]") {
  Program p(2);
  p.kernel.roles = {"load", "mma"};
  p.kernel.barriers.push_back({"stage_empty", kBar, 1, 1, "load", "mbarrier.arrive", "mma"});
  p.kernel.barriers.push_back({"stage_full", kBar + 16, 1, 1, "load", "mbarrier.arrive", "load"});
  with_barrier(p, [](SimIsa& isa) { isa.mbarrier_try_wait_parity(kBar, 1, Scope::cta); });
  REQUIRE(p.violation() == "MB18");
  CHECK(
      p.device->observer.violations().front().message ==
      "load waits on stage_empty[0]: the kernel's barrier table lists mma; of this ring it waits on stage_full[0]");
}
TEST_CASE("MB16: arrivals on a barrier that nobody waits for are a warning", "[simisa]") {
  Program p(1);
  p.kernel.barriers.push_back({"full", kBar, 1, 1, "test", "mbarrier.arrive", "test"});
  with_barrier(p, arrive_once);
  CHECK(p.violation() == "");
  CHECK(p.warning() == "MB16");
}
TEST_CASE("TM9: exit while a bulk store still reads shared memory is a note", "[simisa]") {
  Program p(1);
  const TensorMap map = row_of_words(p.device->gpu.memory().allocate("row", 128, true));
  p.programs[0] = [&](SimIsa& isa) {
    isa.elected([&] {
      isa.cp_async_bulk_tensor_global_shared(&map, TensorCoords{0}, kData);
      isa.cp_async_bulk_commit_group();
    });
  };
  p.run();
  CHECK(p.violation() == "");
  CHECK(p.warning() == "");
  REQUIRE(p.device->observer.notes().size() == 1);
  CHECK(p.device->observer.notes().front().id == "TM9");
}
TEST_CASE("TC12: an MMA that two lanes issue is a warning", "[simisa]") {
  Program p(1);
  p.programs[0] = [](SimIsa& isa) {
    isa.tcgen05_alloc(kBar + 8, 512, 1);
    const SmemDescriptor tile = make_smem_descriptor(kData, 16, 1024, Swizzle::b128);
    const InstrDescriptor idesc =
        make_instr_descriptor(MmaKind::f16, DataType::bf16, DataType::bf16, DataType::f32, 128, 128);
    isa.lanes_below(2, [&] { isa.tcgen05_mma(MmaKind::f16, 1, TmemAddr::at(0, 0), tile, tile, idesc, false); });
    isa.for_each_lane(2000, [](int) {});
    isa.tcgen05_dealloc(TmemAddr::at(0, 0), 512, 1);
  };
  p.run();
  CHECK(p.violation() == "");
  CHECK(p.warning() == "TC12");
}
TEST_CASE("CL9: two warps decode different responses", "[simisa]") {
  Program p(2);
  p.kernel.roles = {"load", "mma"};
  for (uint32_t x : {0u, 1u})
    p.programs[x] = [x](SimIsa& isa) {
      isa.clusterlaunchcontrol_query_cancel_is_canceled(make_clc_response(true, {4, 0, 0}));
      isa.clusterlaunchcontrol_query_cancel_is_canceled(make_clc_response(x == 0, {5, 0, 0}));
    };
  p.run();
  REQUIRE(p.violation() == "CL9");
  const std::string message = p.device->observer.violations().front().message;
  CHECK_THAT(message, Catch::StartsWith("CLC response 1 reads as ") &&
                          Catch::Contains("CTA (5, 0, 0) in load of CTA 0") &&
                          Catch::Contains("the end of work in mma of CTA 0"));
}
