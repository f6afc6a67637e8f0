// SPDX-License-Identifier: Apache-2.0
// Production kernels as judges, tensor memory: each pattern that they have and that a check speaks about,
// as a small kernel, with the twin that PTX allows and the one that is truly broken.  What NVIDIA's library does is
// never the end of a run.
#include <algorithm>

#include "sim/real_kernels.h"

using namespace sm100;
using namespace sm100::sim;
using namespace sm100::sim::real_kernels;

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
  CHECK_DIAGNOSIS(accumulator_handed_back(Wait::before_use), "clean");
  const std::string text = diagnosis(accumulator_handed_back(Wait::none));
  CAPTURE(text);
  CHECK(ids_of(text) == "warning TC18");
  CHECK(contains(text, "w1 may read a register of tcgen05.ld before tcgen05.wait::ld"));
  CHECK_DIAGNOSIS(accumulator_handed_back(Wait::none, false), "finding TC15, warning TC18");  // released, then read
  CHECK_DIAGNOSIS(accumulator_handed_back(Wait::after_arrive, false), "finding TC15");  // released, then waited for
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
  CHECK_DIAGNOSIS(freed_behind_a_load(true, true), "clean");
  CHECK_DIAGNOSIS(freed_behind_a_load(false, true), "warning TC18");
  CHECK_DIAGNOSIS(freed_behind_a_load(false, false), "finding TC9");
}

namespace {

enum class Behind { relaxed_arrive, exit, nothing };

/// Warp 0 frees tensor memory that warp 1 has loaded: behind a cluster barrier at which warp 1 arrives .relaxed
/// (learn-cuda v7, DeepGEMM), or which it leaves to its exit (ThunderKittens), or behind nothing.
RoleCode freed_behind_a_cluster_barrier(Behind behind, bool wait = true) {
  return {.program =
              [=](RoleIsa& isa) {
                set_up(isa, 2);
                if (isa.warpid() == 1) {
                  isa.tcgen05_ld_32x32b<8>(quarter(isa));
                  if (wait) isa.tcgen05_wait_ld();
                  if (behind == Behind::exit) return;
                }
                if (behind != Behind::nothing) {
                  isa.barrier_cluster_arrive_relaxed();
                  isa.barrier_cluster_wait();
                } else {
                  idle(isa);
                }
                if (isa.warpid() == 0) isa.tcgen05_dealloc(TmemAddr::at(0, 0), 512, 1);
              },
          .barriers = full_and_empty()};
}

}  // namespace

TEST_CASE("TC9: a cluster barrier that is relaxed, or that the other warp's exit completes, comes before dealloc",
          "[real]") {
  CHECK_DIAGNOSIS(freed_behind_a_cluster_barrier(Behind::relaxed_arrive), "clean");
  CHECK_DIAGNOSIS(freed_behind_a_cluster_barrier(Behind::exit), "clean");
  CHECK_DIAGNOSIS(freed_behind_a_cluster_barrier(Behind::nothing), "finding TC9");
  CHECK_DIAGNOSIS(freed_behind_a_cluster_barrier(Behind::relaxed_arrive, false), "finding TC9");
}

namespace {

enum class Use { waits, loads, nothing };

/// Warp 0 multiplies, warp 1 waits for its commit, warp 2 frees tensor memory behind a barrier of all: no tcgen05
/// fences but the one before the load.
RoleCode freed_by_a_third_warp(Use use) {
  return {.program =
              [=](RoleIsa& isa) {
                constexpr int kWarps = 3;
                set_up(isa, kWarps);
                if (isa.warpid() == 0)
                  isa.elected([&] {
                    multiply(isa);
                    isa.tcgen05_commit(1, own(isa, kFull));
                  });
                if (isa.warpid() == 1 && use != Use::nothing) wait_for(isa, kFull);
                if (isa.warpid() == 1 && use == Use::loads) {
                  isa.tcgen05_fence_after_thread_sync();
                  isa.tcgen05_ld_32x32b<8>(quarter(isa));
                  isa.tcgen05_wait_ld();
                }
                idle(isa);
                isa.bar_sync(kAll, 32 * kWarps);
                if (isa.warpid() == 2) isa.tcgen05_dealloc(TmemAddr::at(0, 0), 512, 1);
              },
          .warps = 3,
          .barriers = full_and_empty()};
}

}  // namespace

TEST_CASE("TC16: tcgen05.dealloc is synchronous: behind MMAs that are over a third warp needs no fence", "[real]") {
  CHECK_DIAGNOSIS(freed_by_a_third_warp(Use::waits), "clean");
  CHECK_DIAGNOSIS(freed_by_a_third_warp(Use::loads), "clean");
  CHECK_DIAGNOSIS(freed_by_a_third_warp(Use::nothing), "finding TC9, warning MB16");
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
  CHECK_DIAGNOSIS(code(true, true), "clean");
  CHECK_DIAGNOSIS(code(false, true), "warning TC18");
  CHECK(contains(diagnosis(code(false, true)), "w0 reads a register"));
  CHECK_DIAGNOSIS(code(false, false), "finding TC15");
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
  CHECK_DIAGNOSIS(code(true), "clean");
  CHECK_DIAGNOSIS(code(false), "finding TC9");  // as PTX has it: nothing shows that the second has been read
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
  CHECK_DIAGNOSIS(code(0), "finding TC9");
  CHECK_DIAGNOSIS(code(1), "finding TC9, warning TC18");
  CHECK_DIAGNOSIS(code(2), "warning TC18");  // loads of a warp end in their order
}

// ---- tcgen05.st

namespace {

enum class Reader { same_warp, other_warp, mma };

/// Warp 1 stores; it, or warp 5 with the same lanes, loads; or warp 0 multiplies what was stored.
/// `loads`: warp 1 loads it first, and waits for that.
RoleCode stored(Reader reader, bool wait, bool sync = true, bool fences = true, bool loads = false) {
  return {.program =
              [=](RoleIsa& isa) {
                constexpr int kWarps = 6;
                set_up(isa, kWarps);
                const int w = isa.warpid();
                const TmemAddr at = TmemAddr::at(32, 256);
                if (w == 1) {
                  isa.tcgen05_st_16x256b(at, LaneArray<uint32_t, 4>{});
                  if (wait) isa.tcgen05_wait_st();
                  if (loads) {
                    isa.tcgen05_ld_16x256b<1>(at);
                    isa.tcgen05_wait_ld();
                  }
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
  CHECK_DIAGNOSIS(stored(Reader::same_warp, true), "clean");
  const std::string text = diagnosis(stored(Reader::same_warp, false));
  CAPTURE(text);
  CHECK(ids_of(text) == "warning TC4");
  CHECK(contains(text, "works on hardware as far as known, because"));
}

TEST_CASE("TC4, stream-K: an MMA comes behind a store whose warp has loaded since", "[real]") {
  const std::string text = diagnosis(stored(Reader::mma, false, true, true, true));
  CAPTURE(text);
  CHECK(ids_of(text) == "warning TC4");
  CHECK(contains(text, "w0 uses tensor memory that tcgen05.st of w1 may still write"));
}

TEST_CASE("TC4, FMHA: another warp loads what was stored without wait::st", "[real]") {
  CHECK_DIAGNOSIS(stored(Reader::other_warp, true), "clean");
  CHECK_DIAGNOSIS(stored(Reader::other_warp, false), "warning TC4");
  CHECK_DIAGNOSIS(stored(Reader::other_warp, false, false), "finding TC4");
}

// ---- operand A in tensor memory (D12)

TEST_CASE("D12: operand A in tensor memory is read by the MMA", "[real]") {
  CHECK_DIAGNOSIS(stored(Reader::mma, true), "clean");
  CHECK_DIAGNOSIS(stored(Reader::mma, true, true, false), "warning TC16");
  CHECK_DIAGNOSIS(stored(Reader::mma, false), "finding TC4");
  CHECK_DIAGNOSIS(stored(Reader::mma, true, false), "finding TC4");
}

TEST_CASE("D12: operand A in tensor memory is overwritten behind its commit", "[real]") {
  const auto code = [](bool wait) {
    return RoleCode{.program =
                        [=](RoleIsa& isa) {
                          set_up(isa, 2);
                          const auto store = [&] {
                            isa.tcgen05_st_16x256b(TmemAddr::at(32, 256), LaneArray<uint32_t, 4>{});
                            isa.tcgen05_wait_st();
                            isa.tcgen05_fence_before_thread_sync();
                          };
                          if (isa.warpid() == 1) store();
                          isa.bar_sync(2, 64);
                          isa.tcgen05_fence_after_thread_sync();
                          if (isa.warpid() == 0)
                            isa.elected([&] {
                              multiply_from_tmem(isa);
                              isa.tcgen05_commit(1, own(isa, kFull));
                            });
                          isa.bar_sync(1, 64);
                          if (wait || isa.warpid() == 0) wait_for(isa, kFull);
                          isa.tcgen05_fence_after_thread_sync();
                          if (isa.warpid() == 1) store();
                          tear_down(isa, 2);
                        },
                    .barriers = full_and_empty()};
  };
  CHECK_DIAGNOSIS(code(true), "clean");
  const std::string text = diagnosis(code(false));
  CAPTURE(text);
  CHECK(ids_of(text) == "finding TC17");
  CHECK(contains(text, "w1 overwrites operand A in tensor memory that MMAs may still read"));
}

// ---- MMAs of two warps

namespace {

/// Warp 0 multiplies and commits nothing, warp 1 adds to the same accumulator, commits and reads.
/// @param lane  of warp 0; set_up has multiplied in lane 0
RoleCode added_by_another_warp(bool sync, bool fences, bool commit = true, uint32_t lane = 0) {
  return {.program =
              [=](RoleIsa& isa) {
                set_up(isa, 2);
                const auto together = [&] {
                  if (fences) isa.tcgen05_fence_before_thread_sync();
                  if (sync)
                    isa.bar_sync(1, 64);
                  else if (isa.warpid() == 1)
                    idle(isa);
                  if (fences) isa.tcgen05_fence_after_thread_sync();
                };
                if (isa.warpid() == 0) isa.lanes(1u << lane, [&] { multiply(isa); });
                together();
                if (isa.warpid() == 1) {
                  isa.elected([&] {
                    multiply(isa);
                    if (commit) isa.tcgen05_commit(1, own(isa, kFull));
                  });
                  if (commit) wait_for(isa, kFull);
                  if (!commit) idle(isa);
                  isa.tcgen05_fence_after_thread_sync();
                  isa.tcgen05_ld_32x32b<8>(quarter(isa));
                  isa.tcgen05_wait_ld();
                }
                tear_down(isa, 2);
              },
          .barriers = full_and_empty()};
}

}  // namespace

TEST_CASE("TC17: MMAs of two warps that synchronise are in order without a commit between them", "[real]") {
  CHECK_DIAGNOSIS(added_by_another_warp(true, true), "clean");
  CHECK_DIAGNOSIS(added_by_another_warp(true, false), "warning TC16");
  CHECK_DIAGNOSIS(added_by_another_warp(false, false), "finding TC17");
  CHECK_DIAGNOSIS(added_by_another_warp(false, true), "finding TC17");
  CHECK_DIAGNOSIS(added_by_another_warp(true, true, false), "finding TC3");
  CHECK_DIAGNOSIS(added_by_another_warp(true, true, true, 1), "clean");
  CHECK_DIAGNOSIS(added_by_another_warp(true, false, true, 1), "warning TC16");
  CHECK_DIAGNOSIS(added_by_another_warp(false, true, true, 1), "finding TC17");
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
  CHECK_DIAGNOSIS(address_published(Published::bar_sync), "clean");
  CHECK_DIAGNOSIS(address_published(Published::commit), "warning SM3");
  CHECK_DIAGNOSIS(address_published(Published::relaxed), "warning SM3");  // DeepGEMM's pairs
  CHECK_DIAGNOSIS(address_published(Published::nothing), "finding SM3");
}

// ---- TC16

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
  CHECK_DIAGNOSIS(code(true, true), "clean");
  const std::string text = diagnosis(code(false, true));
  CAPTURE(text);
  CHECK(ids_of(text) == "warning TC16");
  CHECK(text.find("warning TC16") ==
        text.rfind("warning TC16"));  // four warps, eight loads, four MMAs: one pair of lines
  CHECK_DIAGNOSIS(code(true, false), "finding TC3");
}
