// SPDX-License-Identifier: Apache-2.0
#include "models/access_map.h"

#include <catch.h>

#include <random>
#include <set>
#include <thread>

#include "models/tma_units.h"

using namespace sm100;
using namespace sm100::models;

TEST_CASE("access map: ranges are to the byte, and neighbours are one") {
  AccessMap map;
  map.add(100, 28, AccessClass::read);
  map.add(128, 64, AccessClass::read);
  map.add(200, 1, AccessClass::read);
  map.add(0xfff0, 32, AccessClass::write);  // two pages
  map.add(300, 4, true, true, true);
  CHECK(map.ranges(AccessClass::read) == std::vector<ByteRange>{{100, 192}, {200, 201}});
  CHECK(map.ranges(AccessClass::write) == std::vector<ByteRange>{{0xfff0, 0x10010}});
  CHECK(map.ranges(AccessClass::strong_read) == std::vector<ByteRange>{{300, 304}});
  CHECK(map.ranges(AccessClass::strong_write) == std::vector<ByteRange>{{300, 304}});
}

TEST_CASE("access map: as a set of bytes, with several threads") {
  AccessMap map;
  std::set<uint64_t> bytes;
  std::vector<std::pair<uint64_t, uint64_t>> adds;
  std::mt19937 random(5);
  for (int i = 0; i < 400; ++i) {
    const uint64_t at = 0x2000'0000'ff00 + random() % 1000, size = random() % 200;
    adds.emplace_back(at, size);
    for (uint64_t b = at; b < at + size; ++b) bytes.insert(b);
  }
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = t; i < adds.size(); i += 4) map.add(adds[i].first, adds[i].second, AccessClass::write);
    });
  for (std::thread& thread : threads) thread.join();
  std::set<uint64_t> found;
  for (const ByteRange& range : map.ranges(AccessClass::write))
    for (uint64_t b = range.begin; b < range.end; ++b) found.insert(b);
  CHECK(found == bytes);
}

TEST_CASE("access map: copies say which bytes they read and write, of masks and reductions too") {
  TmaUnits b;
  b.smem.start_cta(4096, true), b.tma.start_cta();
  AccessMap map;
  b.memory.record(&map);
  const GlobalAddr tensor = b.memory.allocate("t", 4096, true);
  const auto linear = [&](uint64_t at, uint32_t bytes) {
    TensorCopy copy = linear_copy(tensor + at, kSmemUserBase, bytes);
    copy.source.warp = 0, copy.source.lane = 0;
    return copy;
  };
  b.tma.store(linear(0, 64), 0);
  TensorCopy masked = linear(256, 32);
  masked.byte_mask = 0x000f;
  b.tma.store(masked, 0);
  TensorCopy reduced = linear(512, 64);
  reduced.reduction = TensorCopy::Reduction{.op = ReduceOp::add, .type = ReduceType::u32};
  b.tma.store(reduced, 0);
  b.tma.prefetch(linear(1024, 64), 0);
  const uint64_t at = tensor.value;
  CHECK(map.ranges(AccessClass::write) ==
        std::vector<ByteRange>{{at, at + 64}, {at + 256, at + 260}, {at + 272, at + 276}});
  CHECK(map.ranges(AccessClass::strong_write) == std::vector<ByteRange>{{at + 512, at + 576}});
  CHECK(map.ranges(AccessClass::strong_read) == std::vector<ByteRange>{{at + 512, at + 576}});
  CHECK(map.ranges(AccessClass::read).empty());
}
