#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wgmma bit for bit: the same products on silicon and in the bit model of an H200.

usage: wgmma_products.py prepare OUT              PTX, operands and launch files of all types
       wgmma_products.py model SM100SIM OUT       writes OUT/model.json
       wgmma_products.py silicon SM100_RUN OUT    on this machine's GPU; writes OUT/silicon.json
       wgmma_products.py table OUT                both, side by side: equal outputs have equal hashes

A launch has 7 CTAs of one warpgroup, each 64 rows of A; B has 256 rows: 114,688 products of `chain` instructions (32
bytes of k each).  Operands are bits: "random" has the exponents of a wide range, "specials" zeros, infinities, NaNs
and subnormal numbers among them.
"""
import json
import pathlib
import random
import struct
import subprocess
import sys

CTAS, N = 7, 256
TYPES = [("bf16", "f32", 2), ("f16", "f32", 2), ("f16", "f16", 2), ("tf32", "f32", 4), ("e4m3", "f32", 1), ("e5m2", "f32", 1),
         ("e4m3", "f16", 1), ("e5m2", "f16", 1), ("s8", "s32", 1), ("u8", "s32", 1)]


def cases():
    for ty, d, size in TYPES:
        for a in ("S", "R"):
            for chain in (1, 4):
                for operands in ("random",) if d == "s32" else ("random", "specials"):
                    yield dict(name=f"{ty}_{d}_{a}_{chain}_{operands}", type=ty, d=d, bytes=size, a=a, chain=chain, operands=operands)


def element(ty, specials, rng):
    """The bits of one element.  Random: an exponent within 2^-10 .. 2^9 (what the type has of it), any mantissa."""
    mantissa, exponents, bias = {"bf16": (7, 8, 127), "f16": (10, 5, 15), "tf32": (10, 8, 127), "e4m3": (3, 4, 7), "e5m2": (2, 5, 15)}[ty]
    top = (1 << exponents) - 1
    sign = rng.getrandbits(1) << (mantissa + exponents)
    if specials and rng.random() < 0.03:
        kind = rng.choice(["zero", "subnormal", "large", "infinity", "nan"])
        if kind == "zero":
            return sign
        if kind == "subnormal":
            return sign | rng.randrange(1, 1 << mantissa)
        if kind == "large":
            return sign | (top - 1) << mantissa | rng.getrandbits(mantissa)
        if kind == "infinity" and ty != "e4m3":
            return sign | top << mantissa
        return sign | top << mantissa | ((1 << mantissa) - 1)
    low, high = max(1, bias - 10), min(top - 1, bias + 9)
    return sign | rng.randint(low, high) << mantissa | rng.getrandbits(mantissa)


def operand(ty, size, rows, k, specials, rng):
    out = bytearray()
    for _ in range(rows * k):
        if ty in ("s8", "u8"):
            out.append(rng.getrandbits(8))
        elif size == 1:
            out.append(element(ty, specials, rng))
        elif size == 2:
            out += struct.pack("<H", element(ty, specials, rng))
        else:
            out += struct.pack("<I", element(ty, specials, rng) << 13)
    return bytes(out)


def ptx(c):
    k, size, chain = c["chain"] * 32 // c["bytes"], c["bytes"], c["chain"]
    span = k * size
    code = {128: 1, 64: 2, 32: 3}[span]
    registers = N // 4 if c["d"] == "f16" else N // 2
    tail = {"bf16": ", 1, 1, 0", "f16": ", 1, 1, 0", "tf32": ", 1, 1", "e4m3": ", 1, 1", "e5m2": ", 1, 1"}.get(c["type"], "")
    if tail == ", 1, 1, 0" and c["a"] == "S":
        tail = ", 1, 1, 0, 0"
    loads = descriptors = mmas = stores = ""
    for s in range(chain):
        for r in range(4):
            if c["a"] == "R":
                loads += f"\tld.global.b32 %a{4 * s + r}, [%rd10+{8 * (r & 1) * k * size + 32 * s + 16 * (r >> 1)}];\n"
        descriptors += f"\tadd.s64 %da{s}, %rd1, {2 * s};\n\tadd.s64 %db{s}, %rd2, {2 * s};\n"
        a = "{" + ", ".join(f"%a{4 * s + r}" for r in range(4)) + "}" if c["a"] == "R" else f"%da{s}"
        mmas += (f"\twgmma.mma_async.sync.aligned.m64n{N}k{32 // size}.{c['d']}.{c['type']}.{c['type']} "
                 f"{{{', '.join(f'%d{i}' for i in range(registers))}}}, {a}, %db{s}, %p{1 if s == 0 else 2}{tail};\n")
    width = 2 if c["d"] == "f16" else 4
    for r in range(registers):
        col = 2 * r if width == 2 else r
        stores += f"\tst.global.b32 [%rd11+{(8 * (col >> 1 & 1) * N + 8 * (col >> 2) + (col & 1)) * width}], %d{r};\n"
    a_bytes, b_bytes = 64 * span, N * span
    fixed = 8 * span // 16 << 32 | code << 62 | 1 << 16
    return f""".version 8.7
.target sm_90a
.address_size 64
.visible .entry products(.param .align 64 .b8 map_a[128], .param .align 64 .b8 map_b[128], .param .u64 a, .param .u64 c)
.reqntid 128
{{
	.reg .pred %p<8>;
	.reg .b32 %r<32>;
	.reg .b32 %a<{4 * chain}>;
	.reg .b32 %d<{registers}>;
	.reg .b64 %rd<20>;
	.reg .b64 %da<{chain}>;
	.reg .b64 %db<{chain}>;
	.shared .align 1024 .b8 tiles[{a_bytes + b_bytes}];
	.shared .align 8 .b64 bar;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, tiles;
	mov.u32 %r3, bar;
	mov.u32 %r15, %ctaid.x;
	shl.b32 %r16, %r15, 6;
	setp.ne.u32 %p0, %r1, 0;
	@%p0 bra READY;
	mbarrier.init.shared::cta.b64 [%r3], 1;
	fence.mbarrier_init.release.cluster;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], {a_bytes + b_bytes};
	mov.b64 %rd5, map_a;
	cvta.param.u64 %rd5, %rd5;
	mov.b64 %rd6, map_b;
	cvta.param.u64 %rd6, %rd6;
	add.u32 %r21, %r2, {a_bytes};
	cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd5, {{0, %r16}}], [%r3];
	cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r21], [%rd6, {{0, 0}}], [%r3];
READY:
	bar.sync 0;
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;
	@!%p3 bra WAIT;
	cvt.u64.u32 %rd1, %r2;
	shr.u64 %rd1, %rd1, 4;
	or.b64 %rd1, %rd1, {fixed:#x};
	add.s64 %rd2, %rd1, {a_bytes // 16};
	shr.u32 %r4, %r1, 5;
	and.b32 %r5, %r1, 31;
	shr.u32 %r6, %r5, 2;
	and.b32 %r7, %r5, 3;
	shl.b32 %r8, %r4, 4;
	add.u32 %r8, %r8, %r6;
	add.u32 %r8, %r8, %r16;
	ld.param.u64 %rd10, [a];
	cvta.to.global.u64 %rd10, %rd10;
	ld.param.u64 %rd11, [c];
	cvta.to.global.u64 %rd11, %rd11;
	mul.wide.u32 %rd7, %r8, {span};
	add.s64 %rd10, %rd10, %rd7;
	mul.wide.u32 %rd7, %r7, 4;
	add.s64 %rd10, %rd10, %rd7;
	mul.wide.u32 %rd7, %r8, {N * width};
	add.s64 %rd11, %rd11, %rd7;
	mul.wide.u32 %rd7, %r7, {2 * width};
	add.s64 %rd11, %rd11, %rd7;
{loads}	setp.ne.u32 %p1, %r1, %r1;
	setp.eq.u32 %p2, %r1, %r1;
{descriptors}	wgmma.fence.sync.aligned;
{mmas}	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
{stores}	ret;
}}
"""


def prepare(out):
    out.mkdir(parents=True, exist_ok=True)
    for c in cases():
        k, span = c["chain"] * 32 // c["bytes"], c["chain"] * 32
        rng = random.Random(c["name"])
        special = c["operands"] == "specials"
        (out / f"{c['name']}.a.bin").write_bytes(operand(c["type"], c["bytes"], 64 * CTAS, k, special, rng))
        (out / f"{c['name']}.b.bin").write_bytes(operand(c["type"], c["bytes"], N, k, special, rng))
        (out / f"{c['name']}.ptx").write_text(ptx(c))

        def tensor(name, ty, rows, columns, contents):
            return f'[[problem.tensor]]\nname = "{name}"\ntype = "{ty}"\nshape = [{rows}, {columns}]\n{contents}\n'

        def tensor_map(name, rows):
            return f'[[problem.argument]]\ntensor_map = "{name}"\nbox = [{span // c["bytes"]}, {rows}]\nswizzle = "{span}B"\n'

        (out / f"{c['name']}.toml").write_text(
            f'kernel = "ptx"\nprofile = "h200"\n[problem]\nptx = "{c["name"]}.ptx"\ngrid = [{CTAS}, 1, 1]\n'
            + tensor("A", c["type"], 64 * CTAS, k, f'file = "{c["name"]}.a.bin"') + tensor("B", c["type"], N, k, f'file = "{c["name"]}.b.bin"')
            + tensor("C", c["d"], 64 * CTAS, N, 'contents = "unwritten"') + tensor_map("A", 64) + tensor_map("B", N)
            + '[[problem.argument]]\naddress = "A"\n[[problem.argument]]\naddress = "C"\n[run]\nsms = 7\nnumerics = "b200"\n')


def hashes(command, out):
    result = {}
    for c in cases():
        ran = subprocess.run([*command, f"{c['name']}.toml", "--json", "result.json"], cwd=out, capture_output=True, text=True)
        result[c["name"]] = json.loads((out / "result.json").read_text())["output_hash"] if ran.returncode == 0 else (ran.stderr or ran.stdout).strip()[:300]
    return result


def table(out):
    model, silicon = (json.loads((out / f"{side}.json").read_text()) for side in ("model", "silicon"))
    print("| A, B | D | A in | instructions | operands | products | |\n|---|---|---|---|---|---|---|")
    equal = 0
    for c in cases():
        same = model[c["name"]] == silicon[c["name"]]
        equal += same
        print(f"| {c['type']} | {c['d']} | {'registers' if c['a'] == 'R' else 'shared memory'} | {c['chain']} | {c['operands']} | "
              f"{64 * CTAS * N:,} | {'equal' if same else 'DIFFER'} |")
    print(f"\n{equal} of {len(list(cases()))} equal")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "prepare":
        return prepare(pathlib.Path(sys.argv[2]))
    if len(sys.argv) == 4 and sys.argv[1] in ("model", "silicon"):
        out = pathlib.Path(sys.argv[3])
        command = [str(pathlib.Path(sys.argv[2]).resolve())] + (["run"] if sys.argv[1] == "model" else ["--repeat", "0"])
        (out / f"{sys.argv[1]}.json").write_text(json.dumps(hashes(command, out), indent=1))
        return None
    if len(sys.argv) == 3 and sys.argv[1] == "table":
        return table(pathlib.Path(sys.argv[2]))
    sys.exit(__doc__)


main()
