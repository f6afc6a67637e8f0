// SPDX-License-Identifier: Apache-2.0
// tcgen05.cp on the tensor pipe: which bytes land in which cells, in which order with MMAs, when, and what is
// refused.
#include "models/tensor_memory_copy.h"

#include <cstring>
#include <functional>

#include "catch.h"
#include "models/fixture.h"
#include "models/umma.h"

using namespace sm100;
using namespace sm100::models;

namespace {

using Shape = TmemCopyShape;
constexpr uint32_t kBar = 0x400, kSource = 0x1000, kTileB = 0x8000;

struct Bench {
  explicit Bench(bool with_data = true)
      : sm(sc_core::sc_gen_unique_name("sm"), 0, with_data),
        tmem(0, sm.tensor_memory, observer),
        umma(0, sm, Accumulation::fast, smem, tmem, barrier, profile, jitter, observer),
        peer_sm(sc_core::sc_gen_unique_name("sm"), 1, with_data),
        peer_tmem(1, peer_sm.tensor_memory, observer),
        peer(1, peer_sm, Accumulation::fast, peer_smem, peer_tmem, peer_barrier, profile, jitter, observer) {
    smem.start_cta(64 * 1024, true);
    peer_smem.start_cta(64 * 1024, true);
    for (uint32_t at = kSource; at < kSource + 8192; ++at) {
      *smem.data(at) = pattern(at);
      *peer_smem.data(at) = uint8_t(~pattern(at));
    }
    tmem.alloc(128, alloc_waiter, {});
    peer_tmem.alloc(128, alloc_waiter, {});
    barrier.init(kBar, 1, {});
    Umma::start_pair(umma, peer);
  }
  static uint8_t pattern(uint32_t at) { return uint8_t(at * 167 + (at >> 8) * 59 + 13); }

  /// Issues at once and waits for a commit; returns the cycle of its arrival.
  Cycles committed() {
    umma.commit(kBar, now(), {});
    barrier.wait_parity(kBar, parity, waiter);
    models::wait(waiter.wake);
    parity ^= 1;
    return now();
  }
  /// Byte `b` of the columns from `column` on.
  static uint8_t byte(TensorMemory& of, uint32_t lane, uint32_t column, uint32_t b) {
    return uint8_t(of.cell(lane, column + b / 4) >> (8 * (b % 4)));
  }

  DeviceProfile profile = b200();
  Jitter jitter{std::nullopt, profile};
  RecordingObserver observer;
  Sm sm;
  SharedMemory smem;
  Mbarrier barrier{0, smem, profile, jitter, observer};
  TensorMemory tmem;
  Umma umma;
  Sm peer_sm;  // of the pair's odd CTA
  SharedMemory peer_smem;
  Mbarrier peer_barrier{1, peer_smem, profile, jitter, observer};
  TensorMemory peer_tmem;
  Umma peer;
  Waiter waiter, alloc_waiter;
  uint32_t parity = 0;
};

void simulated(const std::function<void()>& body) {
  Stimulus stimulus(body);
  sc_core::sc_start();
}

/// Worked from the lane's side: the row of the source that a lane holds, -1: none.
int row_in_lane(Shape shape, int lane) {
  switch (shape) {
    case Shape::s128x256b:
    case Shape::s128x128b: return lane;
    case Shape::s4x256b: return lane % 32 == 0 ? lane / 32 : -1;
    case Shape::s64x128b_warpx2_02_13: return lane % 64;                     // quarters 0 and 2, 1 and 3 alike
    case Shape::s64x128b_warpx2_01_23: return 32 * (lane / 64) + lane % 32;  // 0 and 1, 2 and 3
    case Shape::s32x128b_warpx4: return lane % 32;
  }
  return -1;
}

constexpr Shape kShapes[] = {Shape::s128x256b,
                             Shape::s128x128b,
                             Shape::s4x256b,
                             Shape::s64x128b_warpx2_02_13,
                             Shape::s64x128b_warpx2_01_23,
                             Shape::s32x128b_warpx4};

}  // namespace

TEST_CASE("cp: every shape puts each byte of its rows where PTX says, and nothing elsewhere", "[cp]") {
  Bench b;
  simulated([&] {
    for (const Shape shape : kShapes) {
      CAPTURE(name(shape));
      const bool wide = shape == Shape::s128x256b || shape == Shape::s4x256b;
      constexpr uint32_t kColumn = 16, kLbo = 4096, kSbo = 160;  // rows of 8, with gaps
      for (uint32_t lane = 0; lane < 128; ++lane)
        for (uint32_t c = 0; c < 32; ++c) b.tmem.cell(lane, c) = kTmemPoison;
      b.umma.copy({.shape = shape,
                   .to = TmemAddr::at(0, kColumn),
                   .from = make_smem_descriptor({kSource}, kLbo, kSbo, Swizzle::none)},
                  now());
      CHECK(b.tmem.cell(0, kColumn) == kTmemPoison);  // asynchronous
      b.committed();
      for (uint32_t lane = 0; lane < 128; ++lane) {
        const int row = row_in_lane(shape, int(lane));
        for (uint32_t i = 0; i < 128; ++i) {  // 32 columns
          const bool written = row >= 0 && i >= 4 * kColumn && i < 4 * kColumn + (wide ? 32u : 16u);
          const uint32_t j = i - 4 * kColumn;
          const uint8_t expected = written ? Bench::pattern(kSource + uint32_t(row) / 8 * kSbo +
                                                            uint32_t(row) % 8 * 16 + j / 16 * kLbo + j % 16)
                                           : uint8_t(kTmemPoison >> (8 * (i % 4)));
          if (Bench::byte(b.tmem, lane, 0, i) != expected) {
            CAPTURE(lane, i);
            FAIL("another byte");
          }
        }
      }
    }
  });
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("cp: rows of a swizzled tile", "[cp]") {
  Bench b;
  simulated([&] {
    b.umma.copy({.shape = Shape::s128x256b,
                 .to = TmemAddr::at(0, 0),
                 .from = make_smem_descriptor({kSource + 32}, 0, 1024, Swizzle::b128)},
                now());
    b.committed();
    // 128 rows of 128 bytes would be 16 KiB; the pattern fills the first 64.
    for (uint32_t row = 0; row < 64; ++row)
      for (uint32_t i = 0; i < 32; ++i) {
        const uint32_t chunk = (2 + i / 16) ^ (row % 8);  // bytes 32 to 63 of the row, chunk by chunk
        REQUIRE(Bench::byte(b.tmem, row, 0, i) == Bench::pattern(kSource + 128 * row + 16 * chunk + i % 16));
      }
  });
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("cp: packed elements become bytes, padding goes nowhere", "[cp]") {
  Bench b;
  simulated([&] {
    const SmemDescriptor from = make_smem_descriptor({kSource}, 0, 128, Swizzle::none);
    b.umma.copy({.shape = Shape::s128x128b,
                 .decompression = TmemDecompression::b4x16_p64,
                 .to = TmemAddr::at(0, 0),
                 .from = from},
                now());
    b.umma.copy({.shape = Shape::s128x128b,
                 .decompression = TmemDecompression::b6x16_p32,
                 .to = TmemAddr::at(0, 4),
                 .from = from},
                now());
    b.committed();
    for (uint32_t row = 0; row < 128; ++row) {
      uint64_t low = 0, high = 0;  // 128 bits of the source, little-endian
      std::memcpy(&low, b.smem.data(kSource + 16 * row), 8);
      std::memcpy(&high, b.smem.data(kSource + 16 * row + 8), 8);
      const auto bits = [&](uint32_t first, uint32_t count) {
        uint32_t value = 0;
        for (uint32_t i = 0; i < count; ++i)
          value |= uint32_t((first + i < 64 ? low >> (first + i) : high >> (first + i - 64)) & 1) << i;
        return value;
      };
      for (uint32_t i = 0; i < 16; ++i) {
        REQUIRE(Bench::byte(b.tmem, row, 0, i) == bits(4 * i, 4) * 4);
        REQUIRE(Bench::byte(b.tmem, row, 4, i) == bits(6 * i, 6));
      }
    }
  });
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("cp: of a pair each CTA copies from its own shared memory", "[cp]") {
  Bench b;
  simulated([&] {
    b.umma.copy(
        {.cta_group = 2, .to = TmemAddr::at(0, 8), .from = make_smem_descriptor({kSource}, 0, 128, Swizzle::none)},
        now());
    b.committed();
    for (uint32_t lane = 0; lane < 128; ++lane)
      for (uint32_t i = 0; i < 16; ++i) {
        const uint8_t expected = Bench::pattern(kSource + lane % 32 * 16 + i);
        REQUIRE(Bench::byte(b.tmem, lane, 8, i) == expected);
        REQUIRE(Bench::byte(b.peer_tmem, lane, 8, i) == uint8_t(~expected));
      }
  });
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("cp: copies and MMAs of one group execute as issued: each MMA sees the A before it", "[cp]") {
  Bench b;
  simulated([&] {
    const auto fill = [&](uint32_t at, uint32_t bytes, uint16_t bf16) {
      for (uint32_t i = 0; i < bytes; i += 2) b.smem.store(at + i, bf16);
    };
    constexpr uint16_t kOne = 0x3f80, kTwo = 0x4000;
    fill(kSource, 4096, kOne), fill(kSource + 4096, 4096, kTwo), fill(kTileB, 16 * 32, kOne);
    constexpr uint32_t kA = 64;
    const auto a_from = [&](uint32_t at) {
      b.umma.copy({.shape = Shape::s128x256b,
                   .to = TmemAddr::at(0, kA),
                   .from = make_smem_descriptor({at}, 2048, 128, Swizzle::none)},
                  now());
    };
    const auto mma = [&](uint32_t d) {
      b.umma.mma(
          {.kind = MmaKind::f16,
           .d = TmemAddr::at(0, d),
           .a_in_tmem = true,
           .a_tmem = TmemAddr::at(0, kA),
           .b = make_smem_descriptor({kTileB}, 256, 128, Swizzle::none),
           .idesc = make_instr_descriptor(MmaKind::f16, DataType::bf16, DataType::bf16, DataType::f32, 128, 16)},
          now());
    };
    a_from(kSource), mma(0), a_from(kSource + 4096), mma(16), mma(32), a_from(kSource);
    b.committed();
    for (uint32_t lane : {0u, 77u, 127u}) {
      CHECK(b.tmem.lane(lane)[5] == 16.0f);   // 16 products of 1 and 1
      CHECK(b.tmem.lane(lane)[21] == 32.0f);  // of 2 and 1
      CHECK(b.tmem.lane(lane)[37] == 32.0f);
      CHECK(Bench::byte(b.tmem, lane, kA, 1) == kOne >> 8);  // the last copy
    }
  });
  CHECK(b.observer.violation_id() == "");  // A counts as written (TC13)
}

TEST_CASE("cp: its bytes take the pipe at the profile's rate, a commit comes after it", "[cp][timing]") {
  Bench b(false);
  simulated([&] {
    const auto took = [&](Shape shape, int copies, int cta_group = 1) {
      const Cycles start = now();
      for (int i = 0; i < copies; ++i)
        b.umma.copy({.shape = shape,
                     .cta_group = cta_group,
                     .to = TmemAddr::at(0, 0),
                     .from = make_smem_descriptor({kSource}, 4096, 128, Swizzle::none)},
                    start);
      const Cycles end = b.committed();
      models::wait(1000);
      return end - start;
    };
    // 128 bytes a cycle: 512 in 4 cycles, 4096 in 32, in each CTA of a pair.
    CHECK(took(Shape::s32x128b_warpx4, 9) - took(Shape::s32x128b_warpx4, 1) == 8 * 4);
    CHECK(took(Shape::s128x256b, 9) - took(Shape::s128x256b, 1) == 8 * 32);
    CHECK(took(Shape::s128x256b, 9, 2) - took(Shape::s128x256b, 1, 2) == 8 * 32);
    CHECK(took(Shape::s32x128b_warpx4, 1) > Cycles(b.profile.umma.commit_cycles));
  });
  CHECK(b.sm.tensor_pipe.busy_cycles == 0);  // the share of MMAs
  REQUIRE_FALSE(b.observer.spans.empty());
  CHECK(b.observer.spans[0].kind == UnitSpanKind::tmem_write);
  CHECK(b.observer.spans[0].columns == 4);
  CHECK(b.observer.spans[0].bytes == 512);
}

TEST_CASE("cp: illegal operands are named", "[cp]") {
  Bench b;
  const auto id_of = [&](TensorMemoryCopyCommand c) {
    b.observer.violations.clear();
    b.umma.copy(c, 0);
    return b.observer.violation_id();
  };
  const SmemDescriptor good = make_smem_descriptor({kSource}, 4096, 128, Swizzle::none);
  using Command = TensorMemoryCopyCommand;
  CHECK(id_of(Command{.to = TmemAddr::at(0, 124), .from = good}) == "");
  CHECK(id_of(Command{.to = TmemAddr::at(0, 128), .from = good}) == "TC1");  // 128 columns are allocated
  CHECK(id_of(Command{.shape = Shape::s128x256b, .to = TmemAddr::at(0, 124), .from = good}) == "TC1");
  CHECK(id_of(Command{.to = TmemAddr::at(0, 2), .from = good}) == "TC2");
  CHECK(id_of(Command{.to = TmemAddr::at(32, 0), .from = good}) == "TC2");
  CHECK(id_of(Command{.shape = Shape::s4x256b, .to = TmemAddr::at(31, 0), .from = good}) == "");
  CHECK(id_of(Command{.to = TmemAddr::at(0, 0), .from = SmemDescriptor{good.bits & ~(uint64_t{7} << 46)}}) ==
        "TC6");
  CHECK(id_of(Command{.to = TmemAddr::at(0, 0), .from = make_smem_descriptor({0x10300}, 0, 128, Swizzle::none)}) ==
        "TC7");  // its last row but 15 lies beyond 64 KiB
  CHECK(id_of(Command{.to = TmemAddr::at(0, 0), .from = make_smem_descriptor({0}, 0, 128, Swizzle::none)}) ==
        "TC7");
  CHECK(id_of(Command{.to = TmemAddr::at(0, 0),
                      .from = make_smem_descriptor({kSource}, 0, 1024, Swizzle::b128_atom_32b)}) ==
        "not-implemented");
  b.umma.start_cta();  // alone
  b.tmem.alloc(32, b.alloc_waiter, {});
  CHECK(id_of(Command{.cta_group = 2, .to = TmemAddr::at(0, 0), .from = good}) == "TC8");
}
