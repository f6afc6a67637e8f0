// SPDX-License-Identifier: Apache-2.0
// tcgen05.cp among warps: what has to lie between a copy and whoever reads, fills or overwrites what it touches.
#include "sim/real_kernels.h"

using namespace sm100;
using namespace sm100::sim;
using namespace sm100::sim::real_kernels;

namespace {

constexpr uint32_t kScales = 0x5000;        ///< 512 bytes in shared memory
constexpr uint32_t kSfa = 128, kSfb = 132;  ///< columns
constexpr TmemCopyShape kBlock = TmemCopyShape::s32x128b_warpx4;

SmemDescriptor scales(uint32_t at = kScales) { return make_smem_descriptor({at}, 0, 128, Swizzle::none); }
void copy(SimIsa& isa, uint32_t column = kSfa, int cta_group = 1, uint32_t from = kScales) {
  isa.tcgen05_cp(kBlock, cta_group, TmemAddr::at(0, column), scales(from));
}
void multiply_scaled(SimIsa& isa) {
  const InstrDescriptor idesc =
      make_instr_descriptor(MmaKind::mxf8f6f4, DataType::e4m3, DataType::e4m3, DataType::f32, 128, 64);
  isa.tcgen05_mma_block_scale(MmaKind::mxf8f6f4, 1, ScaleVec::x1, TmemAddr::at(0, 0), tile(), tile(kOther), idesc,
                              TmemAddr::at(0, kSfa), TmemAddr::at(0, kSfb), false);
}
/// Everything that warp 0 has issued is over.
void commit_and_wait(SimIsa& isa, uint32_t parity = 0) {
  isa.elected([&] { isa.tcgen05_commit(1, own(isa, kFull)); });
  wait_for(isa, kFull, parity);
}

/// A kernel of one warp.
RoleCode alone(std::function<void(RoleIsa&)> body, std::vector<host::FaultSpec> faults = {}) {
  return {.program =
              [=](RoleIsa& isa) {
                set_up(isa, 1);
                body(isa);
                tear_down(isa, 1);
              },
          .warps = 1,
          .barriers = full_and_empty(),
          .faults = std::move(faults)};
}

enum class Between { commit_wait_fence, commit_wait, barrier };

/// Warp 0 copies, warp 1 loads the columns.
RoleCode copied_then_loaded(Between between) {
  return {.program =
              [=](RoleIsa& isa) {
                set_up(isa, 2);
                if (isa.warpid() == 0) {
                  isa.elected([&] {
                    copy(isa);
                    if (between != Between::barrier) isa.tcgen05_commit(1, own(isa, kFull));
                  });
                  if (between == Between::barrier) arrive(isa, kFull);
                  idle(isa);  // the copy is over in time, whatever is promised
                } else {
                  wait_for(isa, kFull);
                  if (between != Between::commit_wait) isa.tcgen05_fence_after_thread_sync();
                  isa.tcgen05_ld_32x32b<4>(quarter(isa, kSfa));
                  isa.tcgen05_wait_ld();
                }
                tear_down(isa, 2);
              },
          .barriers = full_and_empty()};
}

}  // namespace

TEST_CASE("cp then ld: a commit, a wait for it and the fence", "[cp]") {
  CHECK_DIAGNOSIS(copied_then_loaded(Between::commit_wait_fence), "clean");
  CHECK_DIAGNOSIS(copied_then_loaded(Between::commit_wait), "warning TC16");
  const std::string text = diagnosis(copied_then_loaded(Between::barrier));
  CAPTURE(text);
  CHECK(contains(ids_of(text), "finding TC3"));
  CHECK(contains(text, "w1 reads tensor memory that tcgen05.cp may still write"));
  CHECK(contains(text, "no tcgen05.commit has followed the first"));
}

TEST_CASE("cp then MMA, by one thread: in order without a wait, the way back is a note", "[cp]") {
  CHECK_DIAGNOSIS(alone([](RoleIsa& isa) {
                    isa.elected([&] { copy(isa), copy(isa, kSfb), multiply_scaled(isa); });
                    commit_and_wait(isa);
                  }),
                  "clean");
  const auto again = [](bool wait) {
    return alone([=](RoleIsa& isa) {
      isa.elected([&] { copy(isa), copy(isa, kSfb), multiply_scaled(isa); });
      if (wait) commit_and_wait(isa);
      isa.elected([&] { copy(isa), copy(isa, kSfb), multiply_scaled(isa); });
      commit_and_wait(isa, wait ? 1 : 0);
    });
  };
  CHECK_DIAGNOSIS(again(true), "clean");
  const std::string text = diagnosis(again(false));
  CAPTURE(text);
  CHECK(ids_of(text) == "note TC17");
  CHECK(contains(text, "PTX does not list the two as ordered, CUTLASS and DeepGEMM rely on it"));
}

namespace {

enum class Handed { committed, fenced, arrived, not_at_all };

/// Warp 0 copies, warp 1 multiplies with what it has copied.
RoleCode copied_for_another_warp(Handed handed) {
  return {.program =
              [=](RoleIsa& isa) {
                set_up(isa, 2);
                if (isa.warpid() == 0) {
                  isa.elected([&] {
                    copy(isa), copy(isa, kSfb);
                    if (handed == Handed::committed) isa.tcgen05_commit(1, own(isa, kFull));
                  });
                  if (handed == Handed::fenced) isa.tcgen05_fence_before_thread_sync();
                  if (handed == Handed::fenced || handed == Handed::arrived) arrive(isa, kFull);
                } else {
                  if (handed == Handed::not_at_all)
                    idle(isa);
                  else
                    wait_for(isa, kFull);
                  isa.tcgen05_fence_after_thread_sync();
                  isa.elected([&] {
                    multiply_scaled(isa);
                    isa.tcgen05_commit(1, own(isa, kEmpty));
                  });
                  wait_for(isa, kEmpty);
                }
                tear_down(isa, 2);
              },
          .barriers = full_and_empty()};
}

}  // namespace

TEST_CASE("cp by one warp, MMA by another: in order once they synchronise, without a commit between them", "[cp]") {
  CHECK_DIAGNOSIS(copied_for_another_warp(Handed::committed), "clean");
  CHECK_DIAGNOSIS(copied_for_another_warp(Handed::fenced), "clean");
  CHECK_DIAGNOSIS(copied_for_another_warp(Handed::arrived), "warning TC16");
  const std::string text = diagnosis(copied_for_another_warp(Handed::not_at_all));
  CAPTURE(text);
  CHECK(contains(ids_of(text), "finding TC17"));
  CHECK(contains(text, "w1 reads tensor memory that tcgen05.cp of w0 may still write"));
  CHECK(contains(text,
                 "missing: an arrive of w0 after the copy and a wait of w1 for it, tcgen05.fence on both sides"));
}

TEST_CASE("threads write what cp reads: a proxy fence and a barrier", "[cp]") {
  const auto code = [](bool fence, bool barrier) {
    return RoleCode{.program =
                        [=](RoleIsa& isa) {
                          set_up(isa, 2);
                          if (isa.warpid() == 1) {
                            LaneArray<SmemAddr, 1> rows;
                            for (int lane = 0; lane < kWarpLanes; ++lane)
                              rows[lane][0] = own(isa, kScales + 16 * uint32_t(lane));
                            isa.st_shared_v4(rows, LaneArray<uint32_t, 4>{});
                            if (fence) isa.fence_proxy_async_shared_cta();
                          }
                          if (barrier) isa.bar_sync(kAll, 64);
                          if (isa.warpid() == 0) {
                            idle(isa);
                            isa.elected([&] { copy(isa); });
                            commit_and_wait(isa);
                          }
                          tear_down(isa, 2);
                        },
                    .with_data = true,
                    .barriers = full_and_empty()};
  };
  CHECK_DIAGNOSIS(code(true, true), "clean");
  const std::string text = diagnosis(code(false, true));
  CAPTURE(text);
  CHECK(ids_of(text) == "finding TM6");
  CHECK(contains(text, "tcgen05.cp reads what threads of w1 wrote without a proxy fence"));
  CHECK_DIAGNOSIS(code(true, false), "finding TM6");
}

namespace {

TensorMap block_map;

/// Warp 1 fills the block twice, warp 0 copies it each time.
/// @param release  false: the stage comes back by an arrive after the copy has been issued, not by a commit
/// @param wait     false: the copy does not wait for the fill
RoleCode filled_twice(bool release, bool wait) {
  return {.program =
              [=](RoleIsa& isa) {
                set_up(isa, 2);
                const auto fill = [&] {
                  isa.elected([&] {
                    isa.mbarrier_arrive_expect_tx(own(isa, kFull), 512, Scope::cta);
                    isa.cp_async_bulk_tensor_shared_global(own(isa, kScales), &block_map, TensorCoords{0},
                                                           own(isa, kFull));
                  });
                };
                if (isa.warpid() == 1) {
                  fill();
                  wait_for(isa, kEmpty);
                  fill();
                  wait_for(isa, kFull, 1);
                } else {
                  for (uint32_t turn = 0; turn < 2; ++turn) {
                    if (wait) wait_for(isa, kFull, turn);
                    isa.elected([&] {
                      copy(isa, kSfa + 8 * turn);
                      if (release) isa.tcgen05_commit(1, own(isa, kEmpty));
                    });
                    if (!release) arrive(isa, kEmpty);
                    if (release) wait_for(isa, kEmpty, turn);
                  }
                }
                tear_down(isa, 2);
              },
          .with_data = true,
          .barriers = full_and_empty(),
          .before =
              [](Device& device) {
                TensorMapFields f;
                f.data_type = TensorMapDataType::uint32;
                f.rank = 1;
                f.global_address = device.gpu.memory().allocate("scales", 512, true).value;
                f.global_dim[0] = f.box_dim[0] = 128;
                f.element_stride[0] = 1;
                block_map = encode(f);
              }};
}

}  // namespace

TEST_CASE("a stage that cp reads comes back with a commit", "[cp]") {
  CHECK_DIAGNOSIS(filled_twice(true, true), "clean");
  const std::string text = diagnosis(filled_twice(false, true));
  CAPTURE(text);
  CHECK(contains(ids_of(text), "finding TM7"));
  CHECK(contains(text, "w1 overwrites what tcgen05.cp may still read"));
}

TEST_CASE("cp waits for the bytes of its source", "[cp]") {
  const std::string text = diagnosis(filled_twice(true, false));
  CAPTURE(text);
  CHECK(contains(ids_of(text), "finding TC7"));
}

TEST_CASE("cp writes columns that a warp still loads", "[cp]") {
  const auto code = [](bool wait) {
    return RoleCode{.program =
                        [=](RoleIsa& isa) {
                          set_up(isa, 2);
                          if (isa.warpid() == 1) {
                            isa.tcgen05_ld_32x32b<8>(quarter(isa));
                            if (wait) isa.tcgen05_wait_ld();
                            isa.tcgen05_fence_before_thread_sync();
                            arrive(isa, kEmpty);
                            if (!wait) isa.tcgen05_wait_ld();
                          } else {
                            wait_for(isa, kEmpty);
                            isa.tcgen05_fence_after_thread_sync();
                            isa.elected([&] { copy(isa, 0); });
                            commit_and_wait(isa);
                          }
                          tear_down(isa, 2);
                        },
                    .barriers = full_and_empty()};
  };
  CHECK_DIAGNOSIS(code(true), "clean");
  CHECK_DIAGNOSIS(code(false), "finding TC15");
}

TEST_CASE("cp by a warp is a copy per lane, beyond the allocation it is refused", "[cp]") {
  const std::string text = diagnosis(alone([](RoleIsa& isa) {
    copy(isa);
    commit_and_wait(isa);
  }));
  CAPTURE(text);
  CHECK(contains(text, "warning TC12: tcgen05.cp by 32 lanes: each issues the whole copy"));
  CHECK_DIAGNOSIS(alone([](RoleIsa& isa) { isa.elected([&] { copy(isa, 512); }); }), "finding TC1");
}

TEST_CASE("cp is altered by faults: left out, to other columns, from elsewhere", "[cp][fault]") {
  const auto body = [](RoleIsa& isa) {
    isa.elected([&] { copy(isa); });
    commit_and_wait(isa);
  };
  const auto fault = [](host::FaultAction action, const char* operand, int64_t value) {
    return std::vector<host::FaultSpec>{
        {.instruction = "tcgen05_cp", .action = action, .operand = operand, .value = value}};
  };
  CHECK_DIAGNOSIS(alone(body), "clean");
  CHECK_DIAGNOSIS(alone(body, fault(host::FaultAction::add, "column", 512)), "finding TC1");
  CHECK_DIAGNOSIS(alone(body, fault(host::FaultAction::add, "column", 2)), "finding TC2");
  CHECK_DIAGNOSIS(alone(body, fault(host::FaultAction::add, "source", 0x10000)), "finding TC7");
  CHECK_DIAGNOSIS(alone(body, fault(host::FaultAction::delay, "", 100)), "clean");
}

namespace {

/// Both CTAs of a pair write their block; CTA 0 copies both, having heard of CTA 1's or not (cutlass#3643).
RoleCode copied_for_a_pair(bool hears) {
  return {
      .program =
          [=](RoleIsa& isa) {
            const uint32_t rank = isa.cluster_ctarank();
            if (isa.warpid() == 0) {
              isa.elected([&] {
                isa.mbarrier_init(own(isa, kFull), 1);
                isa.mbarrier_init(own(isa, kEmpty), hears ? 2 : 1);
              });
              isa.fence_mbarrier_init();
              isa.tcgen05_alloc(own(isa, kAddress), 512, 2);
            }
            isa.barrier_cluster_arrive();
            isa.barrier_cluster_wait();
            if (isa.warpid() == 0) {
              LaneArray<SmemAddr, 1> rows;
              for (int lane = 0; lane < kWarpLanes; ++lane) rows[lane][0] = own(isa, kScales + 16 * uint32_t(lane));
              isa.st_shared_v4(rows, LaneArray<uint32_t, 4>{});
              isa.fence_proxy_async_shared_cta();
              isa.bar_warp_sync();
              if (hears || rank == 0)
                isa.elected([&] { isa.mbarrier_arrive(isa.mapa(own(isa, kEmpty), 0), Scope::cluster); });
              if (rank == 0) {
                wait_for(isa, kEmpty);
                isa.elected([&] {
                  copy(isa, kSfa, 2);
                  isa.tcgen05_commit(2, own(isa, kFull));
                });
                wait_for(isa, kFull);
              }
              isa.tcgen05_fence_before_thread_sync();
            }
            isa.barrier_cluster_arrive();
            isa.barrier_cluster_wait();
            isa.tcgen05_fence_after_thread_sync();
            if (isa.warpid() == 0) isa.tcgen05_dealloc(TmemAddr::at(0, 0), 512, 2);
          },
      .warps = 1,
      .ctas = 2,
      .with_data = true,
      .barriers = {{"full", {kFull}, 1, 1, "any", "", ""}, {"empty", {kEmpty}, 1, hears ? 2u : 1u, "any", "", ""}}};
}

}  // namespace

TEST_CASE("cp of a pair reads the peer's shared memory too: its writer has to be heard", "[cp]") {
  CHECK_DIAGNOSIS(copied_for_a_pair(true), "clean");
  const std::string text = diagnosis(copied_for_a_pair(false));
  CAPTURE(text);
  CHECK(ids_of(text) == "finding TM6");
  CHECK(contains(text, "of CTA rank 1 of the cluster"));
}
