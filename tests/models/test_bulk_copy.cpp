// SPDX-License-Identifier: Apache-2.0
// Bulk copies of bytes, reductions, copies and stores between CTAs (PTX 9.7.9.25, 9.7.9.12, 9.7.13.7), byte by
// byte.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "catch.h"
#include "models/cluster_bench.h"

using namespace sm100;
using namespace sm100::models;

namespace {

constexpr uint32_t kBar = ClusterBench::kBar, kTile = ClusterBench::kTile;

std::vector<uint8_t> counting(size_t n, uint8_t first) {
  std::vector<uint8_t> bytes(n);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}
std::vector<uint8_t> bytes_at(SharedMemory& smem, uint32_t offset, size_t n) {
  return {smem.data(offset), smem.data(offset) + n};
}
void put(SharedMemory& smem, uint32_t offset, const std::vector<uint8_t>& bytes) {
  std::memcpy(smem.data(offset), bytes.data(), bytes.size());
}

/// Two CTAs of a cluster, and 256 bytes 0, 1, 2 ... in global memory.
struct Bench : ClusterBench {
  Bench() : ClusterBench(2, 2) {
    global = memory.allocate("bytes", 256, true);
    const auto bytes = counting(256, 0);
    std::memcpy(memory.data(global, 256), bytes.data(), 256);
  }
  std::vector<uint8_t> global_bytes(size_t from, size_t n) {
    const uint8_t* at = memory.data(global, 256) + from;
    return {at, at + n};
  }
  TensorCopy copy(uint32_t from, uint32_t bytes) {
    TensorCopy c = linear_copy(global + from, kTile, bytes);
    c.barrier = kBar;
    c.source.warp = 0, c.source.lane = 0;
    return c;
  }
  GlobalAddr global;
};

}  // namespace

TEST_CASE("a bulk copy brings its bytes and nothing else, and signals them", "[bulk]") {
  Bench b;
  b.nodes[0]->barrier.expect_tx(kBar, 48, {});
  b.nodes[0]->tma.load(b.copy(16, 48), 0);
  sc_core::sc_start();
  CHECK(bytes_at(b.nodes[0]->smem, kTile, 48) == counting(48, 16));
  CHECK(*b.nodes[0]->smem.data(kTile + 48) == 0xff);
  CHECK(b.nodes[0]->state().received_bytes == 48);
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("a bulk copy with multicast lands in each CTA of the mask", "[bulk]") {
  Bench b;
  b.net.load_multicast(0, b.copy(32, 64), {0b11}, 0);
  sc_core::sc_start();
  for (const auto& node : b.nodes) {
    CHECK(bytes_at(node->smem, kTile, 64) == counting(64, 32));
    CHECK(node->state().received_bytes == 64);
  }
}

TEST_CASE("a bulk store writes the bytes that its mask names, and is of a bulk group", "[bulk]") {
  Bench b;
  put(b.nodes[0]->smem, kTile, counting(64, 100));
  TensorCopy store = b.copy(64, 32);
  store.byte_mask = 0x8001;  // the first and the last of each 16
  b.nodes[0]->tma.store(store, 0);
  b.nodes[0]->tma.commit_group(0, 1);
  CHECK(b.nodes[0]->tma.groups_done(0, 1, 0, false) > b.nodes[0]->tma.groups_done(0, 1, 0, true));
  sc_core::sc_start();
  std::vector<uint8_t> expected = counting(32, 64);
  expected[0] = 100, expected[15] = 115, expected[16] = 116, expected[31] = 131;
  CHECK(b.global_bytes(64, 32) == expected);
  CHECK(b.global_bytes(96, 16) == counting(16, 96));
}

TEST_CASE("a bulk store is read 32 bytes a cycle, however long it is", "[bulk]") {
  ClusterBench b(2, 2);
  const GlobalAddr global = b.memory.allocate("bytes", 16384, true);
  const auto read_done = [&](int cta, uint32_t bytes) {
    TensorCopy store = linear_copy(global, ClusterBench::kTile, bytes);
    store.source.warp = 0, store.source.lane = 0;
    b.nodes[size_t(cta)]->tma.store(store, 0);
    b.nodes[size_t(cta)]->tma.commit_group(0, 1);
    return b.nodes[size_t(cta)]->tma.stores_read_done();
  };
  const Cycles shorter = read_done(0, 1024), longer = read_done(1, 4096);
  CHECK(longer - shorter == (4096 - 1024) / 32);
}

TEST_CASE("a bulk reduction combines element by element", "[bulk]") {
  Bench b;
  put(b.nodes[0]->smem, kTile, std::vector<uint8_t>(32, 0x81));
  TensorCopy store = b.copy(0, 32);
  store.reduction = {ReduceOp::max, ReduceType::s32};
  b.nodes[0]->tma.store(store, 0);
  sc_core::sc_start();
  CHECK(b.global_bytes(0, 32) == counting(32, 0));  // all are positive
  store.reduction = {ReduceOp::max, ReduceType::u32};
  b.nodes[0]->tma.store(store, now());
  sc_core::sc_start();
  CHECK(b.global_bytes(0, 32) == std::vector<uint8_t>(32, 0x81));
}

TEST_CASE("a tensor reduction adds inside the tensor and leaves its padding alone", "[bulk]") {
  Bench b;
  const GlobalAddr rows = b.memory.allocate("rows", 2 * 64, true);
  auto* words = reinterpret_cast<float*>(b.memory.data(rows, 128));
  for (int i = 0; i < 32; ++i) words[i] = float(i);
  TensorCopy c;
  c.map.data_type = TensorMapDataType::float32;
  c.map.rank = 2;
  c.map.global_address = rows.value;
  c.map.global_dim[0] = 14, c.map.global_dim[1] = 2;  // of 16 in a row
  c.map.global_stride[0] = 64;
  c.map.box_dim[0] = 16, c.map.box_dim[1] = 2;
  c.map.element_stride[0] = c.map.element_stride[1] = 1;
  c.smem = kTile;
  c.source.warp = 0, c.source.lane = 0;
  c.reduction = {ReduceOp::add, ReduceType::f32};
  for (uint32_t i = 0; i < 32; ++i) b.nodes[0]->smem.store(kTile + 4 * i, 100.f);
  b.nodes[0]->tma.store(c, 0);
  sc_core::sc_start();
  for (int i = 0; i < 32; ++i) CHECK(words[i] == float(i) + (i % 16 < 14 ? 100.f : 0.f));
}

TEST_CASE("TM15, TM2: what a bulk copy does not take", "[bulk]") {
  Bench b;
  b.nodes[0]->tma.load(b.copy(0, 24), 0);
  CHECK(b.observer.violations.back().id == "TM15");
  b.nodes[0]->tma.load(b.copy(8, 32), 0);
  CHECK(b.observer.violations.back().id == "TM15");
  TensorCopy c = b.copy(0, 32);
  c.smem += 8;
  b.nodes[0]->tma.load(c, 0);
  CHECK(b.observer.violations.back().id == "TM2");
  c.smem = b.nodes[0]->smem.end() - 16;
  b.nodes[0]->tma.load(c, 0);
  CHECK(b.observer.violations.back().id == "TM2");
  CHECK(b.observer.violations.size() == 4);
}

TEST_CASE("a prefetch brings lines into L2 and nothing else", "[bulk]") {
  Bench cold, warm;
  const auto arrival = [](Bench& b, Cycles at) { return b.nodes[0]->tma.fetch(b.copy(0, 256), at)->last - at; };
  warm.nodes[0]->tma.prefetch(warm.copy(0, 256), 0);
  CHECK(arrival(warm, 100'000) < arrival(cold, 100'000));
  CHECK(warm.nodes[0]->state().received_bytes == 0);
}

TEST_CASE("a prefetch of megabytes keeps another SM waiting no longer than a short one", "[bulk]") {
  std::vector<Cycles> arrivals;
  for (const uint32_t bytes : {64u << 10, 16u << 20}) {
    Bench b;
    const GlobalAddr much = b.memory.allocate("prefetched", 16 << 20, false),
                     other = b.memory.allocate("other", 4096, false);
    b.nodes[0]->tma.prefetch(linear_copy(much, 0, bytes), 0);
    arrivals.push_back(b.nodes[1]->tma.fetch(linear_copy(other, kTile, 4096), 0)->last);
    CHECK(b.memory.dram_bytes() < 1 << 20);  // the rest is asked for in its time
    if (arrivals.size() < 2) continue;       // one simulation in a process
    sc_core::sc_start();
    CHECK(b.memory.dram_bytes() == (16 << 20) + 4096);
  }
  CHECK(arrivals[1] <= arrivals[0] + 50);
}

TEST_CASE("a bulk copy to another CTA reads its source later, lands there, and signals there", "[bulk][cluster]") {
  Bench b;
  put(b.nodes[0]->smem, kTile, counting(64, 7));
  b.net.copy_shared(0,
                    {.from = kTile,
                     .bytes = 48,
                     .to = {1u << 24 | (kTile + 128)},
                     .barrier = b.bar(1),
                     .reduction = {},
                     .source = {}},
                    0);
  sc_core::sc_start();
  CHECK(bytes_at(b.nodes[1]->smem, kTile + 128, 48) == counting(48, 7));
  CHECK(*b.nodes[1]->smem.data(kTile + 176) == 0xff);
  CHECK(b.nodes[1]->state().received_bytes == 48);
  CHECK(b.nodes[0]->state().received_bytes == 0);
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("what a copy between CTAs does not take", "[bulk][cluster]") {
  Bench b;
  ClusterNet::SharedCopy copy{
      .from = kTile, .bytes = 32, .to = {1u << 24 | kTile}, .barrier = b.bar(1), .reduction = {}, .source = {}};
  const auto id = [&](ClusterNet::SharedCopy c) {
    b.observer.violations.clear();
    b.net.copy_shared(0, c, 0);
    return b.observer.violation_id();
  };
  CHECK(id(copy) == "");
  auto wrong = copy;
  wrong.barrier = b.bar(0);
  CHECK(id(wrong) == "MB3");
  wrong = copy, wrong.to = {5u << 24 | kTile};
  CHECK(id(wrong) == "CR1");
  wrong = copy, wrong.bytes = 20;
  CHECK(id(wrong) == "TM15");
  wrong = copy, wrong.from += 4;
  CHECK(id(wrong) == "TM2");
  wrong = copy, wrong.to = {kTile + 512}, wrong.barrier = b.bar(0);
  CHECK(id(wrong) == "TM16");
}

TEST_CASE("st.async stores and signals a path latency later, red.async combines", "[bulk][cluster]") {
  Bench b;
  b.nodes[1]->smem.store(kTile, uint32_t{40});
  b.net.store_async(0, {.value = {2},
                        .bytes = 4,
                        .to = {1u << 24 | kTile},
                        .barrier = b.bar(1),
                        .reduction = TensorCopy::Reduction{ReduceOp::add, ReduceType::u32},
                        .source = {}});
  b.net.store_async(0, {.value = {1, 2, 3, 4},
                        .bytes = 16,
                        .to = {1u << 24 | (kTile + 16)},
                        .barrier = b.bar(1),
                        .reduction = {},
                        .source = {}});
  CHECK(b.nodes[1]->smem.load<uint32_t>(kTile) == 40);
  sc_core::sc_start();
  CHECK(now() == Cycles(b.profile.cluster.remote_arrive_cycles));
  CHECK(b.nodes[1]->smem.load<uint32_t>(kTile) == 42);
  CHECK(b.nodes[1]->smem.load<uint32_t>(kTile + 28) == 4);
  CHECK(b.nodes[1]->state().received_bytes == 20);
}

TEST_CASE("MB12: an st.async lands after its CTA has exited", "[bulk][cluster]") {
  Bench b;
  b.net.store_async(
      0, {.value = {2}, .bytes = 4, .to = {1u << 24 | kTile}, .barrier = b.bar(1), .reduction = {}, .source = {}});
  b.net.cta_exited(1);
  sc_core::sc_start();
  CHECK(b.observer.violation_id() == "MB12");
}
