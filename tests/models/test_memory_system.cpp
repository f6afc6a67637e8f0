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

TEST_CASE("SMs of one cluster that ask for a box on its way share the answer", "[memory]") {
  Bench b;
  MemorySystem::Request request;
  b.memory.touch(request, {b.address, 4096}, {.cluster = 7});
  const auto read = [&](Cycles at, int sm, int cluster) {
    return b.memory.read(request, at, at, {.sm = sm, .cluster = cluster}).last;
  };
  const Cycles arrives = read(0, 0, 7);
  CHECK(b.memory.l2_read_bytes() == 4096);
  CHECK(read(10, 1, 7) == arrives);
  CHECK(b.memory.l2_read_bytes() == 4096);  // coalesced
  Bench other;
  MemorySystem::Request same;
  other.memory.touch(same, {other.address, 4096}, {.cluster = 7});
  for (const int sm : {0, 1, 0}) other.memory.read(same, Cycles(5), Cycles(5), {.sm = sm, .cluster = 7});
  CHECK(other.memory.l2_read_bytes() == 2 * 4096);  // its own, once more, also when another has asked meanwhile
  read(15, 1, 7);
  CHECK(b.memory.l2_read_bytes() == 2 * 4096);
  read(20, 2, 8);
  CHECK(b.memory.l2_read_bytes() == 3 * 4096);  // another cluster
  read(1'000'000, 3, 8);
  CHECK(b.memory.l2_read_bytes() == 4 * 4096);  // too late
}

TEST_CASE("a box that is asked for ahead of time keeps nobody waiting before", "[memory]") {
  Bench alone, behind;
  const Cycles first = alone.read(0, 128, 1000);
  behind.memory.read(behind.address + 128, 896, 10'000, {.sm = 1});
  CHECK(behind.read(0, 128, 1000) == first);
}

TEST_CASE("rows that are asked for at once cost what they cost one after the other", "[memory]") {
  // A matrix of 4096 rows of 1056 bytes in a pitch of 1152, which is nine lines.
  constexpr uint64_t kPitch = 1152, kBytes = 4096 * kPitch;
  const GlobalRows box = GENERATE(GlobalRows{{0}, 128, kPitch, 64},                   // a line of each row
                                  GlobalRows{{96}, 160, kPitch, 32},                  // two lines of each, in part
                                  GlobalRows{{0}, kPitch, 2 * kPitch, 16},            // every second row
                                  GlobalRows{{64}, 128, kPitch / 2, 64},              // a pitch that is no line's
                                  GlobalRows{{1100}, 200, kPitch, 100},               // over a row's end
                                  GlobalRows{{kBytes - 2 * kPitch}, 64, kPitch, 4});  // past the last row
  Bench at_once(kBytes), one_by_one(kBytes);
  const auto same_request = [](const MemorySystem::Request& a, const MemorySystem::Request& b) {
    CHECK(a.lines == b.lines);
    CHECK(a.sectors == b.sectors);
    CHECK(a.units == b.units);
    CHECK(a.missing.size() == b.missing.size());
    CHECK(a.first_ready == b.first_ready);
    CHECK(a.last_ready == b.last_ready);
  };
  Cycles at = 0;
  for (int turn = 0; turn < 40; ++turn) {
    // Elsewhere in every turn, and now and then again; by SMs of both halves; some are written before.
    GlobalRows rows = box;
    rows.first = at_once.address + rows.first.value;
    if (turn % 7 != 3 && rows.first.value + (rows.rows + 80) * rows.distance < at_once.address.value + kBytes)
      rows.first = rows.first + uint64_t(turn % 11) * 7 * rows.distance;
    const MemoryPort port{.sm = turn % 3 == 0 ? 147 : 0};
    MemorySystem::Request all, each;
    MemorySystem::Write all_written, each_written;
    at_once.memory.touch(all, rows, port);
    for (uint32_t r = 0; r < rows.rows; ++r)
      one_by_one.memory.touch(each, {rows.first + r * rows.distance, rows.bytes, 0, 1}, port);
    same_request(all, each);
    at += 100;
    const auto a = at_once.memory.read(all, at, at + 50, port), b = one_by_one.memory.read(each, at, at + 50, port);
    CHECK(a.first == b.first);
    CHECK(a.last == b.last);
    if (turn % 5 != 0) continue;
    at_once.memory.touch(all_written, rows);
    for (uint32_t r = 0; r < rows.rows; ++r)
      one_by_one.memory.touch(each_written, rows.first + r * rows.distance, rows.bytes);
    CHECK(all_written.units == each_written.units);
    CHECK(all_written.bytes == each_written.bytes);
    CHECK(all_written.new_lines == each_written.new_lines);
    CHECK(at_once.memory.accept(all_written, at, port) == one_by_one.memory.accept(each_written, at, port));
  }
  CHECK(at_once.memory.dram_bytes() == one_by_one.memory.dram_bytes());
  CHECK(at_once.memory.l2_read_bytes() == one_by_one.memory.l2_read_bytes());
}
