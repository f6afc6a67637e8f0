// SPDX-License-Identifier: Apache-2.0
/// Which pipe computes a form, as an H200 has them (bench/hardware/alu_costs.cu).
#include <string>

#include "catch.h"
#include "ptx/alu.h"

using namespace sm100::ptx;

namespace {

Cost cost_of(const std::string& opcode) {
  const AluForm* form = find_alu_form(opcode);
  INFO(opcode);
  REQUIRE(form != nullptr);
  return form->cost;
}

}  // namespace

TEST_CASE("Products and sums of f32 and of halves take the least, and a choice among them is not one") {
  for (const char* opcode : {"add.f32", "mul.rn.ftz.f32", "fma.rn.f32", "fma.rn.f16x2", "sub.bf16x2", "mul.f16"})
    CHECK(cost_of(opcode) == Cost::alu);
  for (const char* opcode : {"min.f32", "max.ftz.f32", "setp.lt.f32", "selp.f32", "abs.f32"})
    CHECK(cost_of(opcode) == Cost::integer);
}

TEST_CASE("Integers, logic, comparisons and conversions take one pipe") {
  for (const char* opcode :
       {"add.s32", "mad.lo.s32", "shl.b32", "lop3.b32", "prmt.b32", "setp.eq.u16", "and.pred", "cvt.rn.bf16x2.f32",
        "cvt.rn.f32.s32", "cvt.u32.u16", "add.f64", "add.s64", "mul.wide.u32"})
    CHECK(cost_of(opcode) == Cost::integer);
}

TEST_CASE("What the unit for special functions computes takes longest, but for divisions") {
  for (const char* opcode : {"ex2.approx.ftz.f32", "rcp.approx.ftz.f32", "tanh.approx.f32", "sqrt.approx.f32",
                             "popc.b32", "clz.b64", "cvt.rzi.s32.f32", "cvt.f64.f32"})
    CHECK(cost_of(opcode) == Cost::special_function);
  CHECK(cost_of("div.u32") == Cost::division);
  CHECK(cost_of("div.s64") == Cost::wide_division);
}

TEST_CASE("What ptxas makes no instruction of is free") {
  for (const char* opcode : {"mov.b32", "mov.u64", "cvta.to.global.u64", "mov.b64.pack2"})
    CHECK(cost_of(opcode) == Cost::free);
}
