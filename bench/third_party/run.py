#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs published kernels from their PTX on the models and prints a line for each: verdict, cycles, warnings, seconds.

    SM100_LEARN_CUDA=~/learn-cuda SM100_DEEPGEMM=~/DeepGEMM python3 bench/third_party/run.py build/release/sm100sim

Checkouts are the reader's own; nothing of them is in this repository.  nvcc compiles each kernel into a temporary folder.
"""
import argparse
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

from broken import MISTAKES, broken
from forms import corpus
import programs
from kernels import KERNELS, PROJECTS
from page import rendered


def checkout(project):
    path = os.environ.get(PROJECTS[project].variable)
    return pathlib.Path(path).resolve() if path else None


def missing(kernel):
    """Variables of checkouts that this kernel needs and nobody has named."""
    return [PROJECTS[p].variable for p in (kernel.project, *kernel.needs) if not checkout(p)]


def compiled(kernel, folder):
    """The PTX of a kernel; compiled once for all kernels of one source."""
    key = kernel.instantiation or kernel.source
    out = folder / f"{hashlib.sha256(f'{kernel.project} {key}'.encode()).hexdigest()[:12]}.ptx"
    if out.exists():
        return out
    if kernel.source.endswith(".ptx"):
        shutil.copy(checkout(kernel.project) / kernel.source, out)
        return out
    stub = folder / "torch"  # learn-cuda's headers want one macro of PyTorch
    stub.mkdir(exist_ok=True)
    (stub / "library.h").write_text("#define TORCH_CHECK(...)\n")
    source = checkout(kernel.project) / kernel.source
    if kernel.instantiation:
        source = folder / "instantiation.cu"
        header = kernel.source.split("include/", 1)[1]
        source.write_text(f"#include <{header}>\nusing namespace deep_gemm;\nauto* const kernel = &{kernel.instantiation};\n")
    names = {"FOLDER": folder} | {p: checkout(p) for p in PROJECTS}
    options = [o.format(**names) for o in kernel.options]
    subprocess.run(["nvcc", *options, "-gencode", "arch=compute_100a,code=compute_100a", "-ptx", "-o", out, source], check=True,
                   capture_output=True)
    return out


def registers(ptx, entry):
    """What ptxas gives a thread of the entry at its launch; setmaxnreg is looked at with it."""
    done = subprocess.run(["ptxas", "-arch=sm_100a", "-v", "-o", os.devnull, ptx], check=True, capture_output=True, text=True)
    used = re.findall(r"Compiling entry function '([^']*)'.*?Used (\d+) registers", done.stdout + done.stderr, re.DOTALL)
    return next(int(n) for name, n in used if entry in name)


def run(simulator, ptx, launch, folder, options=()):
    file = folder / "launch.toml"
    file.write_text(launch.replace('"kernel.ptx"', f'"{ptx.name}"'))
    begin = time.time()
    done = subprocess.run([simulator, "ptx", ptx, "--launch", file, "--json", "-", *options], capture_output=True, text=True)
    seconds = time.time() - begin
    try:
        return json.loads(done.stdout), seconds
    except ValueError:
        return {"verdict": "error", "outcome": done.stderr.strip().splitlines()[-1] if done.stderr else "?"}, seconds


def category(result):
    if result.get("verdict") == "error":
        return next((w["message"] for w in result.get("findings", []) if "not implemented" in w["message"]), result["outcome"])
    if result["verdict"] == "findings":
        return "hang" if result["outcome"] == "hang" else "finding: " + result["findings"][0]["id"]
    if result["verdict"] == "incomplete":
        return "incomplete: " + ", ".join(n.split(" (")[0] for n in result["not_checked"])
    return "verified" if result["verified"] else "incomplete: the output was not compared"


def record(kernel, ptx, launch, result, seconds):
    options = " ".join(o.replace("{FOLDER}", "STUB") for o in kernel.options)
    nvcc = f"nvcc {options} -gencode arch=compute_100a,code=compute_100a -ptx {kernel.instantiation or kernel.source}"
    return {"name": kernel.name, "project": kernel.project, "source": kernel.source, "instantiation": kernel.instantiation or None,
            "entry": result.get("configuration", {}).get("entry", launch.entry), "size": kernel.size,
            "command": nvcc if kernel.options else "python3 bench/third_party/triton_kernels.py",
            "ptx_sha256": programs.ptx_hash(ptx), "category": category(result), "verdict": result["verdict"],
            "cycles": result.get("cycles") or 0, "warnings": sorted({w["id"] for w in result.get("warnings", [])}),
            "findings": sorted({w["id"] for w in result.get("findings", [])}), "wall_seconds": round(seconds, 1)}


def broken_records(simulator, name, ptx, entry, toml):
    """The first five lines of what is said of each mistake."""
    said = []
    for mistake in MISTAKES:
        text, line = broken(ptx.read_text(), entry, mistake)
        file = toml.parent / "broken.ptx"
        file.write_text(text)
        done = subprocess.run([simulator, "ptx", file, "--launch", toml], capture_output=True, text=True)
        report = [r.rstrip() for r in done.stdout.splitlines()[:5]]
        said.append({"kernel": name, "mistake": mistake.name, "line": line, "expected": mistake.expected, "report": report})
        print(f"  {mistake.name}: {report[0] if report else done.stderr}", flush=True)
    return said


def merged(old, new, key):
    """What was run replaces what was known of it; the rest stays."""
    fresh = {key(r) for r in new}
    return [r for r in old if key(r) not in fresh] + new


def write(docs, simulator, records, said, mutated, files):
    path = docs / "third-party.json"
    data = json.loads(path.read_text()) if path.exists() else {"kernels": [], "broken": [], "files": [], "forms": {}}
    order = [k.name for k in (*KERNELS, *programs.PROGRAMS)]
    kernels = sorted(merged(data["kernels"], records, lambda r: r["name"]), key=lambda r: order.index(r["name"]))
    listed, forms = corpus(simulator, files)
    data = {"schema": "sm100sim.third-party", "schema_version": 1,
            "projects": [{"name": p.title, "url": p.url, "commit": p.commit, "variable": p.variable, "licence": p.licence} for p in PROJECTS.values()],
            "kernels": kernels, "broken": merged(data["broken"], said, lambda r: (r["kernel"], r["mistake"])),
            "mutated": merged(data.get("mutated", []), mutated, lambda r: (r["program"], r["mistake"])),
            "files": sorted(merged(data["files"], listed, lambda r: r["file"]), key=lambda r: r["file"]),
            "forms": dict(sorted((data["forms"] | forms).items()))}
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    (docs / "third-party.md").write_text(rendered(data))


def run_programs(simulator, arguments, folder, records, said, mutated, files):
    chosen = [p for p in programs.PROGRAMS if arguments.only in p.name]
    if chosen and not programs.supports(simulator):
        return print("programs: skipped: this simulator has no exec command")
    checkouts = {name: checkout(name) for name in PROJECTS}
    for program in chosen:
        kernel = next((k for k in KERNELS if k.name == program.kernel), None)
        absent = [PROJECTS[p].variable for p in (program.project, *(kernel.needs if kernel else ())) if not checkouts[p]]
        if absent:
            print(f"{program.name:<32} skipped: {', '.join(absent)} not set")
            continue
        if kernel:
            ptx = compiled(kernel, folder)
            entry = re.search(rf"\.entry\s+(\w*{kernel.launch(kernel).entry}\w*)", ptx.read_text())[1]
            program = dataclasses.replace(program, arguments=[str(ptx), entry])
        binary = programs.compiled(program, checkouts, arguments.programs or folder)
        answer, output, seconds, saved = programs.run(simulator, program, binary.resolve(), folder, arguments.limit)
        launch = programs.kernel_launch(answer["launches"])
        if not launch:
            print(f"{program.name:<32} launched nothing")
            continue
        records.append(programs.record(program, answer, output, seconds, saved))
        last = records[-1]
        print(f"{program.name:<32} {last['category']:<20} {last['cycles']:>9}  {' '.join(last['warnings']):<30} {seconds:>5.1f}", flush=True)
        ptx = saved / f"launch_{launch['launch']}.ptx"
        if program.project == "CUTLASS":  # the others' files are their kernels'
            files.setdefault(f"CUTLASS {program.binary[1:]}", ptx)
        if arguments.broken and program.broken:
            said += broken_records(simulator, program.name, ptx, launch["entry"], saved / f"launch_{launch['launch']}.toml")
        if arguments.mutated:
            mutated += programs.mutated(simulator, program, binary.resolve(), ptx, launch["entry"], folder, arguments.limit)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("simulator", nargs="?", default="build/release/sm100sim")
    parser.add_argument("--only", default="", help="kernels whose name holds this")
    parser.add_argument("--keep", help="a folder for PTX and launch files, instead of a temporary one")
    parser.add_argument("--broken", action="store_true", help="also the mistakes of broken.py")
    parser.add_argument("--mutated", action="store_true", help="also the programs with a mistake in their PTX, judged by their own comparison")
    parser.add_argument("--write", type=pathlib.Path, metavar="DOCS", help="writes DOCS/third-party.json and .md; what is not run stays")
    parser.add_argument("--programs", type=pathlib.Path, help="a folder that keeps compiled programs of CUTLASS: minutes each")
    parser.add_argument("--limit", type=int, default=1800, help="seconds for a program")
    parser.add_argument("--also", nargs="*", default=[], type=pathlib.Path, help="further PTX files whose forms are counted")
    arguments = parser.parse_args()
    simulator = pathlib.Path(arguments.simulator).resolve()
    records, said, mutated, files = [], [], [], {f"{p.stem}": p for p in arguments.also}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(arguments.keep or name)
        folder.mkdir(exist_ok=True)
        print(f"{'kernel':<32} {'category':<20} {'cycles':>9}  {'warnings':<30} {'s':>5}")
        for kernel in KERNELS:
            if arguments.only not in kernel.name:
                continue
            if missing(kernel):
                print(f"{kernel.name:<32} skipped: {', '.join(missing(kernel))} not set")
                continue
            ptx = compiled(kernel, folder)
            files.setdefault(f"{kernel.project} {pathlib.Path(kernel.source).stem}", ptx)
            launch = kernel.launch(kernel)
            launch.registers = registers(ptx, launch.entry)
            result, seconds = run(simulator, ptx, str(launch), folder)
            if arguments.keep:
                (folder / "launch.toml").rename(folder / f"{kernel.name.replace(' ', '_')}.toml")
            records.append(record(kernel, ptx, launch, result, seconds))
            last = records[-1]
            print(f"{kernel.name:<32} {last['category']:<20} {last['cycles']:>9}  {' '.join(last['warnings']):<30} {seconds:>5.1f}", flush=True)
            if arguments.broken and kernel.broken:
                toml = folder / "broken.toml"
                toml.write_text(str(launch).replace('"kernel.ptx"', '"broken.ptx"'))
                said += broken_records(simulator, kernel.name, ptx, launch.entry, toml)
        run_programs(simulator, arguments, folder, records, said, mutated, files)
        if arguments.write:
            write(arguments.write, simulator, records, said, mutated, files)


if __name__ == "__main__":
    main()
