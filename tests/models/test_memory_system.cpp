// SPDX-License-Identifier: Apache-2.0
// Time of global memory: what law 4.2 of docs/measurements.md rests on.
#include "models/memory_system.h"

#include <algorithm>
#include <vector>

#include "catch.h"
#include "models/fixture.h"

using namespace sm100;
using namespace sm100::models;

namespace {

struct Bench {
  explicit Bench(uint64_t bytes = 64 << 20) : address(memory.allocate("matrix", bytes, false)) {}

  /// Cycles from the request at `at` to the data of `bytes` at this offset.
  Cycles read(uint64_t offset, uint64_t bytes, Cycles at, MemoryPort port = {}) {
    return memory.read(address + offset, bytes, at, port).last - at;
  }

  DeviceProfile profile = b200();
  MemorySystem memory{profile};
  GlobalAddr address;
};

}  // namespace

TEST_CASE("a hit takes the L2 latency, whatever its size", "[memory]") {
  Bench b;
  b.memory.warm(b.address, 1 << 20);
  CHECK(b.read(0, 128, 0) == b.profile.cycles_of_ns(b.profile.memory.l2_hit_ns));
  b.profile.memory.l2_tb_per_s = b.profile.memory.l2_read_tb_per_s = b.profile.memory.l2_gpc_tb_per_s = 1e9;
  CHECK(b.read(0, 1 << 20, 1000) == b.profile.cycles_of_ns(b.profile.memory.l2_hit_ns));
  CHECK(b.memory.dram_bytes() == 0);
}

TEST_CASE("a miss takes HBM's latency more, and a line on its way is not fetched again", "[memory]") {
  Bench b;
  const Cycles hit = b.profile.cycles_of_ns(b.profile.memory.l2_hit_ns), miss = b.read(0, 128, 0);
  CHECK(miss > hit + b.profile.cycles_of_ns(b.profile.memory.dram_extra_ns));
  CHECK(b.read(0, 128, 10) == miss - 10);  // arrives with the first
  CHECK(b.memory.dram_bytes() == 128);
  CHECK(b.read(0, 128, 100'000) == hit);
}

TEST_CASE("HBM sustains its rate however many ask: a long stream takes bytes over rate", "[memory]") {
  Bench b(256 << 20);
  Cycles end = 0;
  for (uint64_t at = 0; at < 256 << 20; at += 32 << 10)
    end = std::max(end, b.read(at, 32 << 10, 0, {.sm = int(at >> 15) % 148}));
  const double rate = double(256 << 20) / double(end);
  CHECK(rate / b.profile.bytes_per_cycle(b.profile.memory.dram_tb_per_s) > 0.9);
  CHECK(rate / b.profile.bytes_per_cycle(b.profile.memory.dram_tb_per_s) <= 1.0);
}

TEST_CASE("waits of HBM differ from block to block, and are the same in every run", "[memory]") {
  std::vector<Cycles> first, second;
  for (std::vector<Cycles>* times : {&first, &second}) {
    Bench b;
    for (uint64_t i = 0; i < 512; ++i) times->push_back(b.read(i * 4096, 128, i * 10'000));
  }
  CHECK(first == second);
  // Their mean is memory.dram_wait_ns: an exponential distribution.
  Bench b;
  double sum = 0;
  const double least = double(*std::min_element(first.begin(), first.end()));
  for (const Cycles c : first) sum += double(c) - least;
  const double mean_ns = sum / double(first.size()) / b.profile.device.sm_clock_ghz;
  CHECK(mean_ns / b.profile.memory.dram_wait_ns == Approx(1).margin(0.15));
}

TEST_CASE("lines of others are written back first, and a page's translation is looked up once", "[memory]") {
  Bench clean, dirty;
  dirty.memory.make_dirty();
  const Cycles plain = clean.read(0, 128, 0), cold = dirty.read(0, 128, 0);
  const Cycles translation = dirty.profile.cycles_of_ns(dirty.profile.memory.translation_ns);
  CHECK(cold > plain + translation);
  CHECK(cold < plain + translation + 100);  // a second line for the channel
  // Later the page is known, and another line of the same block waits for the write-back alone.
  const Cycles again = dirty.read(128, 128, 100'000), undisturbed = clean.read(128, 128, 100'000);
  CHECK(again > undisturbed);
  CHECK(again < undisturbed + 100);
  Bench large(128 << 20);
  large.memory.make_dirty();
  large.read(0, 128, 0);
  CHECK(large.read(64 << 20, 128, 200'000) > translation);  // of a page far away it is not
}

TEST_CASE("CTAs of one cluster that ask for a box on its way share the answer", "[memory]") {
  Bench b;
  MemorySystem::Request request;
  b.memory.touch(request, b.address, 4096, {.cluster = 7});
  const auto read = [&](Cycles at, int cluster) {
    return b.memory.read(request, at, at, {.cluster = cluster}).last;
  };
  const Cycles arrives = read(0, 7);
  CHECK(b.memory.l2_read_bytes() == 4096);
  CHECK(read(10, 7) == arrives);
  CHECK(b.memory.l2_read_bytes() == 4096);  // coalesced
  read(20, 8);
  CHECK(b.memory.l2_read_bytes() == 2 * 4096);  // another cluster
  read(1'000'000, 8);
  CHECK(b.memory.l2_read_bytes() == 3 * 4096);  // too late
}
