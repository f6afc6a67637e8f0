// Allocation rules and load maps of tensor memory (reference isa.md 3.2, 3.3).
#include "models/tensor_memory.h"

#include <cstring>

#include "catch.h"
#include "models/fixture.h"

using namespace sm100;
using namespace sm100::models;

namespace {
struct Bench {
  RecordingObserver observer;
  TensorMemory tmem{0, true, observer};
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
  Stimulus waits("waits", [&] {
    sc_core::wait(b.waiter.wake);
    woken = true;
  });
  Stimulus frees("frees", [&] {
    sc_core::wait(cycles(10));
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
