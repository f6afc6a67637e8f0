// SPDX-License-Identifier: Apache-2.0
/// What real PTX looks like, fact by fact.

#include "catch.h"
#include "ptx/module.h"

using namespace sm100::ptx;

namespace {

const std::string kHead = ".version 9.0\n.target sm_100a\n.address_size 64\n";
std::string entry(const std::string& body, const std::string& head = "k()") {
  return kHead + ".visible .entry " + head + "\n{\n" + body + "\n}\n";
}
Module parse_entry(const std::string& body) { return parse(entry(body), "x.ptx"); }
const Body& body_of(const Module& m) { return m.entries[0].body; }
std::string error_of(const std::string& text) {
  try {
    parse(text, "x.ptx");
  } catch (const PtxError& error) { return error.what(); }
  return "no error";
}

}  // namespace

TEST_CASE("The head of a file") {
  const Module m = parse(
      ".version 8.7 // a comment\n.target sm_100a, debug\n/* another */ .address_size 64\n.file 1 "
      "\"/src/gemm.cu\", 12, 34\n",
      "x.ptx");
  CHECK(m.version_major == 8);
  CHECK(m.version_minor == 7);
  CHECK(m.target == "sm_100a");
  CHECK(m.address_size == 64);
  CHECK(m.files.at(1) == "/src/gemm.cu");
}

TEST_CASE("Parameters are laid out at their alignments") {
  const Module m = parse(entry("ret;",
                               "k(.param .u32 a, .param .align 64 .b8 map[128], .param .u64 .ptr .global .align 16 "
                               "p, .param .u8 c)\n.maxntid 224, 1, 1\n.minnctapersm 1\n"
                               ".maxnreg 128 .explicitcluster .reqnctapercluster 2, 1, 1 .maxclusterrank 8 .pragma "
                               "\"used_bytes_mask 7\";"),
                         "x.ptx");
  const Entry& e = m.entries[0];
  REQUIRE(e.params.size() == 4);
  CHECK(e.params[1].offset == 64u);
  CHECK(e.params[1].bytes == 128u);
  CHECK(e.params[1].array);
  CHECK(e.params[2].offset == 192u);
  CHECK(e.params[2].align == 8u);  // 16 is that of what it points to
  CHECK(e.params[2].pointer);
  CHECK(e.params[3].offset == 200u);
  CHECK(e.param_bytes == 201u);
  CHECK(e.directives.maxntid == Dim3{224, 1, 1});
  CHECK(e.directives.minnctapersm == 1u);
  CHECK(e.directives.maxnreg == 128u);
  CHECK(e.directives.explicitcluster);
  CHECK(e.directives.reqnctapercluster == Dim3{2, 1, 1});
  CHECK(e.directives.maxclusterrank == 8u);
  CHECK(e.directives.pragmas.size() == 1);
}

TEST_CASE("Variables of a module, with initialisers") {
  const Module m = parse(kHead +
                             ".extern .shared .align 1024 .b8 smem[];\n.global .align 4 .u32 one = 1, two = "
                             "2;\n.const .f32 pi[2] = {0f40490FDB, 1.5};\n"
                             ".global .align 8 .u64 table[3] = {one, generic(two)+4, 7};\n.visible .global .b8 "
                             "text[6] = {72, 105, 0};\n.global .b8 part[2] = {0xFF(one), 0xFF00(one)};\n"
                             ".global .attribute(.managed) .align 4 .u32 m;\n.shared .v4 .f32 v;\n.global .s16 "
                             "grid[2][3] = {{1, 2}, {-1}};",
                         "x.ptx");
  REQUIRE(m.variables.size() == 10);
  CHECK(m.variables[0].external);
  CHECK(m.variables[0].align == 1024u);
  CHECK(m.variables[0].bytes == 0u);
  CHECK(m.variables[2].data[0] == std::byte{2});
  CHECK(m.variables[3].data[3] == std::byte{0x40});
  CHECK(m.variables[3].data[6] == std::byte{0xc0});
  REQUIRE(m.variables[4].addresses.size() == 2);
  CHECK(m.variables[4].addresses[1].generic);
  CHECK(m.variables[4].addresses[1].addend == 4);
  CHECK(m.variables[5].bytes == 6u);
  CHECK(m.variables[6].addresses[1].mask == 0xff00u);
  CHECK(m.variables[8].bytes == 16u);
  CHECK(m.variables[8].align == 16u);
  CHECK(m.variables[9].bytes == 12u);
}

TEST_CASE("A block is a scope of registers and of labels, which may repeat") {
  const Module m = parse_entry(
      ".reg .b32 %r<4>; .reg .pred P1;\n"
      "{ .reg .pred P1; LAB_WAIT: mbarrier.try_wait.parity.shared::cta.b64 P1, [%r1], %r2, 0x989680; @P1 bra DONE; "
      "bra LAB_WAIT; DONE: }\n"
      "{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%r1], %r2;\n@P1 bra.uni "
      "DONE;\nbra.uni LAB_WAIT;\nDONE:\n}\nret;");
  const Body& b = body_of(m);
  REQUIRE(b.statements.size() == 7);
  REQUIRE(b.labels.size() == 4);
  CHECK(b.statements[0].guard == Statement::kNoGuard);
  CHECK(b.statements[1].guard != b.statements[4].guard);
  CHECK(b.labels[b.operands(b.statements[1])[0].index].statement == 3u);
  CHECK(b.labels[b.operands(b.statements[2])[0].index].statement == 0u);
  CHECK(b.labels[b.operands(b.statements[4])[0].index].statement == 6u);
  CHECK(b.labels[b.operands(b.statements[5])[0].index].statement == 3u);
}

TEST_CASE("An inner block sees outer labels and registers, and may declare behind an instruction") {
  const Module m = parse_entry(
      ".reg .b32 r1;\nL:\n{ mov.u32 r1, 1;\n.reg .b32 tmp, %x<3>;\nmov.u32 tmp, r1; { bra L; } bra M; }\nM: ret;");
  const Body& b = body_of(m);
  CHECK(b.registers.size() == 5);
  CHECK(b.labels[b.operands(b.statements[2])[0].index].statement == 0u);
  CHECK(b.labels[b.operands(b.statements[3])[0].index].statement == 4u);
}

TEST_CASE("A block may stand on one line, and names need no %") {
  const Module m =
      parse_entry(".reg .b32 %r<600>; .reg .b64 %rd<30>;\n\t{ .reg .b32 tmp; mov.b64 {tmp, %r590}, %rd21; }");
  const Body& b = body_of(m);
  const auto terms = b.operands(b.statements[0]);
  REQUIRE(terms[0].kind == Term::Kind::vector);
  CHECK(b.registers[b.children(terms[0])[0].index].name == "tmp");
  CHECK(b.registers[b.children(terms[0])[1].index].number == 590);
}

TEST_CASE("Operands") {
  const Module m = parse_entry(
      ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>; .shared .align 8 .b8 sym[64];\n"
      "elect.sync _|%p1, %r1;\nshfl.sync.idx.b32\t%r1|%p1, %r2, 0, 31, -1;\n"
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {0, %r2, %r3}], "
      "[%r4];\n"
      "ld.shared.u32 %r1, [sym+4]; ld.shared.u32 %r1, [ %rd4 + 0 ]; ld.shared.u32 %r1, [%rd4+-8]; ld.shared.u32 "
      "%r1, [%rd4 - 0xa]; ld.global.u32 %r1, [1024];\n"
      "mov.u32 %r1, sym+16; selp.b32 %r1, 1, 0, !%p3;");
  const Body& b = body_of(m);
  const auto terms = [&](size_t i) { return b.operands(b.statements[i]); };
  CHECK(terms(0)[0].kind == Term::Kind::pair);
  CHECK(b.children(terms(0)[0])[0].kind == Term::Kind::sink);
  CHECK(terms(1)[4].value == -1);
  const Term source = terms(2)[1];
  REQUIRE(b.children(source).size() == 2);
  CHECK(b.children(source)[1].kind == Term::Kind::vector);
  CHECK(b.children(b.children(source)[1])[0].kind == Term::Kind::integer);
  CHECK(terms(3)[1].offset + b.children(terms(3)[1])[0].offset == 4);
  CHECK(terms(4)[1].offset == 0);
  CHECK(terms(5)[1].offset == -8);
  CHECK(terms(6)[1].offset == -10);
  CHECK(b.children(terms(7)[1])[0].value == 1024);
  CHECK(terms(8)[1].offset == 16);
  CHECK(terms(9)[3].negated);
}

TEST_CASE("Vectors of 128 registers") {
  std::string list;
  for (int i = 0; i < 128; ++i) list += (i ? ", %r" : "%r") + std::to_string(i);
  const Module m =
      parse_entry(".reg .b32 %r<129>;\ntcgen05.ld.sync.aligned.32x32b.x128.b32 {" + list + "}, [%r128];");
  CHECK(body_of(m).operands(body_of(m).statements[0])[0].count == 128u);
}

TEST_CASE("Calls with parameters of their own, prototypes, tables of branches") {
  const Module m =
      parse(kHead +
                ".extern .func (.param .b32 func_retval0) vprintf\n(\n\t.param .b64 vprintf_param_0,\n\t.param "
                ".b64 vprintf_param_1\n)\n;\n"
                ".func (.reg .b32 d) twice(.reg .b32 a) { add.u32 d, a, a; ret; }\n.alias other, twice;\n" +
                entry(".reg .b32 %r<9>; .reg .b64 %rd<4>;\n"
                      "{ .param .b64 param0; st.param.b64 [param0], %rd1; .param .b64 param1; st.param.b64 "
                      "[param1], 0; .param .b32 retval0;\n"
                      "call.uni (retval0), vprintf, (param0, param1); ld.param.b32 %r1, [retval0]; }\n"
                      "{ .param .b32 param0; prototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _, .param "
                      ".align 8 .b8 _[16]);\ncall (%r1), %rd1, (param0), prototype_0; }\n"
                      "ts: .branchtargets L0, L1;\nbrx.idx %r2, ts;\nL0: L1: exit;",
                      "k()")
                    .substr(kHead.size()),
            "x.ptx");
  CHECK(m.functions.size() == 2);
  CHECK(m.functions[0].external);
  CHECK(m.functions[1].body.statements.size() == 2);
  CHECK(m.aliases.at("other") == "twice");
}

TEST_CASE(".loc says where an instruction comes from, with the chain of inlining") {
  const Module m = parse(kHead +
                             ".visible .entry k()\n{\n.loc 1 10 3\nret;\n.loc 2 5 7, function_name "
                             "$L__info_string0, inlined_at 1 10 3\nret;\n"
                             ".loc 3 7 1, function_name $L__info_string0+2, inlined_at 2 5 7\nret;\n}\n.file 1 "
                             "\"/a/gemm.cu\"\n.file 2 \"tile.h\"\n.file 3 \"ptx.h\"\n"
                             ".section .debug_str\n{\n$L__info_string0:\n.b8 102\n.b8 111,111,0\n}\n.section "
                             ".debug_abbrev { .b8 1 .b8 2 }\n",
                         "x.ptx");
  const auto& s = m.entries[0].body.statements;
  CHECK(m.place(s[0].loc) == "gemm.cu:10");
  CHECK(m.place(s[1].loc) == "tile.h:5");
  CHECK(m.place(s[2].loc, true) == "ptx.h:7, inlined at tile.h:5, inlined at gemm.cu:10");
  CHECK(m.strings.at("$L__info_string0") == "foo");
  CHECK(m.text_line(4) == ".visible .entry k()");
}

TEST_CASE("Pragmas and empty statements inside of code") {
  const Module m = parse_entry("L: .pragma \"nounroll\";\n;\nbra.uni L;");
  CHECK(body_of(m).statements.size() == 1);
  CHECK(m.entries[0].directives.pragmas[0] == "nounroll");
}

TEST_CASE("Errors say where and what") {
  CHECK(error_of(entry("mov.u32 %r1, 5;")) == "x.ptx:6:9: '%r1' is not declared in reach");
  CHECK(error_of(entry(".reg .b32 %r<2>;\nmov.u32 %r1, %r2;")) == "x.ptx:7:14: '%r2' is not declared in reach");
  CHECK(error_of(entry("bra L;")) == "x.ptx:6:5: there is no label 'L' in reach");
  CHECK(error_of(entry("bra L; { L: ret; }")) == "x.ptx:6:5: there is no label 'L' in reach");
  CHECK(error_of(entry("L: L: ret;")) == "x.ptx:6:4: label 'L' stands twice in this block");
  CHECK(error_of(entry(".reg .b32 %r<2>;\nmov.u32 %r1 5;")) ==
        "x.ptx:7:13: expected ';' behind an operand of 'mov.u32', found '5'");
  CHECK(error_of(entry(".reg .b32 p;\n@p ret;")) == "x.ptx:7:2: 'p' behind '@' is no predicate");
  CHECK(error_of(kHead + ".visible .entry k() { ret;") == "x.ptx:4:27: 'k' has no end: expected '}'");
  CHECK(error_of(kHead + ".globl x;") == "x.ptx:4:8: '.globl' is no directive at module scope");
  CHECK(error_of(kHead + ".shared .align 3 .b8 x[4];") == "x.ptx:4:18: an alignment is a power of two");
}
