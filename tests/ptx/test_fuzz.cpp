// SPDX-License-Identifier: Apache-2.0
/// Mutated files: a sentence or a program, never a crash, never a hang.  SM100_PTX_FUZZ: how many (a few thousand
/// unless told).

#include <cstdlib>
#include <random>

#include "catch.h"
#include "ptx/program.h"

using namespace sm100::ptx;

namespace {

const std::string kSeed =
    ".version 9.0\n.target sm_100a\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n.global .align 8 "
    ".u64 t[2] = {smem, 0xFF(smem)};\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
    ".visible .entry k(.param .u32 a, .param .align 64 .b8 map[128])\n.maxntid 128\n{\n.reg .pred %p<9>; .reg .b32 "
    "%r<99>; .reg .b64 %d<9>; .reg .b128 %q<3>;\n"
    ".loc 1 10 3\n.shared .align 8 .b8 bar[16];\nld.param.u32 %r1, [a]; mov.b64 %d1, map; cvta.param.u64 %d2, "
    "%d1;\n"
    "{ .reg .pred P; W: mbarrier.try_wait.parity.shared::cta.b64 P, [bar+8], %r2, 0x989680; @P bra D; bra W; D: }\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d2, {%r3, 0}], "
    "[bar];\nelect.sync _|%p1, -1;\n"
    "setp.lt.and.s32 %p2|%p3, %r1, -5, !%p1; @!%p2 add.f32 %r4, %r5, 0f3F800000; mov.b64 {%r6, _}, %d1; mov.b128 "
    "%q1, {%d1, %d2}; lop3.b32 %r1, %r2, %r3, %r4, 0x96;\n"
    "{ .param .b64 param0; st.param.b64 [param0], %d1; .param .b32 retval0; call.uni (retval0), vprintf, (param0, "
    "param0); }\n"
    "ts: .branchtargets L0, L1;\nbrx.idx %r1, ts;\nL0: cvt.rn.bf16x2.f32 %r7, %r8, %r9;\nL1: ret;\n}\n.file 1 "
    "\"x.cu\"\n.section .debug_str { s: .b8 102,0 }\n";

std::string mutate(std::mt19937& engine) {
  constexpr std::string_view kPieces[] = {"{",
                                          "}",
                                          "[",
                                          "]",
                                          "(",
                                          ")",
                                          ";",
                                          ",",
                                          "|",
                                          "!",
                                          ":",
                                          ".",
                                          "%",
                                          "@",
                                          "\"",
                                          "/*",
                                          "//",
                                          "-",
                                          "+",
                                          "<4000000000>",
                                          "0x",
                                          "0f",
                                          "_",
                                          ".reg .b32 ",
                                          "%tid.x",
                                          "18446744073709551615",
                                          "bra W;",
                                          "\n",
                                          ".align 8",
                                          "[[[[",
                                          "((((",
                                          "{{{{",
                                          std::string_view("\0", 1),
                                          "\xff"};
  std::string text = kSeed;
  const int edits = 1 + static_cast<int>(engine() % 4);
  for (int i = 0; i < edits && !text.empty(); ++i) {
    const size_t at = engine() % text.size(), length = engine() % 12;
    switch (engine() % 5) {
      case 0: text.erase(at, length); break;
      case 1: text.insert(at, kPieces[engine() % std::size(kPieces)]); break;
      case 2: text[at] = static_cast<char>(engine()); break;
      case 3: text.insert(at, text.substr(engine() % text.size(), engine() % 40)); break;
      default: text.resize(at);
    }
  }
  return text;
}

}  // namespace

TEST_CASE("Mutated files are read, or refused with a sentence") {
  const char* wanted = std::getenv("SM100_PTX_FUZZ");
  const long runs = wanted ? std::atol(wanted) : 4000;
  std::mt19937 engine(100);
  long read = 0;
  for (long i = 0; i < runs; ++i) {
    const std::string text = mutate(engine);
    try {
      const Module module = parse(text, "fuzz.ptx");
      for (const Entry& entry : module.entries) unsupported(decode(module, entry));
      ++read;
    } catch (const PtxError& error) {
      REQUIRE(error.line >= 1);
      REQUIRE(error.column >= 1);
      REQUIRE(!error.sentence.empty());
    }
  }
  CHECK(read > 0);
  CHECK(read < runs);
}

TEST_CASE("Deep nesting is refused") {
  for (const char* piece : {"{", "(", "[", "-", "!"}) {
    std::string deep;
    for (int i = 0; i < 100000; ++i) deep += piece;
    CHECK_THROWS_AS(parse(".version 9.0\n.entry k() { mov.u32 " + deep + "; }", "x.ptx"), PtxError);
    CHECK_THROWS_AS(parse(".version 9.0\n.entry k() { " + deep, "x.ptx"), PtxError);
    CHECK_THROWS_AS(parse(".global .u32 x = " + deep, "x.ptx"), PtxError);
  }
}
