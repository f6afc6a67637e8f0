#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs published kernels from their PTX on the models and prints a line for each: verdict, cycles, warnings, seconds.

    SM100_LEARN_CUDA=~/learn-cuda python3 bench/third_party/run.py build/release/sm100sim

The checkout is the reader's own; nothing of it is in this repository.  nvcc compiles it into a temporary folder.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

M, N, K = 512, 512, 512
BLOCK_M = 128

# learn-cuda/02e_matmul_sm100: entry, threads, block_n of B's box, block_k, shared bytes, columns of a map's row, swizzle, CTAs
# a pair, profiler arguments, grid of persistent kernels.  (From its host functions.)
LEARN_CUDA = {
    "v1": dict(entry="ILi256ELi256ELb0E", block_n=256, block_k=256, row=8, swizzle="none", rank=2, stages=1),
    "v1_3d": dict(file="v1", entry="ILi256ELi256ELb1E", block_n=256, block_k=256, row=8, swizzle="none", stages=1),
    "v2": dict(entry="ILi256ELi256ELb0E", block_n=256, block_k=256, rank=2, stages=1),
    "v2_3d": dict(file="v2", entry="ILi256ELi256ELb1E", block_n=256, block_k=256, stages=1),
    "v3": dict(entry="v3_kernel", block_n=256, block_k=128, stages=2),
    "v4": dict(entry="v4_kernel", block_n=128, block_k=64, stages=7),
    "v5": dict(entry="ILi256ELi64ELi2ELi7ELb0E", block_n=256, block_k=64, stages=7, pair=2, profiler=True),
    "v6": dict(entry="ILi256ELi64ELi2ELi7ELb0E", block_n=256, block_k=64, stages=7, pair=2, profiler=True, threads=192, grid=4),
}


def compiled(checkout, version, folder):
    stub = folder / "stub" / "torch"
    stub.mkdir(parents=True, exist_ok=True)
    (stub / "library.h").write_text("#define TORCH_CHECK(...)\n")
    out = folder / f"{version}.ptx"
    if not out.exists():
        subprocess.run(["nvcc", "-std=c++17", "-O3", "-lineinfo", "-I", folder / "stub", "-include", "cuda_bf16.h", "-include", "tuple",
                        "--expt-relaxed-constexpr", "-gencode", "arch=compute_100a,code=compute_100a", "-ptx", "-o", out,
                        checkout / "02e_matmul_sm100" / f"matmul_{version}.cu"], check=True, stderr=subprocess.DEVNULL)
    return out


def tensor(name, rows, columns, contents="random"):
    return f'[[problem.tensor]]\nname = "{name}"\ntype = "bf16"\nshape = [{rows}, {columns}]\ncontents = "{contents}"\n\n'


def tensor_map(name, rows, box_rows, k):
    row = k.get("row", 64)
    if k.get("rank", 3) == 2:
        return f'[[problem.argument]]\ntensor_map = "{name}"\nbox = [{row}, {box_rows}]\nswizzle = "{k.get("swizzle", "128B")}"\n\n'
    return (f'[[problem.argument]]\ntensor_map = "{name}"\ndims = [{row}, {rows}, {K // row}]\nstrides = [{2 * K}, {2 * row}]\n'
            f'box = [{row}, {box_rows}, {k["block_k"] // row}]\nswizzle = "{k.get("swizzle", "128B")}"\n\n')


def launch_file(k):
    pair = k.get("pair", 1)
    grid = k.get("grid", (M // BLOCK_M) * (N // k["block_n"]))
    shared = (BLOCK_M + k["block_n"] // pair) * k["block_k"] * k["stages"] * 2
    text = 'kernel = "ptx"\nprofile = "b200"\n\n[problem]\nptx = "set.ptx"\n'
    text += f'entry = "{k["entry"]}"\ngrid = [{grid}, 1, 1]\nblock = [{k.get("threads", 128)}, 1, 1]\n'
    text += f'cluster = [{pair}, 1, 1]\ndynamic_smem_bytes = {shared}\n\n'
    text += tensor("A", M, K) + tensor("B", N, K) + tensor("C", M, N, "unwritten")
    text += tensor_map("A", M, BLOCK_M, k) + tensor_map("B", N, k["block_n"] // pair, k)
    text += '[[problem.argument]]\naddress = "C"\n\n'
    text += "".join(f"[[problem.argument]]\nvalue = {v}\n\n" for v in (M, N, K) + ((0, 0) if k.get("profiler") else ()))
    return text + '[problem.check]\nproduct = ["A", "B", "C"]\n\n[run]\nsms = 8\n'


def run(simulator, ptx, launch, folder):
    file = folder / "launch.toml"
    file.write_text(launch)
    begin = time.time()
    done = subprocess.run([simulator, "ptx", ptx, "--launch", file, "--json", "-"], capture_output=True, text=True)
    seconds = time.time() - begin
    try:
        return json.loads(done.stdout), seconds
    except ValueError:
        return {"verdict": "error", "outcome": done.stderr.strip().splitlines()[-1] if done.stderr else "?"}, seconds


def main():
    simulator = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/sm100sim").resolve()
    checkout = os.environ.get("SM100_LEARN_CUDA")
    if not checkout:
        print("skipped: SM100_LEARN_CUDA names no checkout of learn-cuda")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print(f"{'kernel':<10} {'outcome':<10} {'verdict':<10} {'cycles':>9}  {'warnings':<30} {'s':>5}")
        for kernel, k in LEARN_CUDA.items():
            ptx = compiled(pathlib.Path(checkout), k.get("file", kernel), folder)
            result, seconds = run(simulator, ptx, launch_file(k), folder)
            ids = ", ".join(f"{w['id']}" for w in result.get("findings", []) + result.get("warnings", []))
            print(f"{kernel:<10} {result['outcome']:<10} {result['verdict']:<10} {result.get('cycles', 0):>9}  {ids:<30} {seconds:>5.1f}")


if __name__ == "__main__":
    main()
