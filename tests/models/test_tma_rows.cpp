// SPDX-License-Identifier: Apache-2.0
// What rows of boxes take of the copy engine: by where they begin, and loads and stores from one another.  The
// cycles are those that bench/hardware/tma_costs.cu shows on an H200 (docs/accuracy-h200.md, section 2).
#include <algorithm>
#include <memory>
#include <vector>

#include "catch.h"
#include "models/tma_units.h"

using namespace sm100;
using namespace sm100::models;

namespace {

constexpr int kRows = 64, kPitch = 4096;

/// A matrix of bytes in L2, behind an engine that nothing but rows hold up.
struct Engine : TmaUnits {
  explicit Engine(double store_cycles_between) {
    smem.start_cta(64 * 1024, false);
    address = memory.allocate("matrix", 2 * kRows * kPitch, false);
    memory.warm(address, 2 * kRows * kPitch);
    profile.tma.store_cycles_between = store_cycles_between;
    profile.tma.request_bytes_per_cycle = profile.memory.l2_tb_per_s = profile.memory.l2_read_tb_per_s =
        profile.memory.l2_gpc_tb_per_s = profile.memory.l2_write_tb_per_s = profile.memory.l2_gpc_write_tb_per_s =
            1e9;
    profile.tma.load_latency_cycles_per_line = 0;
    barrier.init(0x400, 1, {});
  }
  TensorCopy copy(uint32_t row_bytes, int apart, int first_row = 0) {
    TensorCopy c;
    c.map.data_type = TensorMapDataType::uint8;
    c.map.rank = 2;
    c.map.global_address = address.value;
    c.map.global_dim[0] = kPitch, c.map.global_dim[1] = 2 * kRows;
    c.map.global_stride[0] = kPitch;
    c.map.box_dim[0] = row_bytes, c.map.box_dim[1] = kRows;
    c.map.element_stride[0] = c.map.element_stride[1] = 1;
    c.coords = {apart, first_row};
    c.smem = 0x800;
    c.barrier = 0x400;
    c.source.warp = 0;
    return c;
  }
  /// Cycles until a store at cycle `at` has read shared memory, less what comes before its first row.
  double stored(const TensorCopy& copy, Cycles at) {
    tma.store(copy, at);
    tma.commit_group(0, 1);
    return double(tma.groups_done(0, 1, 0, true) - at) - profile.tma.store_read_latency_cycles;
  }
  /// The same of the load that was issued at cycle `at`, the only one, until its last row is there.
  double loaded(Cycles at) const {
    const auto load = std::find_if(observer.spans.begin(), observer.spans.end(),
                                   [](const auto& span) { return span.kind == UnitSpanKind::tma_load; });
    REQUIRE(load != observer.spans.end());
    return double(load->end - at - profile.cycles_of_ns(profile.memory.l2_hit_ns)) -
           profile.tma.load_latency_cycles;
  }
};

struct Case {
  uint32_t row_bytes;
  int apart;  ///< bytes behind a line
  double store, load;
};
/// Cycles of a row.  Rows of 48, 80 and 96 bytes lie on one or two lines of shared memory: the mean of eight.
constexpr Case kCases[] = {{128, 0, 4, 1},        {128, 16, 7, 3}, {128, 32, 4, 2},   {128, 48, 7, 4},
                           {128, 64, 4, 2},       {128, 80, 7, 4}, {128, 96, 4, 2},   {128, 112, 7, 3},
                           {96, 0, 3, 1.5},       {96, 16, 6, 4},  {96, 64, 3, 2.25}, {96, 80, 7, 4.5},
                           {80, 0, 4.5, 2.625},   {64, 0, 2, 1},   {64, 16, 4, 3},    {64, 32, 2, 1},
                           {64, 80, 5, 3},        {64, 96, 2, 2},  {64, 112, 5, 3},   {48, 0, 3.25, 2.125},
                           {48, 16, 3.25, 2.125}, {32, 0, 1, 1},   {32, 16, 3, 2},    {32, 48, 3, 2},
                           {32, 80, 3, 2},        {32, 112, 4, 2}, {16, 0, 2, 1},     {16, 16, 2, 1}};

}  // namespace

TEST_CASE("a row's cycles follow from where it begins: sectors, and lines that it shares", "[tma][timing]") {
  std::vector<std::unique_ptr<Engine>> engines;  // all before the simulation starts
  for (const Case& c : kCases) {
    INFO(c.row_bytes << " bytes, " << c.apart << " behind a line");
    Engine stores(0);
    CHECK(stores.stored(stores.copy(c.row_bytes, c.apart), 0) == kRows * c.store);
    engines.push_back(std::make_unique<Engine>(0));
    engines.back()->tma.load(engines.back()->copy(c.row_bytes, c.apart), 0);
  }
  sc_core::sc_start();
  for (size_t i = 0; i < engines.size(); ++i) {
    INFO(kCases[i].row_bytes << " bytes, " << kCases[i].apart << " behind a line");
    CHECK(engines[i]->loaded(0) == kRows * kCases[i].load);
  }
}

TEST_CASE("the rows of loads and stores take turns", "[tma]") {
  RowSlots rows;
  CHECK(rows.load(100, 10, 30) == 110);  // nobody waits
  CHECK(rows.store(200, 40) == 240);     // announced; the engine is free from 110 to 200
  CHECK(rows.load(120, 10, 30) == 130);  // in front of it
  CHECK(rows.load(195, 10, 30) == 235);  // half of it is: the rest in turns with the store, three cycles a row
  CHECK(rows.store(200, 40) == 285);     // behind all: five cycles were the load's
  CHECK(rows.load(300, 10, 30) == 310);
  CHECK(rows.load(300, 10, 30) == 320);  // loads come one after the other
  CHECK(rows.store(310, 40) == 360);
}

TEST_CASE("a load that comes while a store waits asks for its rows between those of the store", "[tma][timing]") {
  Engine apart(0), shared(3);
  for (Engine* engine : {&apart, &shared}) engine->stored(engine->copy(128, 0), 0);
  const Cycles later = Cycles(apart.profile.tma.store_read_latency_cycles) + 10;  // the store has begun
  for (Engine* engine : {&apart, &shared}) engine->tma.load(engine->copy(128, 0), later);
  CHECK(apart.stored(apart.copy(128, 0), later) == kRows * 8 - double(later));
  CHECK(shared.stored(shared.copy(128, 0), later) == kRows * 9 - double(later));
  sc_core::sc_start();
  CHECK(apart.loaded(later) == kRows);
  CHECK(shared.loaded(later) == kRows * 4 + 1);  // the last row fills shared memory after it has been asked for
}
