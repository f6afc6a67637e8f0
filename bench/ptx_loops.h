// SPDX-License-Identifier: Apache-2.0
/// Kernels that bench/ptx_speed.cpp times: loops of what compiled kernels consist of.  Each has the parameters
/// (u64 address of kLoopBytes of memory, u32 rounds).
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sm100::bench {

/// Of global memory that a loop reads and writes; warps share it.
inline constexpr uint64_t kLoopBytes = uint64_t{1} << 20;

struct Loop {
  std::string name;
  std::string ptx;
  int ctas = 128;
  int warps = 8;  ///< of a CTA
};

/// `body` in a loop, `before` in front of it, and at the end each lane's %r0 stored.
inline std::string loop_around(const std::string& before, const std::string& body) {
  return fmt::format(
      ".version 8.8\n.target sm_100a\n.address_size 64\n"
      ".visible .entry loop(.param .u64 out, .param .u32 rounds)\n{{\n"
      ".reg .b16 %h<8>; .reg .b32 %r<16>, %i, %n; .reg .f32 %f<16>; .reg .pred %p, %q<4>; .reg .b64 %d<8>, %o;\n"
      ".shared .align 16 .b8 tile[4096];\n"
      "ld.param.u64 %o, [out]; ld.param.u32 %n, [rounds]; mov.u32 %i, 0; mov.u32 %r0, %tid.x;\n{}"
      "L:\n{}add.u32 %i, %i, 1;\nsetp.lt.u32 %p, %i, %n;\n@%p bra L;\n"
      "mov.u32 %r15, %tid.x; mul.wide.u32 %d7, %r15, 4; add.s64 %d7, %o, %d7; st.global.u32 [%d7], "
      "%r0;\nret;\n}}\n",
      before, body);
}

/// 102 instructions of integers and f32; each depends on some before it.
inline Loop arithmetic_loop() {
  std::string body;
  for (int i = 0; i < 20; ++i) {
    const auto r = [&](int n) { return (i + n) % 8; };
    body += fmt::format("mad.lo.s32 %r{}, %r{}, %r{}, {};\n", r(0), r(1), r(2), i);
    body += fmt::format("xor.b32 %r{}, %r{}, %r{};\n", r(3), r(0), r(5));
    body += fmt::format("add.f32 %f{}, %f{}, %f{};\n", r(0), r(1), r(3));
    body += fmt::format("fma.rn.f32 %f{}, %f{}, %f{}, %f{};\n", r(2), r(0), r(1), r(4));
    body += fmt::format("shl.b32 %r{}, %r{}, 3;\n", r(6), r(0));
  }
  return {"arithmetic", loop_around("", body)};
}

/// Loads and stores: words and vectors of four, side by side, and shared memory.
inline Loop memory_loop() {
  std::string body;
  for (int i = 0; i < 8; ++i) {
    body += fmt::format("ld.global.u32 %r{}, [%d0+{}];\n", 1 + i % 4, i * 1024);
    body += fmt::format("st.shared.u32 [%r8+{}], %r{};\n", i % 4 * 128, 1 + i % 4);
    body += fmt::format("ld.shared.f32 %f{}, [%r8+{}];\n", i, i % 4 * 128);
    body += fmt::format("ld.global.v4.f32 {{%f8, %f9, %f10, %f11}}, [%d1+{}];\n", i * 4096);
    body += fmt::format("st.global.f32 [%d0+{}], %f{};\n", 65536 + i * 1024, i);
    body += fmt::format("st.global.v4.f32 [%d1+{}], {{%f8, %f9, %f10, %f11}};\n", 131072 + i * 4096);
  }
  return {"loads and stores", loop_around("mul.wide.u32 %d0, %r0, 4; add.s64 %d0, %o, %d0;\n"
                                          "mul.wide.u32 %d1, %r0, 16; add.s64 %d1, %o, %d1;\n"
                                          "mov.u32 %r9, tile; and.b32 %r8, %r0, 31; shl.b32 %r8, %r8, 2;\n"
                                          "add.u32 %r8, %r9, %r8;\n",
                                          body)};
}

/// 64-bit addresses, bounds as predicates, and what they guard: some lanes, all or none.
inline Loop address_loop() {
  std::string body;
  for (int i = 0; i < 8; ++i) {
    body += fmt::format("add.s32 %r{}, %r0, {};\n", 1 + i % 4, i * 3);
    body += fmt::format("mul.wide.s32 %d{}, %r{}, 4;\n", 1 + i % 4, 1 + i % 4);
    body += fmt::format("add.s64 %d{}, %o, %d{};\n", 1 + i % 4, 1 + i % 4);
    body += fmt::format("setp.lt.s32 %q{}, %r{}, {};\n", i % 4, 1 + i % 4, 60 + i * 20);
    body += fmt::format("setp.ge.and.u64 %q{}, %d{}, %o, %q{};\n", i % 4, 1 + i % 4, i % 4);
    body += fmt::format("@%q{} add.s64 %d5, %d5, %d{};\n", i % 4, 1 + i % 4);
    body += fmt::format("@!%q{} mad.lo.s32 %r5, %r{}, %r5, 7;\n", i % 4, 1 + i % 4);
    body += fmt::format("selp.b64 %d6, %d5, %d{}, %q{};\n", 1 + i % 4, i % 4);
    body += "shr.u64 %d6, %d6, 3;\ncvt.u32.u64 %r6, %d6;\n";
    body += "and.b32 %r6, %r6, 1023;\nshl.b32 %r7, %r6, 1;\ncvt.u64.u32 %d0, %r7;\n";
  }
  return {"addresses and predicates", loop_around("", body)};
}

/// A fill: random numbers, made f32 and halves, stored.
inline Loop fill_loop() {
  std::string body;
  for (int i = 0; i < 8; ++i) {
    body += "shl.b32 %r2, %r1, 13;\nxor.b32 %r1, %r1, %r2;\nshr.u32 %r2, %r1, 17;\nxor.b32 %r1, %r1, %r2;\n";
    body += "shl.b32 %r2, %r1, 5;\nxor.b32 %r1, %r1, %r2;\nmul.hi.u32 %r3, %r1, %r4;\n";
    body += "cvt.rn.f32.u32 %f0, %r3;\nfma.rn.f32 %f1, %f0, 0f2F800000, 0fBF000000;\ncvt.rzi.s32.f32 %r5, %f1;\n";
    body += "cvt.rn.f32.s32 %f2, %r5;\nmax.f32 %f2, %f2, %f1;\nsetp.gt.f32 %q0, %f2, 0f3E800000;\n";
    body += "selp.f32 %f2, %f1, %f2, %q0;\ncvt.rn.f16.f32 %h0, %f2;\n";
    body += "cvt.rn.bf16x2.f32 %r6, %f1, %f2;\nprmt.b32 %r7, %r6, %r3, 0x5410;\nmov.b32 {%h1, %h2}, %r7;\n";
    body += fmt::format("st.global.u16 [%d0+{}], %h0;\nst.global.u32 [%d1+{}], %r6;\n", i * 1024, i * 1024);
  }
  return {"a fill", loop_around("mad.lo.s32 %r1, %r0, 1664525, 1013904223; mov.u32 %r4, 0x80000000;\n"
                                "mul.wide.u32 %d0, %r0, 2; add.s64 %d0, %o, %d0;\n"
                                "mul.wide.u32 %d1, %r0, 4; add.s64 %d1, %o, %d1;\nadd.s64 %d1, %d1, 65536;\n",
                                body)};
}

/// A reference for a matrix product in halves: two loads, two conversions and a fused multiply-add.
inline Loop product_loop() {
  std::string body;
  for (int i = 0; i < 8; ++i) {
    body += fmt::format("ld.global.nc.u16 %h0, [%d0+{}];\nld.global.nc.u16 %h1, [%d1+{}];\n", i * 2, i * 512);
    body += "cvt.f32.f16 %f0, %h0;\ncvt.f32.f16 %f1, %h1;\n";
    body += "fma.rn.f32 %f2, %f0, %f1, %f2;\n";
  }
  body += "add.s64 %d0, %d0, 16;\nadd.s64 %d1, %d1, 4096;\nand.b32 %r1, %i, 63;\nsetp.eq.s32 %q0, %r1, 63;\n";
  body += "@%q0 mov.b64 %d0, %d2;\n@%q0 mov.b64 %d1, %d3;\n";
  return {"a matrix product", loop_around("and.b32 %r2, %r0, 15; mul.wide.u32 %d0, %r2, 2048;\n"
                                          "add.s64 %d0, %o, %d0; mul.wide.u32 %d1, %r0, 2;\n"
                                          "add.s64 %d1, %o, %d1; add.s64 %d1, %d1, 262144;\n"
                                          "mov.b64 %d2, %d0; mov.b64 %d3, %d1;\n",
                                          body)};
}

/// Sums of a warp by shuffles, and of a CTA through shared memory.
inline Loop reduction_loop() {
  std::string body;
  for (const int lanes : {16, 8, 4, 2, 1})
    body += fmt::format(
        "shfl.sync.bfly.b32 %r3, %r2, {}, 31, -1;\nmov.b32 %f1, %r3;\nmov.b32 %f0, %r2;\n"
        "add.f32 %f0, %f0, %f1;\nmov.b32 %r2, %f0;\n",
        lanes);
  body += "@%q0 st.shared.f32 [%r8], %f0;\nbar.sync 0;\nld.shared.f32 %f3, [%r9];\nbar.sync 0;\n";
  return {"a reduction",
          loop_around("mov.u32 %r10, tile; shr.u32 %r8, %r0, 5; shl.b32 %r8, %r8, 2; add.u32 %r8, %r10, %r8;\n"
                      "and.b32 %r9, %r0, 7; shl.b32 %r9, %r9, 2; add.u32 %r9, %r10, %r9;\n"
                      "and.b32 %r11, %r0, 31; setp.eq.s32 %q0, %r11, 0; mov.u32 %r2, %r0;\n",
                      body)};
}

/// No loop at all: c[i] = a[i] + b[i] for one element a thread.
inline Loop short_kernel() {
  return {"short warps",
          ".version 8.8\n.target sm_100a\n.address_size 64\n"
          ".visible .entry sum(.param .u64 out, .param .u32 rounds)\n{\n"
          ".reg .b32 %r<8>; .reg .f32 %f<4>; .reg .pred %p; .reg .b64 %d<8>;\n"
          "ld.param.u64 %d0, [out]; ld.param.u32 %r5, [rounds];\n"
          "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.s32 %r3, %r0, %r1, %r2;\n"
          "setp.lt.s32 %p, %r3, 0; @%p bra END;\n"
          "cvta.to.global.u64 %d1, %d0; and.b32 %r4, %r3, 65535; mul.wide.s32 %d2, %r4, 4; add.s64 %d3, %d1, %d2;\n"
          "ld.global.f32 %f0, [%d3]; ld.global.f32 %f1, [%d3+262144]; add.f32 %f2, %f0, %f1;\n"
          "st.global.f32 [%d3+524288], %f2;\nEND: ret;\n}\n",
          16384};
}
/// The same in CTAs of one warp.
inline Loop short_ctas() {
  Loop loop = short_kernel();
  loop.name = "short CTAs", loop.ctas *= loop.warps, loop.warps = 1;
  return loop;
}

inline std::vector<Loop> loops() {
  return {arithmetic_loop(), memory_loop(),    address_loop(), fill_loop(),
          product_loop(),    reduction_loop(), short_kernel(), short_ctas()};
}

}  // namespace sm100::bench
