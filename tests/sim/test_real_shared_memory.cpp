// SPDX-License-Identifier: Apache-2.0
// Production kernels as judges, barriers and shared memory: each pattern that they have and that a check speaks
// about, as a small kernel, with the twin that PTX allows and the one that is truly broken.  What NVIDIA's library
// does is never the end of a run.
#include <algorithm>

#include "sim/real_kernels.h"

using namespace sm100;
using namespace sm100::sim;
using namespace sm100::sim::real_kernels;

// ---- MB14

namespace {

enum class InitFence { none, mbarrier_init, proxy_async };

/// One thread initialises, a barrier of the CTA, then another warp uses the mbarriers: as threads do, or for a
/// commit.
RoleCode barriers_behind_bar_sync(InitFence fence, bool by_unit, bool sync = true) {
  return {.program =
              [=](RoleIsa& isa) {
                if (isa.warpid() == 0) {
                  init_both(isa, fence == InitFence::mbarrier_init);
                  if (fence == InitFence::proxy_async) isa.fence_proxy_async_shared_cta();
                }
                if (sync) isa.bar_sync(kAll, 64);
                if (isa.warpid() == 0) return;
                if (!sync) idle(isa);
                if (by_unit)
                  isa.elected([&] { isa.tcgen05_commit(1, own(isa, kFull)); });
                else
                  arrive(isa, kFull);
                wait_for(isa, kFull);
              },
          .barriers = full_and_empty()};
}

enum class Between { release, relaxed, nothing };

/// Each CTA initialises; its peer arrives at the end of the kernel.
RoleCode barriers_of_the_peer(bool fence, Between between) {
  return {.program =
              [=](RoleIsa& isa) {
                init_both(isa, fence);
                if (between == Between::release) isa.barrier_cluster_arrive();
                if (between == Between::relaxed) isa.barrier_cluster_arrive_relaxed();
                if (between == Between::nothing)
                  idle(isa);
                else
                  isa.barrier_cluster_wait();
                idle(isa);
                isa.elected([&] {
                  isa.mbarrier_arrive(isa.mapa(own(isa, kFull), isa.cluster_ctarank() ^ 1), Scope::cluster);
                });
                wait_for(isa, kFull);
              },
          .warps = 1,
          .ctas = 2,
          .barriers = full_and_empty()};
}

}  // namespace

TEST_CASE("MB14, ThunderKittens: barriers initialised without a fence, behind bar.sync", "[real]") {
  CHECK_DIAGNOSIS(barriers_behind_bar_sync(InitFence::none, false), "clean");  // threads need none
  CHECK_DIAGNOSIS(barriers_behind_bar_sync(InitFence::none, true), "warning MB14, warning TC12");
  CHECK_DIAGNOSIS(barriers_behind_bar_sync(InitFence::mbarrier_init, true), "warning TC12");
  CHECK_DIAGNOSIS(barriers_behind_bar_sync(InitFence::proxy_async, true), "warning TC12");
  CHECK_DIAGNOSIS(barriers_behind_bar_sync(InitFence::mbarrier_init, false, false), "finding MB14");
}

TEST_CASE("MB14: what is said of a warp that initialises and uses, with no barrier between", "[real]") {
  const std::string text = diagnosis({.program =
                                          [](RoleIsa& isa) {
                                            init_both(isa, false);
                                            isa.elected([&] { isa.tcgen05_commit(1, own(isa, kFull)); });
                                            wait_for(isa, kFull);
                                          },
                                      .warps = 1,
                                      .barriers = full_and_empty()});
  CAPTURE(text);
  CHECK(ids_of(text) == "warning MB14, warning TC12");
  CHECK(contains(text, "because the warp itself has initialised it before"));
}

TEST_CASE("MB14: cluster arrive and wait order the init for the peer's threads, with .release", "[real]") {
  CHECK_DIAGNOSIS(barriers_of_the_peer(false, Between::release), "clean");
  CHECK_DIAGNOSIS(barriers_of_the_peer(true, Between::release), "clean");
  CHECK_DIAGNOSIS(barriers_of_the_peer(true, Between::relaxed), "clean");
  CHECK_DIAGNOSIS(barriers_of_the_peer(true, Between::nothing), "finding MB14");
}

TEST_CASE("MB14, CUTLASS 70 and 74: an init behind the last fence, a relaxed cluster arrive, used at the end",
          "[real]") {
  const std::string text = diagnosis(barriers_of_the_peer(false, Between::relaxed));
  CAPTURE(text);
  CHECK(ids_of(text) == "warning MB14");
  CHECK(contains(text, "works on hardware as far as known"));
  CHECK(contains(text, ".relaxed"));
}

// ---- TM7 (D16)

namespace {

enum class HandedBack { by_reader, by_commit, by_nobody };

/// Warp 1 reads a tile as a transform does and tells warp 2, which multiplies another one; warp 0 loads the tile
/// again.
RoleCode transformed(HandedBack handed) {
  static TensorMap map;
  return {.program =
              [=](RoleIsa& isa) {
                constexpr int kWarps = 3;
                const int w = isa.warpid();
                if (w == 0) {
                  isa.elected([&] {
                    for (uint32_t i = 0; i < 4; ++i) isa.mbarrier_init(own(isa, kFull + 8 * i), 1);
                  });
                  isa.fence_mbarrier_init();
                  isa.tcgen05_alloc(own(isa, kAddress), 512, 1);
                }
                isa.bar_sync(kAll, 32 * kWarps);
                const auto load = [&] {
                  isa.elected([&] {
                    isa.mbarrier_arrive_expect_tx(own(isa, kFull), 128, Scope::cta);
                    isa.cp_async_bulk_tensor_shared_global(own(isa, kTile), &map, TensorCoords{0}, own(isa, kFull));
                  });
                };
                if (w == 0) {
                  load();
                  wait_for(isa, kEmpty);  // by the reader or by the commit
                  load();
                  wait_for(isa, kFull, 1);
                } else if (w == 1) {
                  wait_for(isa, kFull);
                  isa.ld_shared_u32(own(isa, kTile));
                  if (handed != HandedBack::by_nobody) arrive(isa, kFull + 16);  // transformed
                  if (handed == HandedBack::by_reader) arrive(isa, kEmpty);
                } else {
                  if (handed != HandedBack::by_nobody) wait_for(isa, kFull + 16);
                  if (handed == HandedBack::by_nobody) idle(isa);
                  isa.elected([&] {
                    multiply(isa, tile(kOther));
                    isa.tcgen05_commit(1, own(isa, handed == HandedBack::by_reader ? kFull + 24 : kEmpty));
                    if (handed != HandedBack::by_reader) isa.tcgen05_commit(1, own(isa, kFull + 24));
                  });
                }
                if (w == 2) wait_for(isa, kFull + 24);
                tear_down(isa, kWarps);
              },
          .warps = 3,
          .barriers = {{"full", {kFull}, 1, 1, "any", "", ""},
                       {"empty", {kEmpty}, 1, 1, "any", "", ""},
                       {"transformed", {kFull + 16}, 1, 1, "any", "", ""},
                       {"done", {kFull + 24}, 1, 1, "any", "", ""}},
          .before = [](Device& device) { map = row_of_words(device.gpu.memory().allocate("row", 128, true)); }};
}

}  // namespace

TEST_CASE("D16: a stage that threads have read comes back through an MMA's commit only", "[real]") {
  CHECK_DIAGNOSIS(transformed(HandedBack::by_reader), "clean");
  const std::string text = diagnosis(transformed(HandedBack::by_commit));
  CAPTURE(text);
  CHECK(ids_of(text) == "warning TM7");
  CHECK(contains(text,
                 "works on hardware as far as known, because the first access was over before the tcgen05.commit"));
  CHECK(contains(ids_of(diagnosis(transformed(HandedBack::by_nobody))), "finding TM7"));
}

// ---- TM9

TEST_CASE("TM9: a CTA that exits while its stores read shared memory is a note", "[real]") {
  static TensorMap map;
  const auto code = [](bool wait, bool load) {
    return RoleCode{
        .program =
            [=](RoleIsa& isa) {
              init_both(isa);
              isa.elected([&] {
                if (load) {
                  isa.mbarrier_arrive_expect_tx(own(isa, kFull), 128, Scope::cta);
                  isa.cp_async_bulk_tensor_shared_global(own(isa, kTile), &map, TensorCoords{0}, own(isa, kFull));
                } else {
                  isa.cp_async_bulk_tensor_global_shared(&map, TensorCoords{0}, own(isa, kTile));
                  isa.cp_async_bulk_commit_group();
                }
              });
              if (wait) isa.cp_async_bulk_wait_group_read<0>();
            },
        .warps = 1,
        .barriers = {{"full", {kFull}, 1, 1, "any", "", ""}},
        .before = [](Device& device) { map = row_of_words(device.gpu.memory().allocate("row", 128, true)); }};
  };
  CHECK_DIAGNOSIS(code(true, false), "clean");
  CHECK_DIAGNOSIS(code(false, false), "note TM9");
  CHECK(contains(ids_of(diagnosis(code(false, true))), "finding TM9"));
}

// ---- the cluster barrier's lanes (D8)

namespace {

RoleCode by_lanes(uint32_t first, uint32_t second, uint32_t waiting = ~0u) {
  return {.program =
              [=](RoleIsa& isa) {
                isa.lanes(first, [&] { isa.barrier_cluster_arrive(); });
                isa.lanes(second, [&] { isa.barrier_cluster_arrive(); });
                isa.lanes(waiting, [&] { isa.barrier_cluster_wait(); });
              },
          .warps = 1,
          .ctas = 2};
}

}  // namespace

TEST_CASE("D8: barrier.cluster.arrive is not .aligned: lanes may come one after the other", "[real]") {
  CHECK_DIAGNOSIS(by_lanes(0x0000ffff, 0xffff0000), "clean");
  CHECK_DIAGNOSIS(by_lanes(1, 0xfffffffe), "clean");
  CHECK_DIAGNOSIS(by_lanes(0x0001ffff, 0xffff0000), "finding CB1");
  CHECK_DIAGNOSIS(by_lanes(1, 2), "finding CB2");
  CHECK_DIAGNOSIS(by_lanes(1, 2, 1), "finding not-implemented");
}

// ---- cp.async

namespace {

enum class Landed { wait_group, arrive, arrive_noinc, nobody_asked };
enum class Writes { copies, stores, both };

/// Warp 1 copies an operand with cp.async and tells warp 0, which multiplies it.
RoleCode copied_by_threads(Landed landed, bool fence, Writes writes = Writes::copies) {
  static GlobalAddr memory;
  const bool noinc = landed == Landed::arrive_noinc;
  return {.program =
              [=](RoleIsa& isa) {
                if (isa.warpid() == 0) {
                  isa.elected([&] {
                    isa.mbarrier_init(own(isa, kFull), noinc ? 32 : 1);
                    isa.mbarrier_init(own(isa, kEmpty), 1);
                  });
                  isa.fence_mbarrier_init();
                  isa.tcgen05_alloc(own(isa, kAddress), 512, 1);
                }
                isa.bar_sync(kAll, 64);
                if (isa.warpid() == 1) {
                  LaneArray<SmemAddr, 1> to{};
                  LaneArray<GlobalAddr, 1> from{};
                  for (int lane = 0; lane < kWarpLanes; ++lane) {
                    to[lane][0] = own(isa, kTile) + 16u * uint32_t(lane);
                    from[lane][0] = memory + 16u * uint64_t(lane);
                  }
                  if (writes != Writes::copies) isa.st_shared_v4(to, LaneArray<uint32_t, 4>{});
                  for (int lane = 0; writes == Writes::both && lane < kWarpLanes; ++lane)
                    to[lane][0] = to[lane][0] + 512;
                  if (writes != Writes::stores) isa.cp_async_cg_shared_global(to, from);
                  isa.cp_async_commit_group();
                  if (landed == Landed::wait_group) isa.cp_async_wait_group<0>();
                  if (landed == Landed::arrive) isa.cp_async_mbarrier_arrive(own(isa, kFull));
                  if (noinc)
                    isa.cp_async_mbarrier_arrive_noinc(own(isa, kFull));
                  else
                    arrive(isa, kFull);
                } else {
                  wait_for(isa, kFull);
                  if (fence) isa.fence_proxy_async_shared_cta();
                  isa.elected([&] {
                    multiply(isa);
                    isa.tcgen05_commit(1, own(isa, kEmpty));
                  });
                  wait_for(isa, kEmpty);
                }
                isa.bar_sync(kAll, 64);
                if (isa.warpid() == 0) isa.tcgen05_dealloc(TmemAddr::at(0, 0), 512, 1);
              },
          .with_data = true,
          .before = [](Device& device) { memory = device.gpu.memory().allocate("a", 4096, true); }};
}

}  // namespace

TEST_CASE("TM6, CUTLASS 92: an operand written by cp.async, without a proxy fence", "[real]") {
  for (const Landed landed : {Landed::wait_group, Landed::arrive, Landed::arrive_noinc}) {
    CAPTURE(int(landed));
    CHECK_DIAGNOSIS(copied_by_threads(landed, true), "clean");
    const std::string text = diagnosis(copied_by_threads(landed, false));
    CAPTURE(text);
    CHECK(ids_of(text) == "warning TM6");
    CHECK(contains(text, "tcgen05.mma reads what cp.async of w1 wrote, without a proxy fence; works on hardware"));
  }
  CHECK_DIAGNOSIS(copied_by_threads(Landed::nobody_asked, true),
                  "finding TM6");  // the arrive says nothing of the copy
  CHECK_DIAGNOSIS(copied_by_threads(Landed::wait_group, false, Writes::stores), "finding TM6");
}

TEST_CASE("TM6, CUTLASS: the edge of a tile is cleared by stores ahead of cp.async.mbarrier.arrive", "[real]") {
  // PTX does not say that cp.async.mbarrier.arrive hands on more than the copies: a warning with the fence, too.
  CHECK_DIAGNOSIS(copied_by_threads(Landed::arrive_noinc, true, Writes::both), "warning TM6");
  const std::string text = diagnosis(copied_by_threads(Landed::arrive_noinc, false, Writes::both));
  CAPTURE(text);
  CHECK(ids_of(text) == "warning TM6");
  CHECK(contains(text, "clear the edge of a tile"));
  const std::string waited = diagnosis(copied_by_threads(Landed::wait_group, false, Writes::both));
  CAPTURE(waited);
  CHECK(contains(ids_of(waited), "finding TM6"));
}

TEST_CASE("SM3: cp.async read by its own warp", "[real]") {
  const auto code = [](bool wait) {
    static GlobalAddr memory;
    return RoleCode{.program =
                        [=](RoleIsa& isa) {
                          LaneArray<SmemAddr, 1> to{};
                          LaneArray<GlobalAddr, 1> from{};
                          for (int lane = 0; lane < kWarpLanes; ++lane) {
                            to[lane][0] = own(isa, kTile) + 16u * uint32_t(lane);
                            from[lane][0] = memory + 16u * uint64_t(lane);
                          }
                          isa.cp_async_cg_shared_global(to, from);
                          isa.cp_async_commit_group();
                          isa.cp_async_commit_group();
                          if (wait) isa.cp_async_wait_group<1>();
                          must(isa.ld_shared_u32(own(isa, kTile) + 16) == 4711);
                        },
                    .warps = 1,
                    .with_data = true,
                    .before =
                        [](Device& device) {
                          memory = device.gpu.memory().allocate("a", 512, true);
                          *reinterpret_cast<uint32_t*>(device.gpu.memory().data(memory + 16, 4)) = 4711;
                        }};
  };
  CHECK_DIAGNOSIS(code(true), "clean");
  CHECK_DIAGNOSIS(code(false), "finding SM3");
}

TEST_CASE("TM6: a tensor load overwrites what threads wrote", "[real]") {
  const auto code = [](bool fence) {
    static GlobalAddr memory;
    return RoleCode{.program =
                        [=](RoleIsa& isa) {
                          const TensorMap map = row_of_words(memory);
                          init_both(isa);
                          LaneArray<SmemAddr, 1> to{};
                          for (int lane = 0; lane < kWarpLanes; ++lane)
                            to[lane][0] = own(isa, kTile) + 16u * uint32_t(lane);
                          isa.st_shared_v4(to, LaneArray<uint32_t, 4>{});
                          if (fence) isa.fence_proxy_async_shared_cta();
                          isa.elected([&] {
                            isa.mbarrier_arrive_expect_tx(own(isa, kFull), 128, Scope::cta);
                            isa.cp_async_bulk_tensor_shared_global(own(isa, kTile), &map, TensorCoords<1>{{0}},
                                                                   own(isa, kFull));
                          });
                          wait_for(isa, kFull);
                        },
                    .warps = 1,
                    .with_data = true,
                    .barriers = full_and_empty(),
                    .before = [](Device& device) { memory = device.gpu.memory().allocate("a", 128, true); }};
  };
  CHECK_DIAGNOSIS(code(true), "clean");
  const std::string text = diagnosis(code(false));
  CAPTURE(text);
  CHECK(ids_of(text) == "finding TM6");
  CHECK(contains(text, "an asynchronous unit overwrites what threads of w0 wrote without a proxy fence"));
}
