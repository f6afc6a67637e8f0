// SPDX-License-Identifier: Apache-2.0
/// What the text of a program says of its warps: which instructions they may come to, which mbarriers they name,
/// what they are called, and what parameters are.

#include <algorithm>

#include "catch.h"
#include "ptx/parameter_uses.h"
#include "ptx/warp_view.h"

using namespace sm100::ptx;

namespace {

using Does = BarrierUse::Does;

constexpr uint64_t kShared = 0x400;  ///< where static symbols begin

struct Viewed {
  Module module;
  Program program;
  std::vector<std::byte> constants;
  std::vector<WarpView> warps;

  explicit Viewed(const std::string& body, int count = 4, const std::string& params = "")
      : module(parse(".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(" + params +
                         ")\n{\n.reg .pred %p<19>; .reg .b16 %h<9>; .reg .b32 %r<99>; .reg .b64 %d<29>;\n"
                         ".shared .align 8 .b64 full[4]; .shared .align 8 .b64 empty[4];\n" +
                         body + "\nret;\n}\n",
                     "x.ptx")),
        program(decode(module, module.entries[0])),
        constants(program.constants) {
    for (const Symbol& symbol : program.symbols)
      if (symbol.space == Space::shared) program.set_address(constants, symbol, kShared + symbol.offset);
    Windows windows;
    windows.shared = {uint64_t{1} << 46, uint64_t{1} << 32};
    for (int warp = 0; warp < count; ++warp)
      warps.push_back(view_of(program, Reach(program, constants, windows, {uint32_t(count) * kLanes, 1, 1}, warp)));
  }
  /// The only use of that sort by the warp.
  const BarrierUse& use(int warp, Does does) const {
    const auto& uses = warps[size_t(warp)].uses;
    REQUIRE(std::count_if(uses.begin(), uses.end(), [&](const BarrierUse& u) { return u.does == does; }) == 1);
    return *std::find_if(uses.begin(), uses.end(), [&](const BarrierUse& u) { return u.does == does; });
  }
  uint32_t offset(std::string_view symbol) const { return uint32_t(kShared + program.symbol(symbol)->offset); }
};

/// Warp 0 loads, warp 1 multiplies, the others read; `dispatch` sets %p1 of warp 0 and %p2 of warp 1.
std::string roles_with(const std::string& dispatch) {
  return dispatch + R"(
@%p1 bra LOAD;
@%p2 bra MMA;
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r21];
bra END;
LOAD: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r22], [%d1, {%r23, %r24}], [full];
bra END;
MMA: tcgen05.mma.cta_group::1.kind::f16 [%r21], %d2, %d3, %r25, %p3;
END:)";
}

}  // namespace

TEST_CASE("A warp's number decides which branch it takes, however it is computed") {
  for (const char* dispatch : {
           "mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; setp.eq.u32 %p1, %r2, 0; setp.eq.u32 %p2, %r2, 1;",
           // As compilers make warps agree on it.
           "mov.u32 %r1, %tid.x; shr.u32 %r3, %r1, 5; shfl.sync.idx.b32 %r2|%p9, %r3, 0, 31, -1;"
           "setp.eq.u32 %p1, %r2, 0; setp.eq.u32 %p2, %r2, 1;",
           // Of a condition that nobody knows a part settles the rest.
           "mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; mov.u32 %r9, %ctaid.x; setp.eq.u32 %p8, %r9, 0;"
           "setp.eq.u32 %p5, %r2, 0; and.pred %p1, %p5, %p8; setp.eq.and.u32 %p2, %r9, 0, %p6; setp.eq.u32 %p2, "
           "%r2, 1;",
       }) {
    INFO(dispatch);
    const Viewed v(roles_with(dispatch));
    CHECK(v.warps[1].actions == WarpView::multiplies);
    CHECK(v.warps[2].actions == WarpView::reads_tmem);
    CHECK((v.warps[0].actions & WarpView::multiplies) == 0);
    CHECK(roles_of(v.warps) == std::vector<std::string>{"load", "mma", "epilogue", "epilogue"});
  }
}

TEST_CASE("A predicate that is used again and again says what was written to it last") {
  const Viewed v(
      "mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; setp.eq.u32 %p3, %r2, 1; @%p3 bra MMA; setp.ne.u32 %p3, %r2, 0;"
      "@%p3 bra END; mbarrier.arrive.shared.b64 _, [full]; bra END; MMA: mbarrier.arrive.shared.b64 _, [empty]; "
      "END:");
  CHECK(v.use(0, Does::arrive).barrier->offset == v.offset("full"));
  CHECK(v.use(1, Does::arrive).barrier->offset == v.offset("empty"));
  CHECK(v.warps[2].uses.empty());
}

TEST_CASE("Warps that may all do the same several things have no role") {
  const Viewed v(roles_with("mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 1;"));
  CHECK(roles_of(v.warps) == std::vector<std::string>(4));
}

TEST_CASE("A stage of a ring is known as its array") {
  const Viewed v(
      "mov.u32 %r1, full; mov.u32 %r2, empty; mov.u32 %r3, 0;\n"
      "L: and.b32 %r4, %r3, 3; shl.b32 %r5, %r4, 3; add.u32 %r6, %r1, %r5; mad.lo.u32 %r7, %r4, 8, %r2;\n"
      "W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r7], %r4; @!%p1 bra W;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r6], 4096; mbarrier.arrive.shared::cta.b64 _, [%r6+16];\n"
      "add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r50; @%p2 bra L;",
      1);
  const BarrierUse &wait = v.use(0, Does::wait), &armed = v.use(0, Does::arrive_expect),
                   &arrival = v.use(0, Does::arrive);
  CHECK(wait.barrier->offset == v.offset("empty"));
  CHECK_FALSE(wait.barrier->exact);
  CHECK(armed.barrier->offset == v.offset("full"));
  CHECK(armed.amount == 4096u);
  CHECK(arrival.barrier->offset == v.offset("full") + 16);
}

TEST_CASE("An address that walks with its loop begins where the array does") {
  const Viewed v(
      "mov.u32 %r1, full; L: mbarrier.init.shared.b64 [%r1], 2; add.u32 %r1, %r1, 8; setp.lt.u32 %p1, %r1, %r9; "
      "@%p1 bra L;",
      1);
  CHECK(v.use(0, Does::init).barrier->offset == v.offset("full"));
  CHECK_FALSE(v.use(0, Does::init).barrier->exact);
  CHECK(v.use(0, Does::init).amount == 2u);
}

TEST_CASE("Addresses through mapa, generic windows and alignment are followed, those through memory are not") {
  const Viewed v(
      "mov.u32 %r1, full; add.u32 %r2, %r1, 8; mapa.shared::cluster.u32 %r3, %r2, 1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];\n"
      "mov.u64 %d1, empty; cvta.shared.u64 %d2, %d1; cvta.to.shared.u64 %d3, %d2; cvt.u32.u64 %r4, %d3;\n"
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r4];\n"
      "ld.shared.u32 %r5, [%r1]; mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5], 16;",
      1);
  CHECK(v.use(0, Does::arrive).barrier->offset == v.offset("full") + 8);
  CHECK(v.use(0, Does::arrive).barrier->exact);
  CHECK(v.use(0, Does::commit).barrier->offset == v.offset("empty"));
  CHECK_FALSE(v.use(0, Does::expect).barrier.has_value());
}

TEST_CASE("Parameters are maps, addresses and numbers by what is done with them") {
  const Viewed v(
      "mov.b64 %d1, k_param_0; cvta.param.u64 %d2, %d1; add.s64 %d3, %d2, 128;\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d3, {%r2, %r3}], "
      "[full];\n"
      "ld.param.u64 %d4, [k_param_1]; cvta.to.global.u64 %d5, %d4; ld.param.u32 %r4, [k_param_2];\n"
      "ld.param.u32 %r5, [k_param_0+8]; ld.param.u64 %d6, [k_param_0+16]; add.s64 %d7, %d6, 4; st.global.u32 "
      "[%d7], %r4;",
      1, ".param .align 64 .b8 k_param_0[256], .param .u64 k_param_1, .param .u32 k_param_2");
  const std::vector<ParameterUse> uses = parameter_uses(v.program);
  std::vector<std::pair<uint64_t, ParameterUse::As>> found;
  for (const ParameterUse& use : uses) found.emplace_back(use.offset, use.as);
  using As = ParameterUse::As;
  CHECK(found ==
        std::vector<std::pair<uint64_t, As>>{
            {8, As::number}, {16, As::address}, {128, As::tensor_map}, {256, As::address}, {264, As::number}});
  CHECK(uses[2].rank == 2);
  CHECK_FALSE(uses[2].stored);
  CHECK(uses[1].written);
}
