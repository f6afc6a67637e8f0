// SPDX-License-Identifier: Apache-2.0
// Production kernels as judges: each pattern that they have and that a check speaks about, as a small kernel, with
// the twin that PTX allows and the one that is truly broken.  What NVIDIA's library does is never the end of a run.
#include <algorithm>

#include "catch.h"
#include "sim/role_code.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr uint32_t kFull = 0x400, kEmpty = 0x408, kFilled = 0x430, kAddress = 0x440, kTile = 0x1000,
                   kOther = 0x3000;
constexpr int kAll = 0;  // a named barrier

std::vector<BarrierArray> full_and_empty() {
  return {{"full", {kFull}, 1, 1, "any", "", ""}, {"empty", {kEmpty}, 1, 1, "any", "", ""}};
}
SmemAddr own(SimIsa& isa, uint32_t offset) { return {isa.cluster_ctarank() << kClusterRankShift | offset}; }
void idle(SimIsa& isa, int cycles = 2000) {
  isa.for_each_lane(cycles, [](int) {});
}
void arrive(SimIsa& isa, uint32_t barrier) {
  isa.elected([&] { isa.mbarrier_arrive(own(isa, barrier), Scope::cta); });
}
void wait_for(SimIsa& isa, uint32_t barrier, uint32_t parity = 0) {
  isa.mbarrier_try_wait_parity(own(isa, barrier), parity, Scope::cta);
}
void init_both(SimIsa& isa, bool fence = true) {
  isa.elected([&] {
    isa.mbarrier_init(own(isa, kFull), 1);
    isa.mbarrier_init(own(isa, kEmpty), 1);
  });
  if (fence) isa.fence_mbarrier_init();
}
const InstrDescriptor kIdesc =
    make_instr_descriptor(MmaKind::f16, DataType::bf16, DataType::bf16, DataType::f32, 128, 64);
SmemDescriptor tile(uint32_t offset = kTile) { return make_smem_descriptor({offset}, 16, 1024, Swizzle::b128); }
/// One lane: D in columns from 0.
void multiply(SimIsa& isa, SmemDescriptor a = tile()) {
  isa.tcgen05_mma(MmaKind::f16, 1, TmemAddr::at(0, 0), a, tile(kOther), kIdesc, false);
}
/// All warps: barriers, and all of tensor memory, with something in columns from 0 to 63.
void set_up(SimIsa& isa, int warps) {
  if (isa.warpid() == 0) {
    init_both(isa);
    isa.elected([&] { isa.mbarrier_init(own(isa, kFilled), 1); });
    isa.fence_mbarrier_init();
    isa.tcgen05_alloc(own(isa, kAddress), 512, 1);
    isa.elected([&] {
      multiply(isa);
      isa.tcgen05_commit(1, own(isa, kFilled));
    });
    wait_for(isa, kFilled);
    isa.tcgen05_fence_before_thread_sync();
  }
  isa.bar_sync(kAll, 32 * warps);
  isa.tcgen05_fence_after_thread_sync();
}
/// All warps, each of which has waited for its accesses: warp 0 frees tensor memory.
void tear_down(SimIsa& isa, int warps) {
  isa.tcgen05_fence_before_thread_sync();
  isa.bar_sync(kAll, 32 * warps);
  isa.tcgen05_fence_after_thread_sync();
  if (isa.warpid() == 0) isa.tcgen05_dealloc(TmemAddr::at(0, 0), 512, 1);
}
/// The same with A in tensor memory, at columns from 256.
constexpr TmemAddr kA = TmemAddr::at(0, 256);
void multiply_from_tmem(SimIsa& isa) {
  isa.tcgen05_mma(MmaKind::f16, 1, TmemAddr::at(0, 0), kA, tile(kOther), kIdesc, false);
}
TmemAddr quarter(SimIsa& isa, uint32_t column = 0) { return TmemAddr::at(uint32_t(isa.warpid() % 4) * 32, column); }

TensorMap row_of_words(GlobalAddr address) {
  TensorMapFields f;
  f.data_type = TensorMapDataType::uint32;
  f.rank = 1;
  f.global_address = address.value;
  f.global_dim[0] = f.box_dim[0] = 32;
  f.element_stride[0] = 1;
  return encode(f);
}

#define CHECK_TOLD(code, expected)            \
  do {                                        \
    const std::string text = diagnosis(code); \
    CAPTURE(text);                            \
    CHECK(ids_of(text) == expected);          \
  } while (false)

bool contains(const std::string& text, const char* what) { return text.find(what) != std::string::npos; }

}  // namespace

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
  CHECK_TOLD(barriers_behind_bar_sync(InitFence::none, false), "clean");  // threads need none
  CHECK_TOLD(barriers_behind_bar_sync(InitFence::none, true), "warning MB14, warning TC12");
  CHECK_TOLD(barriers_behind_bar_sync(InitFence::mbarrier_init, true), "warning TC12");
  CHECK_TOLD(barriers_behind_bar_sync(InitFence::proxy_async, true), "warning TC12");
  CHECK_TOLD(barriers_behind_bar_sync(InitFence::mbarrier_init, false, false), "finding MB14");
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
  CHECK_TOLD(barriers_of_the_peer(false, Between::release), "clean");
  CHECK_TOLD(barriers_of_the_peer(true, Between::release), "clean");
  CHECK_TOLD(barriers_of_the_peer(true, Between::relaxed), "clean");
  CHECK_TOLD(barriers_of_the_peer(true, Between::nothing), "finding MB14");
}

TEST_CASE("MB14, CUTLASS 70 and 74: an init behind the last fence, a relaxed cluster arrive, used at the end",
          "[real]") {
  const std::string text = diagnosis(barriers_of_the_peer(false, Between::relaxed));
  CAPTURE(text);
  CHECK(ids_of(text) == "warning MB14");
  CHECK(contains(text, "works on hardware as far as known"));
  CHECK(contains(text, ".relaxed"));
}

// ---- registers of tcgen05.ld

namespace {

enum class Wait { before_use, none, after_arrive };

/// The epilogue (warp 1) reads D, hands it back, and the next MMA (warp 0) overwrites it.
RoleCode accumulator_handed_back(Wait wait, bool read_before_arrive = true) {
  return {.program =
              [=](RoleIsa& isa) {
                set_up(isa, 2);
                if (isa.warpid() == 0) {
                  wait_for(isa, kEmpty);
                  isa.tcgen05_fence_after_thread_sync();
                  isa.elected([&] {
                    multiply(isa);
                    isa.tcgen05_commit(1, own(isa, kFull));
                  });
                  wait_for(isa, kFull);
                } else {
                  const auto sums = isa.tcgen05_ld_32x32b<8>(quarter(isa));
                  (void)sums;
                  if (wait == Wait::before_use) isa.tcgen05_wait_ld();
                  if (read_before_arrive) isa.for_each_lane(8, [](int) {});
                  isa.tcgen05_fence_before_thread_sync();
                  arrive(isa, kEmpty);
                  if (wait == Wait::after_arrive) isa.tcgen05_wait_ld();
                  isa.for_each_lane(8, [](int) {});
                }
                tear_down(isa, 2);
              },
          .barriers = full_and_empty()};
}

}  // namespace

TEST_CASE("TC18, FMHA: a tcgen05.ld whose registers are read is over, without wait::ld", "[real]") {
  CHECK_TOLD(accumulator_handed_back(Wait::before_use), "clean");
  const std::string text = diagnosis(accumulator_handed_back(Wait::none));
  CAPTURE(text);
  CHECK(ids_of(text) == "warning TC18");
  CHECK(contains(text, "w1 may read a register of tcgen05.ld before tcgen05.wait::ld"));
  CHECK_TOLD(accumulator_handed_back(Wait::none, false), "finding TC15, warning TC18");  // released, then read
  CHECK_TOLD(accumulator_handed_back(Wait::after_arrive, false), "finding TC15");  // released, then waited for
}

namespace {

/// Tensor memory is freed by warp 0 after a barrier, while warp 1's load may be on its way.
RoleCode freed_behind_a_load(bool wait, bool read) {
  return {.program =
              [=](RoleIsa& isa) {
                set_up(isa, 2);
                if (isa.warpid() == 1) {
                  isa.tcgen05_ld_32x32b<8>(quarter(isa));
                  if (wait) isa.tcgen05_wait_ld();
                  if (read) isa.for_each_lane(8, [](int) {});
                }
                isa.bar_sync(kAll, 64);  // without tcgen05 fences, as everybody has it
                if (isa.warpid() == 0) isa.tcgen05_dealloc(TmemAddr::at(0, 0), 512, 1);
              },
          .barriers = full_and_empty()};
}

}  // namespace

TEST_CASE("TC9 and TC16: loads that are over, then a barrier and dealloc, need no fence", "[real]") {
  CHECK_TOLD(freed_behind_a_load(true, true), "clean");
  CHECK_TOLD(freed_behind_a_load(false, true), "warning TC18");
  CHECK_TOLD(freed_behind_a_load(false, false), "finding TC9");
}

TEST_CASE("TC18: an instruction that takes the registers of the load reads them", "[real]") {
  const auto code = [](bool wait, bool store) {
    return RoleCode{.program =
                        [=](RoleIsa& isa) {
                          set_up(isa, 1);
                          const auto sums = isa.tcgen05_ld_16x256b<1>(quarter(isa));
                          if (wait) isa.tcgen05_wait_ld();
                          const LaneArray<uint32_t, 4> other{};
                          isa.tcgen05_st_16x256b(quarter(isa), store ? sums : other);  // what it has loaded from
                          isa.tcgen05_wait_st();
                          tear_down(isa, 1);
                        },
                    .warps = 1,
                    .barriers = full_and_empty()};
  };
  CHECK_TOLD(code(true, true), "clean");
  CHECK_TOLD(code(false, true), "warning TC18");
  CHECK(contains(diagnosis(code(false, true)), "w0 reads a register"));
  CHECK_TOLD(code(false, false), "finding TC15");
}

TEST_CASE("TC18: arithmetic on registers that a wait::ld has made valid reads no prefetched ones", "[real]") {
  const auto code = [](bool last_wait) {
    return RoleCode{.program =
                        [=](RoleIsa& isa) {
                          set_up(isa, 1);
                          isa.tcgen05_ld_32x32b<8>(quarter(isa));
                          isa.tcgen05_wait_ld();
                          isa.tcgen05_ld_32x32b<8>(quarter(isa, 8));
                          isa.for_each_lane(8, [](int) {});  // of the first
                          if (last_wait) isa.tcgen05_wait_ld();
                          isa.for_each_lane(8, [](int) {});
                          isa.bar_sync(kAll, 32);
                          isa.tcgen05_dealloc(TmemAddr::at(0, 0), 512, 1);
                        },
                    .warps = 1,
                    .barriers = full_and_empty()};
  };
  CHECK_TOLD(code(true), "clean");
  CHECK_TOLD(code(false), "finding TC9");  // as PTX has it: nothing shows that the second has been read
}

TEST_CASE("TC18: a front end that knows registers says which load was read", "[real]") {
  const auto code = [](uint32_t read) {
    return RoleCode{.program =
                        [=](RoleIsa& isa) {
                          set_up(isa, 1);
                          isa.tcgen05_ld_32x32b<8>(quarter(isa));
                          must(isa.last_tmem_load() == 1);
                          isa.tcgen05_ld_32x32b<8>(quarter(isa, 8));
                          if (read > 0) isa.tmem_register_read(read);
                          isa.bar_sync(kAll, 32);
                          isa.tcgen05_dealloc(TmemAddr::at(0, 0), 512, 1);
                        },
                    .warps = 1,
                    .barriers = full_and_empty()};
  };
  CHECK_TOLD(code(0), "finding TC9");
  CHECK_TOLD(code(1), "finding TC9, warning TC18");
  CHECK_TOLD(code(2), "warning TC18");  // loads of a warp end in their order
}

// ---- tcgen05.st

namespace {

enum class Reader { same_warp, other_warp, mma };

/// Warp 1 stores; it, or warp 5 with the same lanes, loads; or warp 0 multiplies what was stored.
RoleCode stored(Reader reader, bool wait, bool sync = true, bool fences = true) {
  return {.program =
              [=](RoleIsa& isa) {
                constexpr int kWarps = 6;
                set_up(isa, kWarps);
                const int w = isa.warpid();
                const TmemAddr at = TmemAddr::at(32, 256);
                if (w == 1) {
                  isa.tcgen05_st_16x256b(at, LaneArray<uint32_t, 4>{});
                  if (wait) isa.tcgen05_wait_st();
                  if (fences) isa.tcgen05_fence_before_thread_sync();
                }
                if (sync) isa.bar_sync(1, 32 * kWarps);
                if (!sync && w != 1) idle(isa);
                if (fences) isa.tcgen05_fence_after_thread_sync();
                if ((reader == Reader::same_warp && w == 1) || (reader == Reader::other_warp && w == 5)) {
                  isa.tcgen05_ld_16x256b<1>(at);
                  isa.tcgen05_wait_ld();
                }
                if (reader == Reader::mma && w == 0) {
                  isa.elected([&] {
                    multiply_from_tmem(isa);
                    isa.tcgen05_commit(1, own(isa, kFull));
                  });
                  wait_for(isa, kFull);
                }
                if (w == 1) isa.tcgen05_wait_st();
                tear_down(isa, kWarps);
              },
          .warps = 6,
          .barriers = full_and_empty()};
}

}  // namespace

TEST_CASE("TC4, stream-K: a warp loads what it has stored, without wait::st", "[real]") {
  CHECK_TOLD(stored(Reader::same_warp, true), "clean");
  const std::string text = diagnosis(stored(Reader::same_warp, false));
  CAPTURE(text);
  CHECK(ids_of(text) == "warning TC4");
  CHECK(contains(text, "works on hardware as far as known, because"));
}

TEST_CASE("TC4, FMHA: another warp loads what was stored without wait::st", "[real]") {
  CHECK_TOLD(stored(Reader::other_warp, true), "clean");
  CHECK_TOLD(stored(Reader::other_warp, false), "warning TC4");
  CHECK_TOLD(stored(Reader::other_warp, false, false), "finding TC4");
}

// ---- operand A in tensor memory (D12)

TEST_CASE("D12: operand A in tensor memory is read by the MMA", "[real]") {
  CHECK_TOLD(stored(Reader::mma, true), "clean");
  CHECK_TOLD(stored(Reader::mma, true, true, false), "warning TC16");
  CHECK_TOLD(stored(Reader::mma, false), "finding TC4");
  CHECK_TOLD(stored(Reader::mma, true, false), "finding TC4");
}

TEST_CASE("D12: operand A in tensor memory is overwritten behind its commit", "[real]") {
  const auto code = [](bool wait) {
    return RoleCode{.program =
                        [=](RoleIsa& isa) {
                          set_up(isa, 2);
                          if (isa.warpid() == 0)
                            isa.elected([&] {
                              multiply_from_tmem(isa);
                              isa.tcgen05_commit(1, own(isa, kFull));
                            });
                          isa.bar_sync(1, 64);
                          if (wait || isa.warpid() == 0) wait_for(isa, kFull);
                          isa.tcgen05_fence_after_thread_sync();
                          if (isa.warpid() == 1) {
                            isa.tcgen05_st_16x256b(TmemAddr::at(32, 256), LaneArray<uint32_t, 4>{});
                            isa.tcgen05_wait_st();
                          }
                          tear_down(isa, 2);
                        },
                    .barriers = full_and_empty()};
  };
  CHECK_TOLD(code(true), "clean");
  const std::string text = diagnosis(code(false));
  CAPTURE(text);
  CHECK(ids_of(text) == "finding TC17");
  CHECK(contains(text, "w1 overwrites operand A in tensor memory that MMAs may still read"));
}

// ---- SM3

namespace {

enum class Published { bar_sync, commit, relaxed, nothing };

/// Warp 0 allocates; warp 1 reads the address.
RoleCode address_published(Published by) {
  return {.program =
              [=](RoleIsa& isa) {
                if (isa.warpid() == 0) init_both(isa);
                isa.bar_sync(1, 64);
                if (isa.warpid() == 0) {
                  isa.tcgen05_alloc(own(isa, kAddress), 512, 1);
                  isa.elected([&] {
                    multiply(isa);
                    isa.tcgen05_commit(1, own(isa, kFull));
                  });
                }
                if (by == Published::bar_sync) isa.bar_sync(kAll, 64);
                if (by == Published::relaxed) isa.barrier_cluster_arrive_relaxed(), isa.barrier_cluster_wait();
                if (by == Published::commit || isa.warpid() == 0) wait_for(isa, kFull);
                if (by == Published::nothing) idle(isa);
                if (isa.warpid() == 1) isa.ld_shared_u32(own(isa, kAddress));
                isa.bar_sync(kAll, 64);
                if (isa.warpid() == 0) isa.tcgen05_dealloc(TmemAddr::at(0, 0), 512, 1);
              },
          .barriers = full_and_empty()};
}

}  // namespace

TEST_CASE("SM3, FMHA: the address of tensor memory reaches a warp through a tcgen05.commit only", "[real]") {
  CHECK_TOLD(address_published(Published::bar_sync), "clean");
  CHECK_TOLD(address_published(Published::commit), "warning SM3");
  CHECK_TOLD(address_published(Published::relaxed), "warning SM3");  // DeepGEMM's pairs
  CHECK_TOLD(address_published(Published::nothing), "finding SM3");
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
  CHECK_TOLD(transformed(HandedBack::by_reader), "clean");
  const std::string text = diagnosis(transformed(HandedBack::by_commit));
  CAPTURE(text);
  CHECK(ids_of(text) == "warning TM7");
  CHECK(contains(text,
                 "works on hardware as far as known, because the first access was over before the tcgen05.commit"));
  CHECK(contains(ids_of(diagnosis(transformed(HandedBack::by_nobody))), "finding TM7"));
}

// ---- TC16 and TM9

TEST_CASE("TC16, CUTLASS: a missing tcgen05.fence is told once for each pair of instructions", "[real]") {
  const auto code = [](bool fence, bool wait) {
    return RoleCode{.program =
                        [=](RoleIsa& isa) {
                          constexpr int kWarps = 5;
                          set_up(isa, kWarps);
                          if (isa.warpid() == 0)
                            isa.elected([&] {
                              for (int i = 0; i < 4; ++i) multiply(isa);
                              isa.tcgen05_commit(1, own(isa, kFull));
                            });
                          if (!wait && isa.warpid() > 0)
                            idle(isa);
                          else
                            wait_for(isa, kFull);
                          if (fence) isa.tcgen05_fence_after_thread_sync();
                          if (isa.warpid() > 0)
                            for (uint32_t column = 0; column < 64; column += 8) {
                              isa.tcgen05_ld_32x32b<8>(quarter(isa, column));
                              isa.tcgen05_wait_ld();
                            }
                          tear_down(isa, kWarps);
                        },
                    .warps = 5,
                    .barriers = full_and_empty()};
  };
  CHECK_TOLD(code(true, true), "clean");
  const std::string text = diagnosis(code(false, true));
  CAPTURE(text);
  CHECK(ids_of(text) == "warning TC16");
  CHECK(text.find("warning TC16") ==
        text.rfind("warning TC16"));  // four warps, eight loads, four MMAs: one pair of lines
  CHECK_TOLD(code(true, false), "finding TC3");
}

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
  CHECK_TOLD(code(true, false), "clean");
  CHECK_TOLD(code(false, false), "note TM9");
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
  CHECK_TOLD(by_lanes(0x0000ffff, 0xffff0000), "clean");
  CHECK_TOLD(by_lanes(1, 0xfffffffe), "clean");
  CHECK_TOLD(by_lanes(0x0001ffff, 0xffff0000), "finding CB1");
  CHECK_TOLD(by_lanes(1, 2), "finding CB2");
  CHECK_TOLD(by_lanes(1, 2, 1), "finding not-implemented");
}

// ---- cp.async

namespace {

enum class Landed { wait_group, arrive, arrive_noinc, nobody_asked };

/// Warp 1 copies an operand with cp.async and tells warp 0, which multiplies it.
RoleCode copied_by_threads(Landed landed, bool fence, bool store_instead = false) {
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
                  if (store_instead)
                    isa.st_shared_v4(to, LaneArray<uint32_t, 4>{});
                  else
                    isa.cp_async_cg_shared_global(to, from);
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
    CHECK_TOLD(copied_by_threads(landed, true), "clean");
    const std::string text = diagnosis(copied_by_threads(landed, false));
    CAPTURE(text);
    CHECK(ids_of(text) == "warning TM6");
    CHECK(contains(text, "tcgen05.mma reads what cp.async of w1 wrote, without a proxy fence; works on hardware"));
  }
  CHECK_TOLD(copied_by_threads(Landed::nobody_asked, true), "finding TM6");  // the arrive says nothing of the copy
  CHECK_TOLD(copied_by_threads(Landed::wait_group, false, true), "finding TM6");  // st.shared
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
  CHECK_TOLD(code(true), "clean");
  CHECK_TOLD(code(false), "finding SM3");
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
  CHECK_TOLD(code(true), "clean");
  const std::string text = diagnosis(code(false));
  CAPTURE(text);
  CHECK(ids_of(text) == "finding TM6");
  CHECK(contains(text, "an asynchronous unit overwrites what threads of w0 wrote without a proxy fence"));
}
