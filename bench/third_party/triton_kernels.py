# SPDX-License-Identifier: Apache-2.0
"""Kernels of our own in Triton, and their PTX: C[m][n] = sum over k of A[m][k] B[n][k] in bf16, tiles of 128 x 128 x 64.

    python3 bench/third_party/triton_kernels.py FOLDER       # writes FOLDER/triton_NAME.ptx; needs Triton 3.6, no GPU
"""
import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def matmul_tma(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A tile for each CTA, operands by tensor descriptors."""
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = a.load([pid_m * BM, k])
        y = b.load([pid_n * BN, k])
        acc = tl.dot(x, y.T, acc)
    c.store([pid_m * BM, pid_n * BN], acc.to(tl.bfloat16))


@triton.jit
def matmul_ws(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The same with warps for loads and for MMAs."""
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        x = a.load([pid_m * BM, k])
        y = b.load([pid_n * BN, k])
        acc = tl.dot(x, y.T, acc)
    c.store([pid_m * BM, pid_n * BN], acc.to(tl.bfloat16))


@triton.jit
def matmul_wsp(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SMS: tl.constexpr):
    """The same, persistent."""
    tiles_m = tl.cdiv(M, BM)
    tiles = tiles_m * tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tiles, SMS, flatten=True, warp_specialize=True):
        row = tile % tiles_m * BM
        column = tile // tiles_m * BN
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(tl.cdiv(K, BK)):
            x = a.load([row, k * BK])
            y = b.load([column, k * BK])
            acc = tl.dot(x, y.T, acc)
        c.store([row, column], acc.to(tl.bfloat16))


@triton.jit
def matmul_pointers(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A tile for each CTA, operands by cp.async."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + k + ks[None, :])
        y = tl.load(b + columns[None, :] * K + k + ks[:, None])
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * N + columns[None, :], acc.to(tl.bfloat16))


def main():
    folder = pathlib.Path(sys.argv[1])
    sizes = {"BM": 128, "BN": 128, "BK": 64}
    numbers = {"M": "i32", "N": "i32", "K": "i32"}
    descriptors = {"a": "tensordesc<bf16[128,64]>", "b": "tensordesc<bf16[128,64]>", "c": "tensordesc<bf16[128,128]>"}
    pointers = {name: "*bf16" for name in "abc"}
    for kernel, operands, constants in ((matmul_tma, descriptors, sizes), (matmul_ws, descriptors, sizes),
                                        (matmul_wsp, descriptors, sizes | {"SMS": 4}), (matmul_pointers, pointers, sizes)):
        signature = operands | numbers | {name: "constexpr" for name in constants}
        divisible = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(kernel.arg_names)
                     if name in "abcMNK" and not signature[name].startswith("tensordesc")}
        source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=divisible)
        compiled = triton.compile(source, target=GPUTarget("cuda", 100, 32), options={"num_warps": 4, "num_stages": 3})
        name = kernel.__name__.removeprefix("matmul_")
        (folder / f"triton_{name}.ptx").write_text(compiled.asm["ptx"])
        print(f"{name}: {compiled.metadata.shared} bytes of shared memory")


if __name__ == "__main__":
    main()
