// SPDX-License-Identifier: Apache-2.0
// The copy engine alone: which bytes land where (PTX 5.5, 5.5.6, 9.7.9.25) and when.
#include "models/tma.h"

#include <cstring>

#include "catch.h"
#include "models/tma_units.h"

using namespace sm100;
using namespace sm100::models;

namespace {

constexpr uint32_t kBar = 0x400, kTile = 0x800;

/// A rows x columns matrix of u16 whose element (y, x) is 100 y + x, behind a fresh engine.
struct Bench : TmaUnits {
  Bench(int rows, int columns) : rows(rows), columns(columns) {
    smem.start_cta(64 * 1024, true);
    address = memory.allocate("matrix", uint64_t(rows * columns) * 2, true);
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) at(y, x) = uint16_t(100 * y + x);
    barrier.init(kBar, 1, {});
  }
  uint16_t& at(int y, int x) {
    return reinterpret_cast<uint16_t*>(memory.data(address, uint64_t(rows * columns) * 2))[y * columns + x];
  }

  TensorCopy copy(int box_rows, int box_columns, int y, int x, TensorMapSwizzle swizzle = TensorMapSwizzle::none) {
    TensorCopy c;
    c.map.data_type = TensorMapDataType::uint16;
    c.map.rank = 2;
    c.map.global_address = address.value;
    c.map.global_dim[0] = uint64_t(columns);
    c.map.global_dim[1] = uint64_t(rows);
    c.map.global_stride[0] = uint64_t(columns) * 2;
    c.map.box_dim[0] = uint32_t(box_columns);
    c.map.box_dim[1] = uint32_t(box_rows);
    c.map.element_stride[0] = c.map.element_stride[1] = 1;
    c.map.swizzle = swizzle;
    c.coords = {x, y};
    c.smem = kTile;
    c.barrier = kBar;
    c.source.warp = 0;
    return c;
  }
  uint16_t word(uint32_t offset) { return smem.load<uint16_t>(kTile + offset); }

  int rows, columns;
};

}  // namespace

TEST_CASE("a 128B-swizzled box puts chunk c of row y at chunk c ^ (y & 7)", "[tma]") {
  Bench b(16, 64);
  b.tma.load(b.copy(16, 64, 0, 0, TensorMapSwizzle::b128), 0);
  sc_core::sc_start();
  for (int y = 0; y < 16; ++y)
    for (int c = 0; c < 8; ++c) REQUIRE(b.word(uint32_t(128 * y + 16 * (c ^ (y & 7)))) == 100 * y + 8 * c);
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("a box over the edge fills with zeros and still signals the full box", "[tma]") {
  Bench b(10, 64);  // measured on H200: a 10-row tensor, box 64 x 16, completes 2048 bytes
  b.tma.load(b.copy(16, 64, 0, 0), 0);
  sc_core::sc_start();
  CHECK(b.word(9 * 128) == 900);
  CHECK(b.word(10 * 128) == 0);
  CHECK(b.word(15 * 128 + 126) == 0);
  CHECK(b.barrier.find(kBar)->received_bytes == 2048);
}

TEST_CASE("negative coordinates read zeros, and a box wholly outside moves nothing but counts all", "[tma]") {
  SECTION("negative") {
    Bench b(16, 64);
    b.tma.load(b.copy(8, 64, -3, -8), 0);
    sc_core::sc_start();
    CHECK(b.word(2 * 128 + 16) == 0);
    CHECK(b.word(3 * 128) == 0);
    CHECK(b.word(3 * 128 + 16) == 0);  // element (0, 0)
    CHECK(b.word(4 * 128 + 18) == 101);
  }
}

TEST_CASE("a box wholly outside the tensor completes its full byte count", "[tma]") {
  Bench b(16, 64);
  b.tma.load(b.copy(8, 64, 64, 0), 0);
  sc_core::sc_start();
  CHECK(b.word(0) == 0);
  CHECK(b.barrier.find(kBar)->received_bytes == 1024);
}

TEST_CASE("an inner box narrower than the swizzle span keeps the span as its pitch", "[tma]") {
  Bench b(16,
          64);  // 64-byte rows under 128B swizzle: rows 4-7 use the upper half of their line (measured on H200)
  b.tma.load(b.copy(8, 32, 0, 0, TensorMapSwizzle::b128), 0);
  sc_core::sc_start();
  for (int y = 0; y < 8; ++y)
    for (int c = 0; c < 4; ++c) REQUIRE(b.word(uint32_t(128 * y + 16 * (c ^ y))) == 100 * y + 8 * c);
  CHECK(b.word(64) == 0xffff);  // not written
  CHECK(b.barrier.find(kBar)->received_bytes == 512);
}

TEST_CASE("a store clips at the upper edge and unswizzles", "[tma]") {
  Bench b(10, 40);
  for (uint32_t y = 0; y < 16; ++y)
    for (uint32_t x = 0; x < 32; ++x)
      b.smem.store<uint16_t>(kTile + swizzle_address(Swizzle::b64, 64 * y + 2 * x), uint16_t(5000 + 32 * y + x));
  b.tma.store(b.copy(16, 32, 4, 16, TensorMapSwizzle::b64), 0);
  sc_core::sc_start();
  CHECK(b.at(3, 16) == 316);  // above the box
  CHECK(b.at(4, 15) == 415);  // left of it
  CHECK(b.at(4, 16) == 5000);
  CHECK(b.at(9, 39) == 5000 + 32 * 5 + 23);
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("a store writes 16-byte chunks whole: a row that ends inside one spills into its padding", "[tma]") {
  Bench b(4, 64);
  TensorCopy c = b.copy(4, 32, 0, 0);  // a tensor 20 columns wide in rows of 64: 40 bytes, two and a half chunks
  c.map.global_dim[0] = 20;
  for (uint32_t i = 0; i < 4 * 32; ++i) b.smem.store<uint16_t>(kTile + 2 * i, uint16_t(5000 + i));
  b.tma.store(c, 0);
  sc_core::sc_start();
  CHECK(b.at(1, 19) == 5000 + 32 + 19);  // the last element of the tensor
  CHECK(b.at(1, 23) == 5000 + 32 + 23);  // measured on H200: the rest of its chunk
  CHECK(b.at(1, 24) == 124);             // the next chunk is left alone
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("an L2 hit takes the profile's latency plus one cycle per row, and rows of two copies queue",
          "[tma][timing]") {
  Bench b(128, 64);
  b.profile.tma.request_bytes_per_cycle = b.profile.memory.l2_tb_per_s = 1e9;  // asked for and answered at once
  b.profile.memory.l2_read_tb_per_s = b.profile.memory.l2_gpc_tb_per_s = 1e9;
  b.profile.tma.load_latency_cycles_per_line = 0;
  const Cycles latency =
      Cycles(b.profile.tma.load_latency_cycles) + b.profile.cycles_of_ns(b.profile.memory.l2_hit_ns);
  b.tma.load(b.copy(128, 64, 0, 0), 0);  // cold: brings the lines into L2
  Stimulus later([&] {
    models::wait(5000);
    b.tma.load(b.copy(128, 64, 0, 0), now());
    b.tma.load(b.copy(64, 64, 0, 0), now());
  });
  sc_core::sc_start();
  REQUIRE(b.observer.spans.size() == 3);
  CHECK(b.observer.spans[0].end > latency + 128);  // missed L2
  CHECK(b.observer.spans[1].end - 5000 == latency + 128);
  CHECK(b.observer.spans[2].end - 5000 == latency + 128 + 64);
}

TEST_CASE("copies of an SM ask L2 one after the other", "[tma][timing]") {
  Bench b(128, 64);
  b.profile.memory.l2_tb_per_s = b.profile.memory.l2_read_tb_per_s = b.profile.memory.l2_gpc_tb_per_s = 1e9;
  b.profile.tma.load_latency_cycles_per_line = 0;
  b.profile.tma.request_bytes_per_cycle = 16;
  b.memory.warm(b.address, 128 * 128);
  const Cycles hit = b.profile.cycles_of_ns(b.profile.memory.l2_hit_ns),
               first = Cycles(b.profile.tma.load_latency_cycles);
  b.tma.load(b.copy(64, 64, 0, 0), 0);
  b.tma.load(b.copy(64, 64, 64, 0), 0);
  sc_core::sc_start();
  REQUIRE(b.observer.spans.size() == 2);
  // Rows fill shared memory while others are asked for.
  CHECK(b.observer.spans[0].end == first + 8192 / 16 + hit + 1);
  CHECK(b.observer.spans[1].end == first + 2 * 8192 / 16 + hit + 1);
}

TEST_CASE("L2 answers at its rate", "[tma][timing]") {
  Bench b(128, 64);
  b.profile.tma.request_bytes_per_cycle = 1e9;
  b.profile.tma.load_latency_cycles_per_line = 0;
  b.profile.memory.l2_tb_per_s = 4 * b.profile.device.sm_clock_ghz * 1e-3 * (1 - 1e-9);  // 4 bytes a cycle
  b.memory.warm(b.address, 128 * 128);
  b.tma.load(b.copy(128, 64, 0, 0), 0);
  sc_core::sc_start();
  REQUIRE(b.observer.spans.size() == 1);
  CHECK(b.observer.spans[0].end ==
        Cycles(b.profile.tma.load_latency_cycles) + 4096 + b.profile.cycles_of_ns(b.profile.memory.l2_hit_ns) + 1);
}

TEST_CASE("bulk groups complete in commit order, .read before visible", "[tma]") {
  Bench b(64, 64);
  Stimulus issue([&] {
    b.tma.store(b.copy(64, 64, 0, 0), 0);
    b.tma.commit_group(0, 1);
    b.tma.store(b.copy(8, 64, 0, 0), 0);
    b.tma.commit_group(0, 1);
    CHECK(b.tma.groups_done(0, 1, 2, true) == 0);
    CHECK(b.tma.groups_done(0, 1, 1, true) > 0);
    CHECK(b.tma.groups_done(0, 1, 0, true) >= b.tma.groups_done(0, 1, 1, true));
    CHECK(b.tma.groups_done(0, 1, 0, false) > b.tma.groups_done(0, 1, 0, true));
    CHECK(b.tma.groups_done(1, 1, 0, true) == 0);  // another warp has no groups
  });
  sc_core::sc_start();
}

TEST_CASE("bulk groups belong to the thread that stores", "[tma]") {
  Bench b(64, 64);
  Stimulus issue([&] {
    constexpr uint32_t kFirst = 1, kThird = 1u << 2, kBoth = kFirst | kThird;
    TensorCopy copy = b.copy(64, 64, 0, 0);
    copy.source.lane = 2;
    b.tma.store(copy, 0);
    b.tma.commit_group(0, kFirst);  // of a thread that has stored nothing
    CHECK(b.tma.groups_done(0, kBoth, 0, true) == 0);
    b.tma.commit_group(0, kThird);
    CHECK(b.tma.groups_done(0, kThird, 0, true) > 0);
    CHECK(b.tma.groups_done(0, kFirst, 0, true) == 0);
    copy.source.lane = 0;
    b.tma.store(copy, 0);
    b.tma.commit_group(0, kBoth);  // the third lane's is empty
    CHECK(b.tma.groups_done(0, kFirst, 0, true) > b.tma.groups_done(0, kThird, 0, true));
    CHECK(b.tma.groups_done(0, kBoth, 0, true) == b.tma.groups_done(0, kFirst, 0, true));
    CHECK(b.tma.groups_done(0, kFirst, 1, true) == 0);
    CHECK(b.tma.groups_done(0, kThird, 1, true) > 0);
  });
  sc_core::sc_start();
}

TEST_CASE("illegal copies are named", "[tma]") {
  Bench b(16, 64);
  TensorCopy c = b.copy(8, 64, 0, 0);
  SECTION("TM1: box of 257 rows") {
    c.map.box_dim[1] = 257;
    b.tma.load(c, 0);
    CHECK(b.observer.violation_id() == "TM1");
  }
  SECTION("TM2: destination at 16") {
    c.smem = kTile + 16;
    b.tma.load(c, 0);
    CHECK(b.observer.violation_id() == "TM2");
  }
  SECTION("TM2: past the end of shared memory") {
    c.smem = 64 * 1024 + 128;
    b.tma.load(c, 0);
    CHECK(b.observer.violation_id() == "TM2");
  }
  SECTION("TM10: inner coordinate off 16 bytes") {
    c.coords[0] = 4;
    b.tma.load(c, 0);
    CHECK(b.observer.violation_id() == "TM10");
  }
  SECTION("TM10: store at a negative row") {
    c.coords[1] = -1;
    b.tma.store(c, 0);
    CHECK(b.observer.violation_id() == "TM10");
  }
  SECTION("interleave is not implemented and says so") {
    c.map.interleave = TensorMapInterleave::b16;
    c.map.rank = 3;
    c.map.global_dim[2] = c.map.box_dim[2] = c.map.element_stride[2] = 1;
    c.map.global_stride[1] = 2048;
    b.tma.load(c, 0);
    CHECK(b.observer.violation_id() == "not-implemented");
  }
}

TEST_CASE("loads of TFLOAT32 round to ten mantissa bits and make one NaN", "[tma]") {
  Bench b(8, 64);  // vectors measured on H200 (docs/instructions.md)
  const uint32_t in[] = {0x3f801000, 0x3f803000, 0x3f801001, 0x007fffff, 0xffc00001, 0x3f800000, 0, 0};
  const uint32_t out[] = {0x3f800000, 0x3f804000, 0x3f802000, 0x00800000, 0x7fffe000, 0x3f800000, 0, 0};
  std::memcpy(&b.at(0, 0), in, sizeof in);
  TensorCopy c = b.copy(1, 8, 0, 0);
  c.map.data_type = TensorMapDataType::tfloat32;
  c.map.global_dim[0] = 32;
  b.tma.load(c, 0);
  sc_core::sc_start();
  for (uint32_t i = 0; i < 8; ++i) CHECK(b.smem.load<uint32_t>(kTile + 4 * i) == out[i]);
}

TEST_CASE("loads of TFLOAT32 leave the fill's NaN as it is, in rows that are partly inside too", "[tma]") {
  Bench b(8, 64);  // H200: 0x7ff77ff7 in whole rows of fill as beside elements that were loaded
  const uint32_t in[] = {0x3f801000, 0x3f803000, 0x7fc00000, 0xffc00001};
  std::memcpy(&b.at(0, 0), in, sizeof in);
  TensorCopy c = b.copy(2, 8, 0, 0);
  c.map.data_type = TensorMapDataType::tfloat32;
  c.map.oob_fill = TensorMapOobFill::nan_request_zero_fma;
  c.map.global_dim[0] = 4, c.map.global_dim[1] = 1;
  b.tma.load(c, 0);
  sc_core::sc_start();
  REQUIRE(b.observer.violations.empty());
  const uint32_t out[] = {0x3f800000, 0x3f804000, 0x7fffe000, 0x7fffe000};
  for (uint32_t i = 0; i < 4; ++i) CHECK(b.smem.load<uint32_t>(kTile + 4 * i) == out[i]);
  for (uint32_t i = 4; i < 16; ++i) CHECK(b.smem.load<uint32_t>(kTile + 4 * i) == 0x7ff77ff7u);
}

TEST_CASE("a copy that hits L2 overtakes one that waits for HBM, and a line on its way is not fetched twice",
          "[tma][timing]") {
  Bench b(256, 64);
  Stimulus issue([&] {
    b.tma.load(b.copy(8, 64, 0, 0), 0);
    models::wait(5000);
    b.tma.load(b.copy(128, 64, 128, 0), now());  // misses
    b.tma.load(b.copy(8, 64, 0, 0), now());      // hits
    b.tma.load(b.copy(8, 64, 128, 0), now());    // its lines are on their way
  });
  sc_core::sc_start();
  REQUIRE(b.observer.spans.size() == 4);
  CHECK(b.observer.spans[1].bytes == 1024);  // the hit comes first
  CHECK(b.observer.spans[1].end < b.observer.spans[2].end);
  CHECK(b.memory.dram_bytes() == (8 + 128) * 128);
  for (size_t i : {2, 3})
    CHECK(b.observer.spans[i].end - 5000 > b.profile.cycles_of_ns(b.profile.memory.l2_hit_ns) +
                                               b.profile.cycles_of_ns(b.profile.memory.dram_extra_ns));
}
