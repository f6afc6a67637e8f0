// SPDX-License-Identifier: Apache-2.0
// Lanes of a warp that do not do all the same: what belongs to one thread in PTX must not be taken for the warp's.
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
