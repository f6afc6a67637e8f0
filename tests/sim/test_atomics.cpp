// SPDX-License-Identifier: Apache-2.0
// Atomics in global memory, in role code under the hazard checker: what they return and leave, and what they order.
#include <cstring>

#include "catch.h"
#include "sim/role_code.h"

namespace sm100::sim {
namespace {

constexpr auto kRelaxed = MemorySem::relaxed;
constexpr auto kGpu = MemoryScope::gpu;

GlobalAddr memory{};  // of the run, in its process

LaneArray<GlobalAddr, 1> word(uint32_t i) {
  LaneArray<GlobalAddr, 1> all;
  for (auto& lane : all.registers) lane[0] = memory + 4 * uint64_t{i};
  return all;
}
LaneArray<uint32_t, 2> ones() {
  LaneArray<uint32_t, 2> all;
  for (auto& lane : all.registers) lane[0] = lane[1] = 1;
  return all;
}
template <class T = uint32_t>
LaneArray<T, 1> value(T v) {
  LaneArray<T, 1> all;
  for (auto& lane : all.registers) lane[0] = v;
  return all;
}
LaneArray<uint32_t, 1> lane_ids() {
  LaneArray<uint32_t, 1> all;
  for (uint32_t lane = 0; lane < 32; ++lane) all[int(lane)][0] = lane;
  return all;
}
LaneArray<bool, 1> always() {
  LaneArray<bool, 1> all;
  for (auto& lane : all.registers) lane[0] = true;
  return all;
}
uint32_t loaded(RoleIsa& isa, uint32_t i) { return isa.ld_global_b32(word(i), always())[0][0]; }

std::string ids(std::function<void(RoleIsa&)> program, int warps = 1, uint32_t clusters = 1,
                bool with_data = true) {
  RoleCode code{.program = std::move(program), .warps = warps, .with_data = with_data, .clusters = clusters};
  code.ctas_per_sm = int(clusters);
  code.before = [](Device& device) { memory = device.gpu.memory().allocate("words", 1024, true); };
  return ids_of(diagnosis(code));
}

}  // namespace

TEST_CASE("every lane's atomic is performed, one after the other", "[atomics]") {
  CHECK(ids([](RoleIsa& isa) {
          const auto old = isa.atom_global<ReduceOp::add, ReduceType::u32, kRelaxed, kGpu>(word(0), value(2u));
          must(old[0][0] == 0 && old[31][0] == 62);
          isa.red_global<ReduceOp::max, ReduceType::u32, kRelaxed, kGpu>(word(1), lane_ids());
          isa.red_global<ReduceOp::inc, ReduceType::u32, kRelaxed, kGpu>(word(2), value(9u));
          must(loaded(isa, 0) == 64 && loaded(isa, 1) == 31 && loaded(isa, 2) == 2);  // 32 mod 10
          isa.lanes(0b101,
                    [&] { isa.red_global<ReduceOp::add, ReduceType::u32, kRelaxed, kGpu>(word(3), lane_ids()); });
          must(loaded(isa, 3) == 2);
        }) == "clean");
}

TEST_CASE("compare and swap, exchange, 64 bits, floats", "[atomics]") {
  CHECK(ids([](RoleIsa& isa) {
          const auto old = isa.atom_cas_global<ReduceType::b32, kRelaxed, kGpu>(word(0), value(0u),
                                                                                lane_ids());  // lane 0 stores 0
          must(old[0][0] == 0 && old[1][0] == 0 && old[2][0] == 1);
          must(loaded(isa, 0) == 1);
          const auto wide = value(uint64_t{1} << 33);
          isa.red_global<ReduceOp::add, ReduceType::u64, kRelaxed, kGpu>(word(2), wide);
          must(loaded(isa, 3) == 64 && loaded(isa, 2) == 0);
          must(isa.atom_global<ReduceOp::exch, ReduceType::b64, kRelaxed, kGpu>(word(2), wide)[1][0] == uint64_t{1}
                                                                                                            << 33);
          isa.red_global<ReduceOp::add, ReduceType::f32, kRelaxed, kGpu>(word(4), value(as_bits(0.5f)));
          must(loaded(isa, 4) == as_bits(16.f));
          isa.red_global<ReduceOp::add, ReduceType::f16x2, kRelaxed, kGpu>(word(5), value(0x3c003800u));
          must(loaded(isa, 5) == 0x50004c00);  // 32 and 16
          isa.lanes(1, [&] { isa.red_global<ReduceOp::add, ReduceType::f32, kRelaxed, kGpu>(word(6), value(3u)); });
          must(loaded(isa, 6) == 0);  // a subnormal is flushed
        }) == "clean");
}

namespace {

/// The CTA that comes last adds what all have left: a counter with release and acquire orders it.
auto last_one_adds(bool release, bool acquire, uint32_t ctas) {
  return [=](RoleIsa& isa) {
    isa.st_global_v2(word(2 * (1 + isa.ctaid().x)), ones());
    isa.bar_sync(0, 32);
    uint32_t before = 0;
    isa.elected([&] {
      before =
          release && acquire
              ? isa.atom_global<ReduceOp::add, ReduceType::u32, MemorySem::acq_rel, kGpu>(word(0), value(1u))[0][0]
          : release
              ? isa.atom_global<ReduceOp::add, ReduceType::u32, MemorySem::release, kGpu>(word(0), value(1u))[0][0]
              : isa.atom_global<ReduceOp::add, ReduceType::u32, MemorySem::acquire, kGpu>(word(0), value(1u))[0][0];
    });
    if (before + 1 != ctas) return;
    for (uint32_t cta = 0; cta < ctas; ++cta) must(isa.ld_global_v2(word(2 * (1 + cta)))[0][1] == 1);
  };
}

}  // namespace

TEST_CASE("acq_rel on a counter orders the last CTA behind all others", "[atomics]") {
  CHECK(ids(last_one_adds(true, true, 3), 1, 3) == "clean");
}
TEST_CASE("GM3: a counter without release, or without acquire, orders nothing", "[atomics]") {
  CHECK(ids(last_one_adds(false, true, 3), 1, 3) == "finding GM3");
  CHECK(ids(last_one_adds(true, false, 3), 1, 3) == "finding GM3");
}

TEST_CASE("relaxed atomics race with nobody but plain accesses", "[atomics]") {
  const auto program = [](bool plain) {
    return [=](RoleIsa& isa) {
      isa.red_global<ReduceOp::add, ReduceType::u32, kRelaxed, kGpu>(word(0), value(1u));
      if (plain && isa.ctaid().x == 0) isa.st_global_v2(word(0), ones());
    };
  };
  CHECK(ids(program(false), 1, 2) == "clean");
  CHECK(ids(program(true), 1, 2) == "finding GM3");
}

namespace {

/// An atomic made of a compare-and-swap: a plain load guesses what the word holds.
auto doubled(bool compares) {
  return [=](RoleIsa& isa) {
    uint32_t assumed = 0;
    isa.elected([&] { assumed = isa.ld_global_u32(memory); });
    isa.for_each_lane(500 * int(isa.ctaid().x), [](int) {});
    for (bool done = false; compares && !done;) {
      isa.elected([&] {
        const uint32_t old = isa.atom_cas_global<ReduceType::b32, kRelaxed, kGpu>(word(0), value(assumed),
                                                                                  value(2 * assumed + 1))[0][0];
        done = old == assumed, assumed = old;
      });
    }
    if (!compares)
      isa.elected([&] { isa.red_global<ReduceOp::add, ReduceType::u32, kRelaxed, kGpu>(word(0), value(assumed)); });
  };
}

}  // namespace

TEST_CASE("a plain load in front of a compare-and-swap loop is a guess: a warning", "[atomics]") {
  CHECK(ids(doubled(true), 1, 3) == "warning GM3");
}
TEST_CASE("GM3: a plain load whose word others change by atomics, and nothing compares", "[atomics]") {
  CHECK(ids(doubled(false), 1, 3) == "finding GM3");
}

TEST_CASE("a load that polls wakes when an atomic changes the word, with data and without", "[atomics]") {
  for (const bool with_data : {true, false})
    CHECK(ids(
              [](RoleIsa& isa) {
                isa.elected([&] {
                  if (isa.ctaid().x == 0) {
                    while (isa.ld_acquire_gpu_global_u32(memory) != 2) {}
                  } else {
                    isa.for_each_lane(5000, [](int) {});
                    isa.red_global<ReduceOp::add, ReduceType::u32, MemorySem::release, kGpu>(word(0), value(1u));
                  }
                });
              },
              1, 3, with_data) == "clean");
}

TEST_CASE("GM1, GM2: an atomic outside every allocation, or misaligned", "[atomics]") {
  CHECK(ids([](RoleIsa& isa) {
          isa.elected(
              [&] { isa.red_global<ReduceOp::add, ReduceType::u32, kRelaxed, kGpu>(word(4096), value(1u)); });
        }) == "finding GM1");
  CHECK(ids([](RoleIsa& isa) {
          LaneArray<GlobalAddr, 1> odd;
          for (auto& lane : odd.registers) lane[0] = memory + 2;
          isa.elected([&] { isa.red_global<ReduceOp::add, ReduceType::u32, kRelaxed, kGpu>(odd, value(1u)); });
        }) == "finding GM2");
}

}  // namespace sm100::sim
