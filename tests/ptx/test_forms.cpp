// SPDX-License-Identifier: Apache-2.0
/// The table of scalar forms as a whole.

#include <algorithm>
#include <set>

#include "catch.h"
#include "ptx/alu.h"

using namespace sm100::ptx;

namespace {

/// Scalar forms that compilers emitted for 220 kernels: this project's, CUTLASS's, DeepGEMM's, ThunderKittens',
/// Triton's.
constexpr std::string_view kSeen[] = {"abs.bf16",
                                      "abs.bf16x2",
                                      "abs.f32",
                                      "abs.f64",
                                      "add.f32",
                                      "add.f32x2",
                                      "add.f64",
                                      "add.s16",
                                      "add.s32",
                                      "add.s64",
                                      "add.u64",
                                      "and.b16",
                                      "and.b32",
                                      "and.b64",
                                      "and.pred",
                                      "bfe.u32",
                                      "bfind.shiftamt.u32",
                                      "brev.b32",
                                      "copysign.f32",
                                      "cos.approx.f32",
                                      "cvt.f32.bf16",
                                      "cvt.f32.f16",
                                      "cvt.rn.bf16.f32",
                                      "cvt.rn.bf16x2.f32",
                                      "cvt.rn.bf16x2.ue8m0x2",
                                      "cvt.rn.f16.s32",
                                      "cvt.rn.f16x2.e2m1x2",
                                      "cvt.rn.f16x2.e4m3x2",
                                      "cvt.rn.f16x2.f32",
                                      "cvt.rn.f32.f64",
                                      "cvt.rn.f32.s32",
                                      "cvt.rn.f32.u64",
                                      "cvt.rn.f64.s32",
                                      "cvt.rn.satfinite.e2m1x2.f32",
                                      "cvt.rn.satfinite.e4m3x2.f32",
                                      "cvt.rp.satfinite.ue8m0x2.f32",
                                      "cvt.rzi.ftz.u32.f32",
                                      "cvt.s32.s16",
                                      "cvt.s64.s32",
                                      "cvt.s8.s32",
                                      "cvt.sat.f32.f32",
                                      "cvt.u16.u32",
                                      "cvt.u32.u16",
                                      "cvt.u32.u64",
                                      "cvt.u64.u16",
                                      "cvt.u64.u32",
                                      "cvta.global.u64",
                                      "cvta.local.u64",
                                      "cvta.param.u64",
                                      "cvta.to.global.u64",
                                      "cvta.to.shared.u64",
                                      "div.approx.ftz.f32",
                                      "div.rn.f32",
                                      "div.s32",
                                      "div.s64",
                                      "div.u32",
                                      "div.u64",
                                      "ex2.approx.f32",
                                      "ex2.approx.ftz.f32",
                                      "fma.rm.f32",
                                      "fma.rn.f32",
                                      "fma.rn.f32x2",
                                      "fma.rn.ftz.f32",
                                      "mad.lo.s32",
                                      "mad.lo.s64",
                                      "mad.wide.u32",
                                      "max.NaN.f32",
                                      "max.bf16",
                                      "max.bf16x2",
                                      "max.f32",
                                      "max.f64",
                                      "max.s32",
                                      "max.u32",
                                      "min.NaN.f32",
                                      "min.s32",
                                      "min.u32",
                                      "min.u64",
                                      "mov.b128",
                                      "mov.b16",
                                      "mov.b32",
                                      "mov.b64",
                                      "mov.f32",
                                      "mov.f64",
                                      "mov.pred",
                                      "mov.s32",
                                      "mov.u32",
                                      "mov.u64",
                                      "mul.f32",
                                      "mul.f32x2",
                                      "mul.ftz.f32",
                                      "mul.hi.s32",
                                      "mul.hi.u16",
                                      "mul.hi.u32",
                                      "mul.lo.s16",
                                      "mul.lo.s32",
                                      "mul.lo.s64",
                                      "mul.wide.s32",
                                      "mul.wide.u16",
                                      "mul.wide.u32",
                                      "neg.f32",
                                      "neg.s32",
                                      "not.b32",
                                      "not.pred",
                                      "or.b16",
                                      "or.b32",
                                      "or.b64",
                                      "or.pred",
                                      "rcp.approx.ftz.f32",
                                      "rcp.rn.f32",
                                      "rcp.rn.f64",
                                      "rem.u32",
                                      "selp.b32",
                                      "selp.s64",
                                      "selp.u16",
                                      "selp.u32",
                                      "selp.u64",
                                      "setp.eq.b32",
                                      "setp.eq.f32",
                                      "setp.eq.s16",
                                      "setp.eq.s64",
                                      "setp.ge.u64",
                                      "setp.gt.f32",
                                      "setp.gt.f64",
                                      "setp.le.u64",
                                      "setp.ne.b32",
                                      "setp.ne.f16",
                                      "setp.ne.f64",
                                      "setp.ne.s64",
                                      "shl.b32",
                                      "shl.b64",
                                      "shr.s32",
                                      "shr.s64",
                                      "shr.u16",
                                      "shr.u32",
                                      "shr.u64",
                                      "sin.approx.f32",
                                      "sqrt.rn.f32",
                                      "sqrt.rn.f64",
                                      "sub.f16",
                                      "sub.ftz.f32",
                                      "sub.s32",
                                      "sub.s64",
                                      "xor.b32",
                                      "xor.pred"};

}  // namespace

TEST_CASE("Scalar forms that compilers emit are in the table") {
  for (const std::string_view opcode : kSeen) {
    INFO(opcode);
    CHECK(find_alu_form(opcode) != nullptr);
  }
}

TEST_CASE("A form has a function, a result, and rows enough") {
  const auto forms = alu_forms();
  CHECK(forms.size() > 5000);
  CHECK(std::is_sorted(forms.begin(), forms.end(),
                       [](const AluForm& a, const AluForm& b) { return a.name < b.name; }));
  for (const AluForm& form : forms) {
    INFO(form.name);
    REQUIRE(form.function != nullptr);
    REQUIRE(form.operands.size() >= 2);
    REQUIRE(form.operands.size() <= static_cast<size_t>(kMaxRows));
    REQUIRE(form.operands[0].written);
    REQUIRE(canonical(form.name) == form.name);
    REQUIRE(find_alu_form(form.name) == &form);
  }
}

TEST_CASE("Approximate forms, and they alone, say how far hardware may be") {
  for (const AluForm& form : alu_forms()) {
    INFO(form.name);
    const bool approximate =
        form.name.find(".approx") != std::string::npos || form.name.find(".full") != std::string::npos;
    REQUIRE((form.max_ulps > 0) == approximate);
  }
}
