// SPDX-License-Identifier: Apache-2.0
// Allocation rules and load maps of tensor memory (PTX 9.7.16).
#include "models/tensor_memory.h"

#include <cstring>

#include "catch.h"
#include "models/fixture.h"

using namespace sm100;
using namespace sm100::models;

namespace {
struct Bench {
  RecordingObserver observer;
  TensorMemoryBank bank{true};
  TensorMemory tmem{0, bank, observer};
  Waiter waiter;
  std::optional<uint32_t> alloc(uint32_t columns) { return tmem.alloc(columns, waiter, {}); }
};
}  // namespace

TEST_CASE("the first allocation starts at column 0 and the next is lowest first", "[tmem]") {
  Bench b;
  CHECK(b.alloc(256) == 0u);
  CHECK(b.alloc(128) == 256u);
  b.tmem.dealloc(TmemAddr::at(0, 0), 256, {});
  CHECK(b.alloc(64) == 0u);
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("an allocation that does not fit waits until columns are freed", "[tmem]") {
  Bench b;
  REQUIRE(b.alloc(512) == 0u);
  CHECK_FALSE(b.alloc(512).has_value());
  bool woken = false;
  Stimulus waits([&] {
    models::wait(b.waiter.wake);
    woken = true;
  });
  Stimulus frees([&] {
    models::wait(10);
    b.tmem.dealloc(TmemAddr::at(0, 0), 512, {});
  });
  sc_core::sc_start();
  CHECK(woken);
}

TEST_CASE("what tcgen05.st stores, tcgen05.ld of the same shape loads", "[tmem]") {
  Bench b;
  b.alloc(64);
  for (TmemShape shape : {TmemShape::s32x32b, TmemShape::s16x64b, TmemShape::s16x128b, TmemShape::s16x256b}) {
    const int registers = registers_per_thread(shape, 2);
    std::vector<uint32_t> stored(size_t(kWarpLanes * registers)), loaded(stored.size());
    for (size_t i = 0; i < stored.size(); ++i) stored[i] = uint32_t(1000 + i);
    b.tmem.store(shape, 2, TmemAddr::at(32, 8), 1, stored.data(), {});
    b.tmem.load(shape, 2, TmemAddr::at(32, 8), 1, loaded.data(), {});
    CHECK(loaded == stored);
    // Register r of thread t lies where the shape says, in the quarter of warp 1.
    const TmemCell c = tmem_cell(shape, 5, registers - 1);
    CHECK(b.tmem.cell(32 + c.lane, 8 + c.column) == stored[size_t(5 * registers + registers - 1)]);
    CHECK(b.observer.violation_id() == "");
  }
}

TEST_CASE("16x32bx2: the upper threads' columns are those from the split on", "[tmem]") {
  Bench b;
  b.alloc(64);
  constexpr int kSplit = 16;
  std::vector<uint32_t> stored(size_t(kWarpLanes * 2)), loaded(stored.size());
  for (size_t i = 0; i < stored.size(); ++i) stored[i] = uint32_t(1000 + i);
  b.tmem.store(TmemShape::s16x32bx2, 2, TmemAddr::at(16, 8), 0, stored.data(), {}, kSplit);
  b.tmem.load(TmemShape::s16x32bx2, 2, TmemAddr::at(16, 8), 0, loaded.data(), {}, kSplit);
  CHECK(loaded == stored);
  CHECK(b.tmem.cell(16 + 5, 8 + 1) == stored[2 * 5 + 1]);
  CHECK(b.tmem.cell(16 + 5, 8 + kSplit) == stored[2 * (16 + 5)]);
  CHECK(b.observer.violation_id() == "");
  b.tmem.load(TmemShape::s16x32bx2, 2, TmemAddr::at(16, 8), 0, loaded.data(), {}, 60);
  CHECK(b.observer.violation_id() == "TC1");
}

TEST_CASE("tcgen05.st outside an allocation is TC1, at a wrong lane TC2", "[tmem]") {
  Bench b;
  b.alloc(32);
  uint32_t registers[kWarpLanes * 4] = {};
  SECTION("outside") {
    b.tmem.store(TmemShape::s16x256b, 1, TmemAddr::at(0, 28), 0, registers, {});
    CHECK(b.observer.violation_id() == "TC1");
  }
  SECTION("wrong lane") {
    b.tmem.store(TmemShape::s16x256b, 1, TmemAddr::at(8, 0), 0, registers, {});
    CHECK(b.observer.violation_id() == "TC2");
  }
}

TEST_CASE("TC2 warns of a ld or st that names another warp's quarter, and the own one is read", "[tmem]") {
  Bench b;
  b.alloc(32);
  uint32_t registers[kWarpLanes] = {};
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) registers[lane] = 100 + lane;
  SECTION("no") {
    b.tmem.store(TmemShape::s32x32b, 1, TmemAddr::at(96, 0), 7, registers, {});
    CHECK(b.observer.violation_id() == "");
  }
  SECTION("st") {
    b.tmem.store(TmemShape::s32x32b, 1, TmemAddr::at(32, 0), 2, registers, {});
    REQUIRE(b.observer.violation_id() == "TC2");
    CHECK(b.observer.violations[0].warning);
    CHECK(b.tmem.cell(64 + 5, 0) == 105);
  }
  SECTION("ld") {
    b.tmem.store(TmemShape::s32x32b, 1, TmemAddr::at(64, 0), 2, registers, {});
    uint32_t loaded[kWarpLanes] = {};
    b.tmem.load(TmemShape::s32x32b, 1, TmemAddr::at(0, 0), 2, loaded, {});  // as DeepGEMM does
    REQUIRE(b.observer.violation_id() == "TC2");
    CHECK(b.observer.violations[0].warning);
    CHECK(b.observer.violations[0].message ==
          "tcgen05.ld.32x32b at lane 0 by warp 2: a warp reaches its own quarter only, lanes 64 to 95; hardware "
          "ignores "
          "the other one's number, and so does the model");
    CHECK(loaded[5] == 105);
  }
}

TEST_CASE("TC13: columns that nobody has written since their allocation", "[tmem]") {
  Bench b;
  b.alloc(64);
  uint32_t registers[kWarpLanes * 8] = {};
  const Source reader{.warp = 1};
  const auto load = [&](uint32_t column) {
    b.tmem.load(TmemShape::s32x32b, 8, TmemAddr::at(32, column), 1, registers, reader);
  };
  b.tmem.store(TmemShape::s32x32b, 8, TmemAddr::at(32, 0), 1, registers, {});
  load(0);
  CHECK(b.observer.violation_id() == "");
  SECTION("none") {
    load(8);
    REQUIRE(b.observer.violation_id() == "TC13");
    const Violation& v = b.observer.violations[0];
    CHECK(v.message == "tcgen05.ld.32x32b.x8 reads columns 8 to 15, which nobody has written since tcgen05.alloc");
    CHECK(v.suspect);
    CHECK_FALSE(v.warning);
    CHECK(v.source.warp == 1);
  }
  SECTION("a part") {
    load(4);
    REQUIRE(b.observer.violation_id() == "TC13");
    CHECK(b.observer.violations[0].message ==
          "tcgen05.ld.32x32b.x8 reads columns 4 to 11, of which nobody has written all lanes of columns 8 to 11 "
          "since "
          "tcgen05.alloc");
  }
  SECTION("another quarter's lanes") {
    b.tmem.load(TmemShape::s32x32b, 8, TmemAddr::at(64, 0), 2, registers, reader);
    CHECK(b.observer.violation_id() == "TC13");
  }
  SECTION("what the CTA before has left") {
    b.tmem.dealloc(TmemAddr::at(0, 0), 64, {});
    b.tmem.start_cta();
    b.alloc(64);
    load(0);
    CHECK(b.observer.violation_id() == "TC13");
  }
}

TEST_CASE("TC13 without data: a warning, and only where nothing of what is read was written", "[tmem]") {
  RecordingObserver observer;
  TensorMemoryBank bank{false};
  TensorMemory tmem{0, bank, observer};
  Waiter waiter;
  tmem.alloc(64, waiter, {});
  uint32_t registers[kWarpLanes * 8] = {};
  tmem.store(TmemShape::s32x32b, 8, TmemAddr::at(0, 0), 0, registers, {});
  tmem.load(TmemShape::s32x32b, 8, TmemAddr::at(0, 4), 0, registers, {});
  CHECK(observer.violation_id() == "");
  tmem.load(TmemShape::s32x32b, 8, TmemAddr::at(0, 8), 0, registers, {});
  REQUIRE(observer.violation_id() == "TC13");
  CHECK(observer.violations[0].warning);
  CHECK_FALSE(observer.violations[0].suspect);
}

TEST_CASE("allocation misuse is named TC9", "[tmem]") {
  Bench b;
  SECTION("96 columns") {
    b.alloc(96);
    CHECK(b.observer.violation_id() == "TC9");
  }
  SECTION("16 columns") {
    b.alloc(16);
    CHECK(b.observer.violation_id() == "TC9");
  }
  SECTION("growing") {
    b.alloc(32);
    b.alloc(64);
    CHECK(b.observer.violation_id() == "TC9");
  }
  SECTION("after relinquish") {
    b.tmem.relinquish_alloc_permit();
    b.alloc(32);
    CHECK(b.observer.violation_id() == "TC9");
  }
  SECTION("dealloc of what was not allocated") {
    b.alloc(64);
    b.tmem.dealloc(TmemAddr::at(0, 0), 32, {});
    CHECK(b.observer.violation_id() == "TC9");
  }
}

TEST_CASE("loads follow the register maps of each shape", "[tmem]") {
  Bench b;
  b.alloc(64);
  for (uint32_t lane = 0; lane < 128; ++lane)
    for (uint32_t column = 0; column < 64; ++column) b.tmem.cell(lane, column) = lane * 1000 + column;
  b.tmem.wrote(0, 64, 0xff);
  uint32_t r[32 * 8];
  SECTION("32x32b.x2") {
    b.tmem.load(TmemShape::s32x32b, 2, TmemAddr::at(0, 0), 0, r, {});
    CHECK(r[5 * 2] == 5000);
    CHECK(r[5 * 2 + 1] == 5001);
  }
  SECTION("16x256b.x1") {
    b.tmem.load(TmemShape::s16x256b, 1, TmemAddr::at(0, 0), 0, r, {});
    const uint32_t thread5[] = {1002, 1003, 9002, 9003};
    CHECK(std::memcmp(&r[5 * 4], thread5, sizeof thread5) == 0);
  }
  SECTION("a warp reads its own quarter, whatever the subpartition bits say") {
    b.tmem.load(TmemShape::s32x32b, 1, TmemAddr::at(0, 3), 2, r, {});
    CHECK(r[0] == 64003);
    b.tmem.load(TmemShape::s32x32b, 1, TmemAddr::at(64, 3), 2, r, {});
    CHECK(r[0] == 64003);
    b.tmem.load(TmemShape::s16x256b, 1, TmemAddr::at(80, 0), 2, r, {});
    CHECK(r[0] == 80000);
    REQUIRE(b.observer.violation_id() == "TC2");  // of the first
    CHECK(b.observer.violations[0].warning);
    b.observer.violations.clear();
  }
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("loads outside an allocation and at a wrong lane are named", "[tmem]") {
  Bench b;
  b.alloc(32);
  uint32_t r[32 * 64];
  SECTION("TC1") {
    b.tmem.load(TmemShape::s16x256b, 4, TmemAddr::at(0, 8), 0, r, {});
    CHECK(b.observer.violation_id() == "TC1");
  }
  SECTION("TC1: past the last column") {
    b.tmem.load(TmemShape::s16x256b, 1, TmemAddr::at(0, kTmemColumns), 0, r, {});
    CHECK(b.observer.violation_id() == "TC1");
  }
  SECTION("TC2: 32x32b at lane 16") {
    b.tmem.load(TmemShape::s32x32b, 1, TmemAddr::at(16, 0), 0, r, {});
    CHECK(b.observer.violation_id() == "TC2");
  }
  SECTION("TC2: 16x256b at lane 8") {
    b.tmem.load(TmemShape::s16x256b, 1, TmemAddr::at(8, 0), 0, r, {});
    CHECK(b.observer.violation_id() == "TC2");
  }
}
