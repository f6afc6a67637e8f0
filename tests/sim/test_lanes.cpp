// SPDX-License-Identifier: Apache-2.0
// Lanes of a warp that do not do all the same: what belongs to one thread in PTX must not be taken for the warp's.
#include <bit>

#include "catch.h"
#include "kernels/pipeline/producer_consumer_pipeline.h"
#include "sim/role_code.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr uint32_t kFull = 0x400, kAddress = 0x440, kTile = 0x1000, kLower = 0x0000ffff, kUpper = 0xffff0000;

SmemAddr own(SimIsa& isa, uint32_t offset) { return {isa.cluster_ctarank() << kClusterRankShift | offset}; }
LaneArray<SmemAddr, 1> rows(SimIsa& isa) {
  LaneArray<SmemAddr, 1> all{};
  for (int lane = 0; lane < kWarpLanes; ++lane) all[lane][0] = own(isa, kTile) + 16u * uint32_t(lane);
  return all;
}
bool contains(const std::string& text, const char* what) { return text.find(what) != std::string::npos; }

#define CHECK_TOLD(code, expected)            \
  do {                                        \
    const std::string text = diagnosis(code); \
    CAPTURE(text);                            \
    CHECK(ids_of(text) == expected);          \
  } while (false)

/// An MMA of whatever lies in shared memory writes the columns from 0 to 127.
void fill_tensor_memory(SimIsa& isa) {
  const SmemDescriptor tile = make_smem_descriptor({0x4000}, 16, 1024, Swizzle::b128);
  const SmemAddr done = own(isa, 0x480);
  isa.elected([&] { isa.mbarrier_init(done, 1); });
  isa.fence_mbarrier_init();
  isa.elected([&] {
    isa.tcgen05_mma(MmaKind::f16, 1, TmemAddr::at(0, 0), tile, tile,
                    make_instr_descriptor(MmaKind::f16, DataType::bf16, DataType::bf16, DataType::f32, 128, 128),
                    false);
    isa.tcgen05_commit(1, done);
  });
  while (!isa.mbarrier_try_wait_parity(done, 0, Scope::cta)) {}
  isa.tcgen05_fence_after_thread_sync();
}

/// One warp that owns tensor memory.
RoleCode with_tensor_memory(std::function<void(RoleIsa&)> program) {
  return {.program =
              [=](RoleIsa& isa) {
                isa.tcgen05_alloc(own(isa, kAddress), 512, 1);
                fill_tensor_memory(isa);
                program(isa);
                isa.tcgen05_wait_ld();
                isa.tcgen05_wait_st();
                isa.tcgen05_dealloc(TmemAddr::at(0, 0), 512, 1);
              },
          .warps = 1};
}

}  // namespace

// ---- the cluster barrier

namespace {

RoleCode waiting_by_lanes(std::vector<uint32_t> waits, int rounds = 1) {
  return {.program =
              [=](RoleIsa& isa) {
                for (int i = 0; i < rounds; ++i) {
                  isa.barrier_cluster_arrive();
                  for (const uint32_t lanes : waits) isa.lanes(lanes, [&] { isa.barrier_cluster_wait(); });
                }
              },
          .warps = 1,
          .ctas = 2};
}

}  // namespace

TEST_CASE("barrier.cluster.wait is not .aligned: lanes may wait one after the other", "[lanes]") {
  CHECK_TOLD(waiting_by_lanes({kLower, kUpper}), "clean");
  CHECK_TOLD(waiting_by_lanes({1, ~1u}, 3), "clean");
  CHECK_TOLD(waiting_by_lanes({~0u, 1}), "finding CB2");
  CHECK_TOLD(waiting_by_lanes({kLower, kLower}), "finding CB2");
  const RoleCode ahead{.program =
                           [](RoleIsa& isa) {
                             isa.barrier_cluster_arrive();
                             isa.lanes(kLower, [&] { isa.barrier_cluster_wait(); });
                             isa.lanes(kLower, [&] { isa.barrier_cluster_arrive(); });
                             isa.lanes(kUpper, [&] { isa.barrier_cluster_wait(); });
                             isa.lanes(kUpper, [&] { isa.barrier_cluster_arrive(); });
                             isa.barrier_cluster_wait();
                           },
                       .warps = 1,
                       .ctas = 2};
  CHECK_TOLD(ahead, "clean");
}

// ---- mbarriers

TEST_CASE("MB14: each lane of an arrival names its barrier", "[lanes]") {
  const auto code = [](bool synchronised, bool own_first) {
    return RoleCode{.program =
                        [=](RoleIsa& isa) {
                          isa.elected([&] { isa.mbarrier_init(own(isa, kFull), 2); });
                          isa.fence_mbarrier_init();
                          if (synchronised) {
                            isa.barrier_cluster_arrive();
                            isa.barrier_cluster_wait();
                          }
                          isa.for_each_lane(2000, [](int) {});
                          LaneArray<uint32_t, 1> ranks{};
                          for (uint32_t lane = 0; lane < 2; ++lane)
                            ranks[int(lane)][0] = isa.cluster_ctarank() ^ lane ^ uint32_t(!own_first);
                          isa.lanes(3,
                                    [&] { isa.mbarrier_arrive(isa.mapa(own(isa, kFull), ranks), Scope::cluster); });
                          isa.mbarrier_try_wait_parity(own(isa, kFull), 0, Scope::cluster);
                        },
                    .warps = 1,
                    .ctas = 2,
                    .barriers = {{"full", {kFull}, 1, 2, "any", "", ""}}};
  };
  CHECK_TOLD(code(true, true), "clean");
  CHECK_TOLD(code(false, false), "finding MB14");
  CHECK_TOLD(code(false, true), "finding MB14");
}

// ---- bulk groups

TEST_CASE("TM8: bulk groups belong to the thread that stores", "[lanes]") {
  const auto code = [](uint32_t commits, uint32_t waits) {
    static GlobalAddr memory;
    return RoleCode{.program =
                        [=](RoleIsa& isa) {
                          TensorMapFields f;
                          f.data_type = TensorMapDataType::uint32;
                          f.rank = 1;
                          f.global_address = memory.value;
                          f.global_dim[0] = f.box_dim[0] = 32;
                          f.element_stride[0] = 1;
                          const TensorMap map = encode(f);
                          for (int tile = 0; tile < 2; ++tile) {
                            isa.st_shared_v4(rows(isa), LaneArray<uint32_t, 4>{});
                            isa.fence_proxy_async_shared_cta();
                            isa.lanes(1, [&] {
                              isa.cp_async_bulk_tensor_global_shared(&map, TensorCoords<1>{{0}}, own(isa, kTile));
                            });
                            isa.lanes(commits, [&] { isa.cp_async_bulk_commit_group(); });
                            isa.lanes(waits, [&] { isa.cp_async_bulk_wait_group_read<0>(); });
                          }
                          isa.lanes(1, [&] { isa.cp_async_bulk_commit_group(); });
                          isa.lanes(1, [&] { isa.cp_async_bulk_wait_group<0>(); });
                        },
                    .warps = 1,
                    .with_data = true,
                    .before = [](Device& device) { memory = device.gpu.memory().allocate("c", 128, true); }};
  };
  CHECK_TOLD(code(1, 1), "clean");
  CHECK_TOLD(code(~0u, ~0u), "clean");
  CHECK_TOLD(code(1, 2), "finding TM8");
  const std::string text = diagnosis(code(2, ~0u));
  CAPTURE(text);
  CHECK(ids_of(text) == "finding TM8");
  CHECK(contains(text, "no cp.async.bulk.commit_group has followed"));
}

// ---- tensor memory

TEST_CASE("tcgen05.ld.32x32b reads both halves of the warp's quarter", "[lanes]") {
  const auto load_then_store = [](uint32_t lane, bool wait) {
    return with_tensor_memory([=](RoleIsa& isa) {
      static const LaneArray<uint32_t, 4> other{};
      isa.tcgen05_ld_32x32b<8>(TmemAddr::at(0, 0));
      if (wait) isa.tcgen05_wait_ld();
      isa.tcgen05_st_16x256b(TmemAddr::at(lane, 0), other);
    });
  };
  const auto store_then_load = [](uint32_t lane, bool wait) {
    return with_tensor_memory([=](RoleIsa& isa) {
      static const LaneArray<uint32_t, 4> other{};
      isa.tcgen05_st_16x256b(TmemAddr::at(lane, 0), other);
      if (wait) isa.tcgen05_wait_st();
      isa.tcgen05_ld_32x32b<8>(TmemAddr::at(0, 0));
    });
  };
  for (const uint32_t lane : {0u, 16u}) {
    CAPTURE(lane);
    CHECK_TOLD(load_then_store(lane, true), "clean");
    CHECK_TOLD(load_then_store(lane, false), "finding TC15");
    CHECK_TOLD(store_then_load(lane, true), "clean");
    CHECK_TOLD(store_then_load(lane, false), "warning TC4");
  }
}

TEST_CASE("TC18: registers of a load that is not the last one", "[lanes]") {
  const auto code = [](bool wait) {
    return with_tensor_memory([=](RoleIsa& isa) {
      const auto first = isa.tcgen05_ld_16x256b<1>(TmemAddr::at(0, 0));
      if (wait) isa.tcgen05_wait_ld();
      const auto second = isa.tcgen05_ld_16x256b<1>(TmemAddr::at(0, 64));
      isa.st_shared_v4(rows(isa), first);
      isa.tcgen05_wait_ld();
      isa.st_shared_v4(rows(isa), second);
    });
  };
  CHECK_TOLD(code(true), "clean");
  CHECK_TOLD(code(false), "warning TC18");
}

TEST_CASE(
    "TC18: a store is a read of what wait::ld has made valid, so the arithmetic behind it reads the next load",
    "[lanes]") {
  const auto code = [](bool wait) {
    return with_tensor_memory([=](RoleIsa& isa) {
      const auto first = isa.tcgen05_ld_16x256b<1>(TmemAddr::at(0, 0));
      isa.tcgen05_wait_ld();
      isa.st_shared_v4(rows(isa), first);
      const auto second = isa.tcgen05_ld_16x256b<1>(TmemAddr::at(0, 64));
      (void)second;
      if (wait) isa.tcgen05_wait_ld();
      isa.for_each_lane(4, [](int) {});
    });
  };
  CHECK_TOLD(code(true), "clean");
  CHECK_TOLD(code(false), "warning TC18");
}

TEST_CASE("TC18: registers that have been written again are no longer the load's", "[lanes]") {
  const auto code = [](bool overwritten) {
    RoleCode code = with_tensor_memory([=](RoleIsa& isa) {
      auto loaded = isa.tcgen05_ld_16x256b<1>(TmemAddr::at(0, 0));
      if (overwritten)
        for (int lane = 0; lane < kWarpLanes; ++lane)
          for (int i = 0; i < 4; ++i) loaded[lane][i] = 4711;
      isa.st_shared_v4(rows(isa), loaded);
    });
    code.with_data = true;
    return code;
  };
  CHECK_TOLD(code(false), "warning TC18");
  CHECK_TOLD(code(true), "clean");
}

// ---- MMAs

namespace {

/// Lanes 0 and 1 of warp 0 multiply, into columns from 0 and from 256; the lanes of `commits` tell warp 1, which
/// reads columns from `column`.
RoleCode multiplied_by_two_lanes(uint32_t commits, uint32_t column) {
  return {.program =
              [=](RoleIsa& isa) {
                constexpr uint32_t kDone = kFull + 8;
                if (isa.warpid() == 0) {
                  isa.elected([&] {
                    isa.mbarrier_init(own(isa, kFull), uint32_t(std::popcount(commits)));
                    isa.mbarrier_init(own(isa, kDone), 2);
                  });
                  isa.fence_mbarrier_init();
                  isa.tcgen05_alloc(own(isa, kAddress), 512, 1);
                }
                isa.bar_sync(0, 64);
                if (isa.warpid() == 0) {
                  const SmemDescriptor tile = make_smem_descriptor({0x4000}, 16, 1024, Swizzle::b128);
                  for (uint32_t lane = 0; lane < 2; ++lane)
                    isa.lanes(1u << lane, [&] {
                      isa.tcgen05_mma(MmaKind::f16, 1, TmemAddr::at(0, 256 * lane), tile, tile,
                                      make_instr_descriptor(MmaKind::f16, DataType::bf16, DataType::bf16,
                                                            DataType::f32, 128, 128),
                                      false);
                    });
                  isa.lanes(commits, [&] { isa.tcgen05_commit(1, own(isa, kFull)); });
                  isa.for_each_lane(6000, [](int) {});
                  isa.lanes(3, [&] { isa.tcgen05_commit(1, own(isa, kDone)); });
                  while (!isa.mbarrier_try_wait_parity(own(isa, kDone), 0, Scope::cta)) {}
                } else {
                  while (!isa.mbarrier_try_wait_parity(own(isa, kFull), 0, Scope::cta)) {}
                  isa.for_each_lane(2000, [](int) {});
                  isa.tcgen05_fence_after_thread_sync();
                  isa.tcgen05_ld_32x32b<8>(TmemAddr::at(32, column));
                  isa.tcgen05_wait_ld();
                }
                isa.bar_sync(0, 64);
                if (isa.warpid() == 0) isa.tcgen05_dealloc(TmemAddr::at(0, 0), 512, 1);
              },
          .warps = 2};
}

}  // namespace

TEST_CASE("TC3: a tcgen05.commit covers the MMAs of the lane that executes it", "[lanes]") {
  CHECK_TOLD(multiplied_by_two_lanes(3, 0), "clean");
  CHECK_TOLD(multiplied_by_two_lanes(3, 256), "clean");
  CHECK_TOLD(multiplied_by_two_lanes(2, 256), "clean");
  CHECK_TOLD(multiplied_by_two_lanes(1, 0), "clean");
  CHECK_TOLD(multiplied_by_two_lanes(1, 256), "finding TC3");
  const std::string text = diagnosis(multiplied_by_two_lanes(2, 0));
  CAPTURE(text);
  CHECK(ids_of(text) == "finding TC3");
  CHECK(contains(text, "w1 reads an accumulator whose MMAs may still run"));
  CHECK(contains(text,
                 "a tcgen05.commit covers the MMAs of its own thread: lane 0 issued the first, lane 1 committed"));
}

// ---- cp.async

namespace {

/// A warp copies with all lanes, then does what `then` says, then reads what it has copied.
RoleCode copied(std::function<void(RoleIsa&)> then) {
  static GlobalAddr memory;
  return {.program =
              [=](RoleIsa& isa) {
                isa.elected([&] { isa.mbarrier_init(own(isa, kFull), 1); });
                isa.elected([&] { isa.mbarrier_init(own(isa, kFull + 8), 32); });
                LaneArray<GlobalAddr, 1> from{};
                for (int lane = 0; lane < kWarpLanes; ++lane) from[lane][0] = memory + 16u * uint64_t(lane);
                isa.cp_async_cg_shared_global(rows(isa), from);
                then(isa);
                isa.ld_shared_v4(rows(isa));
              },
          .warps = 1,
          .with_data = true,
          .before = [](Device& device) { memory = device.gpu.memory().allocate("a", 512, true); }};
}

RoleCode copied(std::vector<uint32_t> commits, std::vector<uint32_t> waits) {
  return copied([=](RoleIsa& isa) {
    for (const uint32_t lanes : commits) isa.lanes(lanes, [&] { isa.cp_async_commit_group(); });
    for (const uint32_t lanes : waits) isa.lanes(lanes, [&] { isa.cp_async_wait_group<0>(); });
  });
}

}  // namespace

TEST_CASE("SM3: cp.async groups belong to the thread that copies", "[lanes]") {
  CHECK_TOLD(copied({~0u}, {~0u}), "clean");
  CHECK_TOLD(copied({kLower, kUpper}, {kUpper, kLower}), "clean");
  CHECK_TOLD(copied({1}, {~0u}), "finding SM3");  // 31 lanes' copies are in no group
  CHECK_TOLD(copied({~0u}, {1}), "finding SM3");
  CHECK_TOLD(copied({~0u}, {kLower, kLower}), "finding SM3");
  CHECK_TOLD(copied({kLower, kLower, kUpper}, {~0u}), "clean");
  const std::string text = diagnosis(copied({1}, {1}));
  CAPTURE(text);
  CHECK(contains(text, "cp.async.commit_group and .wait_group by every lane that has copied"));
}

TEST_CASE("SM3: of two groups, each lane counts its own", "[lanes]") {
  const auto code = [](uint32_t commits_twice) {
    return copied([=](RoleIsa& isa) {
      isa.cp_async_commit_group();
      isa.lanes(commits_twice, [&] { isa.cp_async_commit_group(); });
      isa.cp_async_wait_group<1>();
    });
  };
  CHECK_TOLD(code(~0u), "clean");
  CHECK_TOLD(code(kLower), "finding SM3");  // the only group of the upper lanes may be pending
}

TEST_CASE("SM3: an arrival of cp.async.mbarrier.arrive follows the copies of its own thread", "[lanes]") {
  const auto code = [](uint32_t lanes, uint32_t barrier) {
    return copied([=](RoleIsa& isa) {
      isa.lanes(lanes, [&] { isa.cp_async_mbarrier_arrive_noinc(own(isa, barrier)); });
      while (!isa.mbarrier_try_wait_parity(own(isa, barrier), 0, Scope::cta)) {}
    });
  };
  CHECK_TOLD(code(~0u, kFull + 8), "clean");
  CHECK_TOLD(code(1, kFull), "finding SM3");
}

TEST_CASE("cp.async.wait_group waits for the groups of the lanes that execute it", "[lanes]") {
  const auto code = [](uint32_t waits, bool long_wait) {
    return copied([=](RoleIsa& isa) {
      isa.lanes(kLower, [&] { isa.cp_async_commit_group(); });
      const models::Cycles begin = models::now();
      isa.lanes(waits, [&] { isa.cp_async_wait_group<0>(); });
      must((models::now() - begin > 200) == long_wait);
      isa.cp_async_commit_group();
      isa.cp_async_wait_group<0>();
    });
  };
  CHECK_TOLD(code(kLower, true), "clean");
  CHECK_TOLD(code(kUpper, false), "clean");
}

// ---- ring state

namespace {

/// One warp produces for itself: `consume` waits for a stage and steps.
RoleCode ring_of_two(std::function<void(RoleIsa&, ProducerConsumerPipeline<RoleIsa>&)> consume) {
  return {.program =
              [=](RoleIsa& isa) {
                const SmemAddr full = own(isa, kFull), empty = full + 16;
                isa.elected([&] {
                  for (uint32_t i = 0; i < 4; ++i) isa.mbarrier_init(full + 8 * i, 1);
                });
                isa.fence_mbarrier_init();
                isa.bar_warp_sync();
                ProducerConsumerPipeline<RoleIsa> ring(isa, {full, empty}, 2);
                isa.elected([&] {
                  for (int i = 0; i < 2; ++i) isa.mbarrier_arrive(full + 8 * uint32_t(i), Scope::cta);
                });
                for (int i = 0; i < 2; ++i) consume(isa, ring);
              },
          .warps = 1};
}

}  // namespace

TEST_CASE("LN1: a ring that one lane has stepped is waited on by the warp", "[lanes]") {
  const RoleCode stepped_inside = ring_of_two([](RoleIsa& isa, auto& ring) {
    const int stage = ring.consumer_wait();
    isa.elected([&] {
      isa.mbarrier_arrive(ring.empty(stage), Scope::cta);
      ring.consumer_step();
    });
  });
  CHECK_TOLD(stepped_inside, "finding LN1");
  CHECK(contains(diagnosis(stepped_inside),
                 "used by 31 lanes that did not step them: lane 0 alone did, at test_lanes.cpp:"));
  const RoleCode stepped_outside = ring_of_two([](RoleIsa& isa, auto& ring) {
    const int stage = ring.consumer_wait();
    isa.elected([&] { isa.mbarrier_arrive(ring.empty(stage), Scope::cta); });
    ring.consumer_step();
  });
  CHECK_TOLD(stepped_outside, "clean");
}

TEST_CASE("a ring that one lane alone steps and waits on is that lane's", "[lanes]") {
  const RoleCode one_lane = ring_of_two([](RoleIsa& isa, auto& ring) {
    isa.elected([&] {
      const int stage = ring.consumer_wait();
      isa.mbarrier_arrive(ring.empty(stage), Scope::cta);
      ring.consumer_step();
    });
  });
  CHECK_TOLD(one_lane, "clean");
}

TEST_CASE("LN1: the other half of a warp waits where the first has stepped", "[lanes]") {
  CHECK_TOLD(ring_of_two([](RoleIsa& isa, auto& ring) {
               ring.consumer_wait();
               isa.lanes(kLower, [&] { ring.consumer_step(); });
               isa.lanes(kUpper, [&] { ring.consumer_wait(); });
             }),
             "finding LN1");
}

// ---- lanes that wait together

namespace {

/// Warp 0 fills and waits for `empty` as `produce` does in each round, warp 1 releases.
RoleCode hand_over(std::function<void(RoleIsa&, SmemAddr full, SmemAddr empty, uint32_t parity)> produce,
                   uint32_t fills = 1) {
  return {.program = [=](RoleIsa& isa) {
    const SmemAddr full = own(isa, kFull), empty = own(isa, kFull + 8);
    if (isa.warpid() == 0) {
      isa.elected([&] {
        isa.mbarrier_init(full, fills);
        isa.mbarrier_init(empty, 1);
        isa.fence_mbarrier_init();
      });
    }
    isa.bar_sync(0, 64);
    for (uint32_t i = 0; i < 4; ++i) {
      if (isa.warpid() == 0) {
        produce(isa, full, empty, (i & 1) ^ 1);
      } else {
        while (!isa.mbarrier_try_wait_parity(full, i & 1, Scope::cta)) {}
        isa.elected([&] { isa.mbarrier_arrive(empty, Scope::cta); });
      }
    }
  }};
}
void wait(RoleIsa& isa, SmemAddr barrier, uint32_t parity) {
  while (!isa.mbarrier_try_wait_parity(barrier, parity, Scope::cta)) {}
}

}  // namespace

TEST_CASE("LN2: all lanes wait, and one goes on alone", "[lanes]") {
  const RoleCode alone = hand_over([](RoleIsa& isa, SmemAddr full, SmemAddr empty, uint32_t parity) {
    wait(isa, empty, parity);
    isa.lanes(1, [&] { isa.mbarrier_arrive(full, Scope::cta); });
  });
  CHECK_TOLD(alone, "warning LN2");
  CHECK(contains(diagnosis(alone),
                 "32 lanes of a warp wait for the phase before the first of the mbarrier at 0x408, "
                 "lane 0 goes on before they meet, and phase 0 completes"));
  CHECK_TOLD(hand_over([](RoleIsa& isa, SmemAddr full, SmemAddr empty, uint32_t parity) {
               wait(isa, empty, parity);
               isa.lanes(1, [&] { isa.mbarrier_arrive(full, Scope::cta); });
               isa.bar_warp_sync();  // too late: a lane may have missed the phase before it comes here
             }),
             "warning LN2");
  CHECK_TOLD(hand_over([](RoleIsa& isa, SmemAddr full, SmemAddr empty, uint32_t parity) {
               isa.lanes(kLower, [&] { wait(isa, empty, parity); });
               isa.lanes(1, [&] { isa.mbarrier_arrive(full, Scope::cta); });
             }),
             "warning LN2");
}

TEST_CASE("LN2 is silent where each lane has passed its wait", "[lanes]") {
  const auto elects = [](RoleIsa& isa, SmemAddr full, SmemAddr empty, uint32_t parity) {
    wait(isa, empty, parity);
    isa.elected([&] { isa.mbarrier_arrive(full, Scope::cta); });
  };
  CHECK_TOLD(hand_over(elects), "clean");
  CHECK_TOLD(hand_over([](RoleIsa& isa, SmemAddr full, SmemAddr empty, uint32_t parity) {
               wait(isa, empty, parity);
               isa.bar_warp_sync();
               isa.lanes(1, [&] { isa.mbarrier_arrive(full, Scope::cta); });
             }),
             "clean");
  CHECK_TOLD(hand_over([](RoleIsa& isa, SmemAddr full, SmemAddr empty, uint32_t parity) {
               isa.lanes(1, [&] {
                 wait(isa, empty, parity);
                 isa.mbarrier_arrive(full, Scope::cta);
               });
             }),
             "clean");
  CHECK_TOLD(hand_over(
                 [](RoleIsa& isa, SmemAddr full, SmemAddr empty, uint32_t parity) {
                   wait(isa, empty, parity);
                   isa.mbarrier_arrive(full, Scope::cta);  // each lane by itself
                 },
                 32),
             "clean");
  CHECK_TOLD(hand_over(
                 [](RoleIsa& isa, SmemAddr full, SmemAddr empty, uint32_t parity) {
                   wait(isa, empty, parity);
                   isa.lanes(1, [&] { isa.mbarrier_arrive(full, Scope::cta); });  // the phase needs the others
                   isa.bar_warp_sync();
                   isa.lanes(2, [&] { isa.mbarrier_arrive(full, Scope::cta); });
                 },
                 2),
             "clean");
}
