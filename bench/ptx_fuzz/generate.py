#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes valid PTX at random and asks ptxas and the simulator about it: what ptxas accepts, `sm100sim ptx --check` must
read, and know every scalar instruction of it.

    python3 bench/ptx_fuzz/generate.py build/release/sm100sim --files 100 --entries 100 --seed 1

An entry is a few dozen statements in the spellings that compilers and people use: blocks with registers and labels of
their own, guards, modifiers in any order that ptxas takes, numbers of every base, vectors, expressions in addresses,
calls, tables of branches, line information.  A file that ptxas refuses is cut into its entries, and those that it
refuses alone are left out.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

INTEGERS = ("s16", "u16", "s32", "u32", "s64", "u64")
BITS = ("b16", "b32", "b64")
FLOATS = ("f32", "f64")


class Body:
    """Statements of one entry, and what is declared where."""

    def __init__(self, rng, entry_number):
        self.rng, self.entry, self.lines, self.labels, self.place = rng, entry_number, [], 0, ""

    def reg(self, type_):
        kind = {"16": "h", "32": "r", "64": "d"}[type_[1:]] if type_[0] != "f" else {"f32": "f", "f64": "g"}[type_]
        return f"%{kind}{self.rng.randrange(8)}"

    def pred(self):
        return f"%p{self.rng.randrange(6)}"

    def literal(self, type_):
        r = self.rng
        if type_ == "f32":
            return r.choice([f"0f{r.getrandbits(32):08X}", "0F3f800000", "1.5", "-2.0", "0d3FF0000000000000", ".5e1"])
        if type_ == "f64":
            return r.choice([f"0d{r.getrandbits(64):016X}", "0D3ff0000000000000", "3.25", "-1e3"])
        width = int(type_[1:])
        value = r.getrandbits(min(width - 1, 30))
        return r.choice([str(value), f"0x{value:x}", f"0X{value:X}", f"0{value:o}", f"0b{value:b}", f"-{value}", f"{value}U",
                         f"({value} + 3)", f"~{value & 255}", "1 << 4" if width > 16 else "7", f"{value & 7} * 8"])

    def operand(self, type_):
        return self.literal(type_) if self.rng.random() < 0.2 else self.reg(type_)

    def guard(self):
        return self.rng.choice(["", "", "", f"@{self.pred()} ", f"@!{self.pred()} "])

    def spelled(self, base, modifiers, types):
        return base + "".join("." + m for m in modifiers) + "".join("." + t for t in types)

    def scalar(self):
        r = self.rng
        i, b, f = r.choice(INTEGERS), r.choice(BITS), r.choice(FLOATS)
        narrow = r.choice(("s16", "u16", "s32", "u32"))
        wide = {"s16": "s32", "u16": "u32", "s32": "s64", "u32": "u64"}[narrow]
        mode = r.choice(("rn", "rz", "rm", "rp"))
        ftz = r.choice(([], ["ftz"])) if f == "f32" else []
        sat = r.choice(([], ["sat"])) if f == "f32" else []
        cmp_i, cmp_f = r.choice(("eq", "ne", "lt", "le", "gt", "ge")), r.choice(("eq", "ltu", "num", "nan", "geu", "gt"))
        two, three = f"{self.reg(f)}, {self.operand(f)}", f"{self.reg(f)}, {self.operand(f)}, {self.operand(f)}"
        forms = [
            lambda: f"{self.spelled(r.choice(('add', 'sub')), [], [i])} {self.reg(i)}, {self.reg(i)}, {self.operand(i)}",
            lambda: f"{self.spelled('mul', [r.choice(('lo', 'hi'))], [i])} {self.reg(i)}, {self.reg(i)}, {self.operand(i)}",
            lambda: f"mul.wide.{narrow} {self.reg(wide)}, {self.reg(narrow)}, {self.operand(narrow)}",
            lambda: f"mad.lo.{i} {self.reg(i)}, {self.reg(i)}, {self.operand(i)}, {self.operand(i)}",
            lambda: f"mad.wide.{narrow} {self.reg(wide)}, {self.reg(narrow)}, {self.reg(narrow)}, {self.operand(wide)}",
            lambda: f"{r.choice(('div', 'rem', 'min', 'max'))}.{i} {self.reg(i)}, {self.reg(i)}, {self.operand(i)}",
            lambda: f"{r.choice(('and', 'or', 'xor'))}.{b} {self.reg(b)}, {self.reg(b)}, {self.operand(b)}",
            lambda: f"{r.choice(('and', 'or', 'xor'))}.pred {self.pred()}, {self.pred()}, {r.choice(('', '!'))}{self.pred()}",
            lambda: f"not.{b} {self.reg(b)}, {self.reg(b)}",
            lambda: f"shl.{b} {self.reg(b)}, {self.reg(b)}, {self.operand('b32')}",
            lambda: f"shr.{i} {self.reg(i)}, {self.reg(i)}, {self.operand('b32')}",
            lambda: f"shf.{r.choice('lr')}.{r.choice(('wrap', 'clamp'))}.b32 {self.reg('b32')}, {self.reg('b32')}, {self.reg('b32')}, {self.operand('b32')}",
            lambda: f"lop3.b32 {self.reg('b32')}, {self.reg('b32')}, {self.operand('b32')}, {self.reg('b32')}, {r.randrange(256)}",
            lambda: f"prmt.b32{r.choice(('', '.f4e', '.rc8'))} {self.reg('b32')}, {self.reg('b32')}, {self.reg('b32')}, {self.operand('b32')}",
            lambda: f"{r.choice(('popc', 'clz'))}.{r.choice(('b32', 'b64'))} {self.reg('b32')}, ",
            lambda: f"setp.{cmp_i}.{i} {self.pred()}, {self.reg(i)}, {self.operand(i)}",
            lambda: f"setp.{cmp_i}.{r.choice(('and', 'or', 'xor'))}.{i} {self.pred()}|%p7, {self.reg(i)}, {self.operand(i)}, !{self.pred()}",
            lambda: f"{self.spelled('setp', [cmp_f] + ftz, [f])} {self.pred()}, {self.reg(f)}, {self.operand(f)}",
            lambda: f"selp.{i} {self.reg(i)}, {self.operand(i)}, {self.reg(i)}, {self.pred()}",
            lambda: f"{self.spelled(r.choice(('add', 'sub', 'mul')), [mode] + ftz + sat, [f])} {three}",
            lambda: f"{self.spelled('fma', [mode] + ftz + sat, [f])} {three}, {self.operand(f)}",
            lambda: f"{self.spelled(r.choice(('min', 'max')), ftz, [f])} {three}",
            lambda: f"{self.spelled(r.choice(('neg', 'abs')), ftz, [f])} {two}",
            lambda: f"{self.spelled(r.choice(('ex2', 'lg2', 'rcp', 'rsqrt', 'sin', 'cos')), ['approx', 'ftz'], ['f32'])} {self.reg('f32')}, {self.reg('f32')}",
            lambda: f"cvt.{r.choice(('rn', 'rz', 'rm', 'rp'))}.f32.{i} {self.reg('f32')}, {self.reg(i)}",
            lambda: f"cvt.{r.choice(('rni', 'rzi', 'rmi', 'rpi'))}{r.choice(('', '.sat'))}.{i}.f64 {self.reg(i)}, {self.reg('f64')}",
            lambda: f"cvt.{r.choice(('', 'sat.'))}{r.choice(INTEGERS)}.{r.choice(('u8', 's8'))} %w, %c0" if False else f"cvt.u64.u32 {self.reg('u64')}, {self.reg('u32')}",
            lambda: f"cvt.rn.bf16x2.f32 {self.reg('b32')}, {self.reg('f32')}, {self.reg('f32')}",
            lambda: f"mov.b64 {{{self.reg('b32')}, {r.choice((self.reg('b32'), '_'))}}}, {self.reg('b64')}",
            lambda: f"mov.b64 {self.reg('b64')}, {{{self.reg('b32')}, {self.reg('b32')}}}",
            lambda: f"mov.{i} {self.reg(i)}, {self.operand(i)}",
            lambda: f"mov.u32 {self.reg('u32')}, {r.choice(('%tid.x', '%ctaid.y', '%laneid', '%nctaid.z', '%clock', 'WARP_SZ', '(WARP_SZ - 1)', '%lanemask_lt', '%cluster_ctarank', '%smid', '%warpid'))}",
            lambda: f"bfe.{r.choice(('u32', 's32'))} {self.reg('b32')}, {self.reg('b32')}, {r.choice((self.reg('b32'), '0x0C'))}, 5",
            lambda: f"bfi.b32 {self.reg('b32')}, {self.reg('b32')}, {self.reg('b32')}, 4, {r.choice((self.reg('b32'), '010'))}",
            lambda: f"dp4a.u32.s32 {self.reg('b32')}, {self.reg('b32')}, {self.reg('b32')}, {self.reg('b32')}",
            lambda: f"testp.{r.choice(('finite', 'normal', 'subnormal'))}.f32 {self.pred()}, {self.reg('f32')}",
            lambda: f"copysign.{f} {three}",
            lambda: f"slct.{i}.s32 {self.reg(i)}, {self.reg(i)}, {self.operand(i)}, {self.reg('s32')}",
            lambda: f"set.{cmp_i}.u32.{i} {self.reg('u32')}, {self.reg(i)}, {self.operand(i)}",
        ]
        text = r.choice(forms)()
        if text.endswith(", "):  # popc, clz
            text += self.reg("b32") if ".b32" in text else self.reg("b64")
        return text

    def memory(self):
        r = self.rng
        space = r.choice(("global", "shared", "shared::cta", "local", "param"))
        width, type_ = r.choice((("", "u32"), ("", "f32"), ("", "s64"), (".v2", "b32"), (".v4", "f32"), (".v2", "u64")))
        count = {"": 1, ".v2": 2, ".v4": 4}[width]
        regs = ", ".join(self.reg(type_) if r.random() < 0.9 or count == 1 else "_" for _ in range(count))
        if "%" not in regs:
            regs = regs.replace("_", self.reg(type_), 1)
        regs = regs if count == 1 else "{" + regs + "}"
        base = {"global": "%d0", "shared": "smem", "shared::cta": "%r0", "local": "depot", "param": "k_param"}[space]
        offset = r.choice(("", "+16", " + 0x20", "+ (4*8)")) if base[0] != "%" or r.random() < 0.5 else ""
        address = f"[{r.choice(('', ' '))}{base}{offset}]"
        if space == "param" or r.random() < 0.5:
            if "_" in regs and space == "param":
                regs = regs.replace("_", self.reg(type_))
            cop = r.choice(("", ".volatile")) if space in ("global", "shared") else ""
            return f"ld{cop}.{space}{width}.{type_} {regs}, {address}"
        return f"st.{space}{width}.{type_} {address}, {regs.replace('_', self.reg(type_))}"

    def statement(self, depth):
        r = self.rng
        kind = r.random()
        if kind < 0.62:
            self.lines.append(f"{self.guard()}{self.scalar()};")
        elif kind < 0.78:
            self.lines.append(f"{self.guard()}{self.memory()};")
        elif kind < 0.84 and depth < 4:
            self.block(depth)
        elif kind < 0.89:
            self.labels += 1
            label = f"{r.choice(('$L__BB', 'L', 'DONE_'))}{self.entry}_{self.labels}"
            self.lines.append(f"{self.guard() or '@%p0 '}bra{r.choice(('', '.uni'))} {label};")
            self.lines.append(f"{self.scalar()};")
            self.lines.append(f"{label}:")
        elif kind < 0.92:
            place = f"1 {r.randrange(1, 900)} {r.randrange(1, 80)}"
            inlined = f", function_name info_name, inlined_at {self.place}" if self.place and r.random() < 0.5 else ""
            self.lines.append(f".loc {place}{inlined}")
            self.place = place
        elif kind < 0.94:
            self.lines.append(f"elect.sync _|{self.pred()}, -1;")
        elif kind < 0.945:
            self.lines.append(r.choice((
                "mbarrier.init.shared::cta.b64 [bars], 1;", "mbarrier.init.shared.b64\t[bars+8] , %r1 ;",
                "{ .reg .pred P; W: mbarrier.try_wait.parity.shared::cta.b64 P, [bars], 0; @P bra D; bra W; D: }",
                "fence.proxy.async.shared::cta;", "bar.sync 1, 64;", "barrier.cta.sync %r1;", "bar.warp.sync -1;",
                "atom.global.add.u32 %r1, [%d1], 1;", "red.global.add.f32 [%d1+4], 0f3F800000;", "membar.gl;", "fence.acq_rel.gpu;",
                "cp.async.commit_group;", "cp.async.ca.shared.global [%r1], [%d1], 16;", "cp.async.wait_group 0;",
                "mov.u64 %d2, bars; cvta.shared.u64 %d3, %d2; cvta.to.shared.u64 %d2, %d3;", "mov.u64 %d2, elsewhere;",
                "mov.u64 %d4, pointers+8;", "{ .reg .b32 a, b , c; mov.b32 a, 1; mov.b32 b , a; mov.b32 c,b; }",
                "setp.eq.s32 %p1|_, %r1, 0;", "mov.b32 %r1, {%h1, %h2};", "mov.b32 {%h1, %h2}, %r3;",
                "{ .reg .b128 q; mov.b128 q, {%d1, %d2}; mov.b128 {%d3, _}, q; }", "nanosleep.u32 20;", "vote.sync.ballot.b32 %r1, %p1, -1;",
                "activemask.b32 %r1;", "redux.sync.add.s32 %r1, %r2, -1;", "match.any.sync.b32 %r1, %r2, -1;",
                "ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];", "prefetch.global.L2 [%d1];",
                "st.global.L1::no_allocate.b32 [%d1], 5;", "ldu.global.u32 %r1, [%d1];", "isspacep.shared %p1, %d1;")))
        elif kind < 0.96:
            self.lines.append(f"shfl.sync.{r.choice(('idx', 'bfly', 'up', 'down'))}.b32 %r1|%p7, %r2, {r.randrange(32)}, 31, -1;")
        elif kind < 0.97:
            self.lines.append('.pragma "nounroll";')
        elif kind < 0.98:
            self.lines.append("{ .param .b32 a0; st.param.b32 [a0], %r3; .param .b32 v0; call.uni (v0), helper, (a0); ld.param.b32 %r4, [v0]; }")
        else:
            self.branches()

    def block(self, depth):
        """Registers and a label that hide those of other blocks."""
        self.lines.append("{" + self.rng.choice(("", " // inner", " /* inner */")))
        self.lines.append(".reg .pred P1; .reg .b32 t0, t1;")
        self.lines.append("LAB_WAIT:")
        self.lines.append("setp.ne.u32 P1, %r1, 0; add.u32 t0, %r2, 1; mov.b32 t1, t0;")
        for _ in range(self.rng.randrange(4)):
            self.statement(depth + 1)
        self.lines.append("@P1 bra DONE; bra.uni DONE; DONE: }")

    def branches(self):
        self.labels += 1
        n = f"{self.entry}_{self.labels}"
        self.lines.append(f"and.b32 %r5, %r5, 1; ts{n}: .branchtargets A{n}, B{n};")
        self.lines.append(f"brx.idx %r5, ts{n};")
        self.lines.append(f"A{n}: {self.scalar()};\nB{n}:")


HEAD = """.version 8.8
.target sm_100a
.address_size 64
.file 1 "a.cu"
.extern .shared .align 1024 .b8 smem[];
.global .align 8 .u64 table[2] = {1, 0xFF};
.const .align 4 .f32 numbers[3] = {0f3F800000, 2.0, -1.5};
.visible .global .align 16 .b8 bytes[16] = {1, 2, 0x3, 04, -1};
.weak .global .align 4 .f32 weak_one = 0f3F800000;
.extern .global .align 4 .u32 elsewhere;
.global .align 8 .u64 pointers[2] = {bytes, generic(bytes) + 8};
.shared .align 8 .b64 bars[4];
.global .attribute(.managed) .align 4 .u32 managed_one;
.func unused() .noreturn { trap; ret; }
.visible .func (.param .b32 v) helper(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; add.s32 %x, %x, 1; st.param.b32 [v], %x; ret; }
"""
TAIL = """.section .debug_str
{
info_name:
.b8 102,0
}
"""


def entry(rng, number):
    body = Body(rng, number)
    for _ in range(rng.randrange(5, 40)):
        body.statement(0)
    directives = rng.choice(("", ".maxntid 128, 1, 1\n", ".reqntid 64\n.minnctapersm 1\n", ".explicitcluster\n.reqnctapercluster 2, 1, 1\n"))
    more = rng.choice(("", ", .param .u64 .ptr .global .align 16 p", ",\n\t.param .b64 q[2]", ", .param .f64 x, .param .u8 y"))
    return (f"{rng.choice(('.visible ', '.weak ', ''))}.entry k{number}(.param .align 16 .b8 k_param[128], .param .u32 n{more})\n{directives}{{\n"
            ".local .align 16 .b8 depot[64]; .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<8>;\n"
            ".reg .b64 %d<8>; .reg .f32 %f<8>; .reg .f64 %g<8>;\n" + "\n".join(body.lines) + "\nret;\n}\n")


def ptxas_accepts(text, folder):
    file = folder / "ptxas.ptx"
    file.write_text(text)
    done = subprocess.run(["ptxas", "-arch", "sm_100a", "-O0", "-o", folder / "out.cubin", file], capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("simulator", type=pathlib.Path)
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--entries", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="print the first text that the simulator does not take")
    options = parser.parse_args()
    accepted = refused = 0
    bad = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for number in range(options.files):
            rng = random.Random(options.seed * 1000003 + number)
            entries = [entry(rng, i) for i in range(options.entries)]
            ok, _ = ptxas_accepts(HEAD + "".join(entries) + TAIL, folder)
            if not ok:
                good = [e for e in entries if ptxas_accepts(HEAD + e + TAIL, folder)[0]]
                refused += len(entries) - len(good)
                entries = good
            accepted += len(entries)
            file = folder / "file.ptx"
            file.write_text(HEAD + "".join(entries) + TAIL)
            done = subprocess.run([options.simulator, "ptx", "--check", file, "--json", "-"], capture_output=True, text=True)
            if done.returncode == 0 and all(e["complete"] for e in json.loads(done.stdout)["entries"]):
                continue
            bad.append(done.stderr.strip() or str({m["opcode"] for e in json.loads(done.stdout)["entries"] for m in e["missing"]}))
            if options.keep:
                sys.stdout.write(file.read_text())
                break
    for text in bad[:20]:
        print(text)
    print(f"{accepted} entries that ptxas accepts ({refused} it does not), {options.files - len(bad)} of {options.files} files read completely")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
