// SPDX-License-Identifier: Apache-2.0
/// From statements to a program: kinds, operands of services and of memory, symbols, special registers, waits.

#include "catch.h"
#include "ptx/program.h"

using namespace sm100::ptx;

namespace {

struct Decoded {
  Module module;
  Program program;
  explicit Decoded(const std::string& body, const std::string& params = "", const std::string& before = "")
      : module(
            parse(".version 9.0\n.target sm_100a\n.address_size 64\n" + before + "\n.visible .entry k(" + params +
                      ")\n{\n" +
                      ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<99>; .reg .b64 %d<9>; .reg .b128 %q<3>;\n" +
                      body + "\n}\n",
                  "x.ptx")),
        program(decode(module, module.entries[0])) {}
  const Instr& operator[](size_t i) const { return program.code[i]; }
};

}  // namespace

TEST_CASE("Modifiers are a set: their order is free") {
  const Decoded d(
      "cp.async.bulk.tensor.3d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1, {%r2, "
      "%r3, 0}], [%r4];\n"
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::2 [%r1], [%d1, {%r2, "
      "%r3, 0}], [%r4];\n"
      "ld.acquire.gpu.global.u32 %r1, [%d1]; ld.global.acquire.gpu.u32 %r1, [%d1]; "
      "stmatrix.sync.aligned.x4.trans.m8n8.shared.b16 [%r1], {%r2, %r3, %r4, %r5};\n"
      "setp.and.lt.s32 %p1, %r1, %r2, %p2; setp.lt.and.s32 %p1, %r1, %r2, %p2; add.ftz.rn.f32 %r1, %r2, %r3;");
  for (const size_t i : {0, 1}) {
    const Service& s = d.program.services[d[i].detail];
    CHECK(s.base == "cp.async.bulk.tensor");
    CHECK(s.modifiers.has(".shared::cluster"));
    CHECK(s.modifiers.value(".cta_group::") == "2");
    CHECK(!s.modifiers.has(".multicast::cluster"));
    REQUIRE(s.operands.size() == 3);
    REQUIRE(s.operands[1].elements.size() == 1);
    CHECK(s.operands[1].elements[0].elements.size() == 3);
    CHECK(s.operands[1].elements[0].elements[2].is_immediate());
  }
  for (const size_t i : {2, 3}) {
    const Access& a = d.program.accesses[d[i].detail];
    CHECK(a.order == Order::acquire);
    CHECK(a.scope == Scope::gpu);
    CHECK(a.space == Space::global);
    CHECK(a.type == Type::u32);
  }
  CHECK(d[5].alu != nullptr);
  CHECK(d[5].alu == d[6].alu);
  CHECK(d[7].kind == Kind::alu);
  CHECK(unsupported(d.program).empty());
}

TEST_CASE("A vector is found behind .volatile, which begins alike, and WARP_SZ is a number") {
  const Decoded d(
      "ld.volatile.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d1+WARP_SZ*4]; st.v2.volatile.shared.b32 [%r1], {%r2, "
      "%r3};\n"
      "ld.volatile.shared.u32 %r1, [%r2]; mov.u32 %r1, WARP_SZ; add.u32 %r1, %r2, -WARP_SZ;");
  CHECK(unsupported(d.program).empty());
  CHECK(d.program.accesses[d[0].detail].vector == 4);
  CHECK(d.program.accesses[d[0].detail].order == Order::volatile_);
  CHECK(d.program.accesses[d[0].detail].address.offset == 128);
  CHECK(d.program.accesses[d[1].detail].vector == 2);
  CHECK(d.program.accesses[d[2].detail].vector == 1);
}

TEST_CASE("What is not known stays with its text and its line") {
  const Decoded d(
      "add.s32 %r1, %r2, 1;\nfrobnicate.s32 %r1, %r2;\nadd.s31 %r1, %r1, %r1;\nadd.s32 %d1, %r1, %r1;\nadd.s31 "
      "%r1, %r1, %r1;");
  const auto forms = unsupported(d.program);
  REQUIRE(forms.size() == 3);
  CHECK(forms[0].opcode == "frobnicate.s32");
  CHECK(forms[0].line == 9u);
  CHECK(forms[0].why == "no such form of 'frobnicate' is known");
  CHECK(forms[1].count == 2u);
  CHECK(forms[2].why == "operand 1 is a .b64 register where .s32 is expected");
}

TEST_CASE("Static shared symbols are laid out at their alignment if they are used, the dynamic one behind them") {
  Decoded d(
      ".shared .align 8 .b8 barriers[24]; .shared .align 4 .u32 address; .shared .align 16 .b8 unused[100];\n"
      "mov.u32 %r1, address; mov.u64 %d1, barriers; mov.u32 %r2, dynamic; ld.shared.u32 %r3, [other+4]; mov.u32 "
      "%r4, address+2;",
      "", ".extern .shared .align 1024 .b8 dynamic[]; .shared .align 128 .b8 other[8];");
  const Program& p = d.program;
  CHECK(p.symbol("barriers")->offset == 0u);
  CHECK(p.symbol("address")->offset == 24u);
  CHECK(!p.symbol("unused")->used);
  CHECK(p.symbol("other")->offset == 128u);
  CHECK(p.static_shared_bytes == 136u);
  CHECK(p.shared_align == 128u);
  REQUIRE(p.dynamic_shared >= 0);
  CHECK(p.symbols[static_cast<size_t>(p.dynamic_shared)].name == "dynamic");
  CHECK(p.dynamic_shared_align == 1024u);
  std::vector<std::byte> constants = p.constants;
  p.set_address(constants, *p.symbol("address"), 0x418);
  RegisterFile file(p.register_bytes, constants, {});
  d[0].alu(file, d[0], kAllLanes);
  CHECK(file.read<uint32_t>(d[0].rows[0])[31] == 0x418u);
  d[4].alu(file, d[4], kAllLanes);
  CHECK(file.read<uint32_t>(d[4].rows[0])[0] == 0x41au);
  CHECK(p.accesses[d[3].detail].address.lane_address(file, 3) == 132u);
}

TEST_CASE("Parameters are offsets in their window") {
  Decoded d(
      "ld.param.u32 %r1, [b]; ld.param.v2.u32 {%r1, %r2}, [map+8]; mov.b64 %d1, map; ld.param.u64 %d2, [%d1+16];",
      ".param .u32 a, .param .u32 b, .param .align 64 .b8 map[128]");
  RegisterFile file(d.program.register_bytes, d.program.constants, {});
  const auto address = [&](size_t i) { return d.program.accesses[d[i].detail].address.lane_address(file, 0); };
  CHECK(address(0) == 4u);
  CHECK(address(1) == 72u);
  d[2].alu(file, d[2], kAllLanes);
  CHECK(address(3) == 80u);
  CHECK(d.program.accesses[d[1].detail].vector == 2);
  CHECK(d.program.param_bytes == 192u);
  CHECK(d[0].cost == Cost::free);
}

TEST_CASE("Parameters of calls are a space of their own") {
  const Decoded d(
      "{ .param .b64 param0; st.param.b64 [param0], %d1; .param .b32 retval0; call.uni (retval0), vprintf, "
      "(param0); ld.param.b32 %r1, [retval0]; }",
      "", ".extern .func (.param .b32 r) vprintf (.param .b64 a);");
  CHECK(d.program.accesses[d[0].detail].space == Space::call_param);
  CHECK(d[1].kind == Kind::call);
  const Call& call = d.program.calls[d[1].detail];
  CHECK(call.callee == "vprintf");
  CHECK(call.function == -1);
  REQUIRE(call.arguments.size() == 1);
  CHECK(d.program.symbols[static_cast<size_t>(call.arguments[0].symbol)].name == "param0");
  CHECK(d.program.call_param_bytes == 12u);
}

TEST_CASE("Special registers are rows, those that change have a kind of their own") {
  const Decoded d(
      "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.y; mov.u64 %d1, %clock64; mov.pred %p1, "
      "%is_explicit_cluster; mov.u32 %r4, %laneid;");
  REQUIRE(d.program.specials.size() == 5);
  CHECK(d.program.specials[0].name == "%tid.x");
  CHECK(d[0].kind == Kind::alu);
  CHECK(d[0].rows[1] == d[1].rows[1]);
  CHECK(d[3].kind == Kind::special);
  CHECK(d.program.specials[2].changes);
  CHECK(d.program.specials[2].width == 8);
  CHECK(d.program.specials[3].width == 1);
}

TEST_CASE("Control") {
  const Decoded d(
      "@%p1 bra L1;\nbra.uni L0;\nL0: ts: .branchtargets L0, L1;\nbrx.idx %r1, ts;\nL1: trap;\n@!%p2 exit;");
  CHECK(d[0].kind == Kind::branch);
  CHECK(d[0].target == 3u);
  CHECK(d[1].uniform);
  CHECK(d[1].target == 2u);
  CHECK(d.program.indexed_branches[d[2].detail].targets == std::vector<uint32_t>{2, 3});
  CHECK(d[3].kind == Kind::trap);
  CHECK(d[4].kind == Kind::exit);
  CHECK(d[4].guard_flip == kAllLanes);
  CHECK(d[5].kind == Kind::exit);  // behind the last statement
  CHECK(d.program.code.size() == 6);
}

TEST_CASE("A load may be narrower than its register, not wider") {
  const Decoded d(
      "ld.shared.b8 %r1, [%r2]; ld.global.s16 %d1, [%d2]; ld.shared.b128 %q1, [%r2]; st.global.v4.f32 [%d1], {%r1, "
      "0f3F800000, %r2, 1.0}; ld.global.nc.L1::no_allocate.L2::128B.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,_}, "
      "[%d1];\n"
      "ld.global.u32 %h1, [%d1];\nld.global.L2::cache_hint.u32 %r1, [%d1], %d2;");
  const auto forms = unsupported(d.program);
  REQUIRE(forms.size() == 1);
  CHECK(forms[0].why == "a .b16 register is too narrow");
  CHECK(d.program.accesses[d[3].detail].data[3].value == 0x3f800000);
  CHECK(d.program.accesses[d[4].detail].read_only);
  CHECK(d.program.accesses[d[6].detail].policy.kind == Operand::Kind::reg);
}

TEST_CASE("Wait loops of inline assembly and of C++ are recognised, peeks are not") {
  const Decoded d(
      "{ .reg .pred P; W: mbarrier.try_wait.parity.shared::cta.b64 P, [%r1], %r2, 0x989680; @P bra D; bra W; D: "
      "}\n"  // 0..2
      "L: { .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%r1], %r2; selp.b32 %r3, 1, 0, p; } "
      "setp.eq.s32 %p1, %r3, 0; @%p1 bra L;\n"                                                              // 3..6
      "{ .reg .pred Q; mbarrier.try_wait.parity.shared::cta.b64 Q, [%r1], %r2; selp.b32 %r4, 1, 0, Q; }\n"  // 7,
                                                                                                            // 8:
                                                                                                            // a
                                                                                                            // peek
      "N: mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r1], %r2; @!%p2 bra N;\n"                        // 9, 10
      "S: ld.acquire.gpu.global.u32 %r5, [%d1]; setp.ne.s32 %p3, %r5, %r6; @%p3 bra S;\n"                 // 11..13
      "B: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r1], %r2; add.s32 %r7, %r7, 1; @!%p4 bra B;\n"  // 14..16:
                                                                                                          // counts,
                                                                                                          // so no
                                                                                                          // wait
      "G: ld.global.u32 %r5, [%d1]; setp.ne.s32 %p3, %r5, %r6; @%p3 bra G;\n"  // 17..19: a weak load
      "V: nanosleep.u32 32; ld.volatile.global.u32 %r5, [%d1]; setp.ne.s32 %p3, %r5, 0; @%p3 bra V;\nret;");  // 20..23
  const auto& waits = d.program.waits;
  REQUIRE(waits.size() == 5);
  CHECK(waits[0].poll == 0u);
  CHECK(waits[0].last == 2u);
  CHECK(waits[0].exit == 3u);
  CHECK(waits[1].first == 3u);
  CHECK(waits[1].exit == 7u);
  CHECK(waits[2].poll == 9u);
  CHECK(waits[3].load);
  CHECK(waits[3].exit == 14u);
  CHECK(waits[4].backoff);
  CHECK(waits[4].poll == 21u);
  CHECK(d.program.wait_of_poll(7) == nullptr);
  CHECK(d.program.wait_of_poll(3) == &waits[1]);
}

TEST_CASE("Polls whose answer decides nothing are told from those that a branch, a guard or a store looks at") {
  const Decoded d(
      "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2;\n"                                         // 0
      "{ .reg .pred Q; mbarrier.try_wait.parity.shared::cta.b64 Q, [%r1], %r2; selp.b32 %r4, 1, 0, Q; }\n"  // 1, 2
      "add.s32 %r5, %r4, 1;\n"                                                                              // 3
      "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r1], %r2; selp.b32 %r6, 1, 0, %p2; add.s32 %r7, %r6, 1;\n"
      "st.shared.u32 [%r1], %r7;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r1], %r2; @%p3 mov.u32 %r8, 1;\nret;");
  CHECK(d.program.ignored_answers == std::vector<uint32_t>{0, 1});
}

TEST_CASE("Names of services end where the order of modifiers is free") {
  const Decoded d(
      "tcgen05.wait::ld.sync.aligned; cp.async.bulk.wait_group.read 0; "
      "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r1], %r2; barrier.cluster.arrive.release; "
      "fence.proxy.async.shared::cta; atom.global.add.u32 %r1, [%d1], 5; elect.sync %r1|%p1, -1;");
  const std::string_view bases[] = {"tcgen05.wait",    "cp.async.bulk.wait_group",
                                    "mbarrier.arrive", "barrier.cluster.arrive",
                                    "fence.proxy",     "atom",
                                    "elect.sync"};
  for (size_t i = 0; i < std::size(bases); ++i) CHECK(d.program.services[d[i].detail].base == bases[i]);
  CHECK(d.program.services[0].modifiers.has("::ld"));
  CHECK(d.program.services[2].operands[0].kind == Operand::Kind::sink);
  CHECK(d.program.services[5].modifiers.type() == Type::u32);
  CHECK(d.program.services[6].operands[0].kind == Operand::Kind::pair);
}
