#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CUTLASS's unit tests for SM100 under `sm100sim exec`, judged by their own assertions.

  bench/third_party/unit.py --sim build/ci/sm100sim --programs DIR [--jobs N] [--limit SECONDS] [--sms N]
                            [--only SUBSTRING] [--write docs] [--merge] [--at TEXT]

DIR holds one program for each file of test/unit/gemm/device that was compiled, for example
  nvcc -std=c++17 -O1 --expt-relaxed-constexpr -DNDEBUG -DCUTLASS_ARCH_MMA_SM100_SUPPORTED=1 -I include -I tools/util/include
       -I test/unit/common -gencode arch=compute_100a,code=compute_100a -cudart shared
       FILE.cu test/unit/test_unit.cpp test/unit/common/filter_architecture.cpp -lgtest -o DIR/NAME
Each test of a program runs in a process of its own.  --write makes cutlass-unit.md and cutlass-unit.json; with --merge
the rows of programs that are not in DIR stay what they were there.  TEXT says at which commits of sm100sim, for the page.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

REVISION = "7107b055"  # of github.com/NVIDIA/cutlass
PASSED = "passed"


def tests_of(args, program):
    """Names of a program's tests, as gtest filters."""
    said = subprocess.run([args.sim, "exec", "--sms", str(args.sms), str(program), "--gtest_list_tests"],
                          capture_output=True, text=True).stdout
    suite, names = "", []
    for line in said.splitlines():
        if re.fullmatch(r"[\w/]+\.", line):
            suite = line
        elif line.startswith("  ") and suite:
            names.append(suite + line.split("#")[0].strip())
    return names


def category(code, said, launches):
    """What came of a test, in words that lead nobody to take more for passed than has passed."""
    if "no kernel was launched" in said:
        return "launches nothing", ""
    refused = re.search(r"not implemented: [^\n]*|is not supported[^\n]*", said)
    if code == 0 and re.search(r"\[  PASSED  \] 1 test", said):
        return (PASSED, "") if launches else ("nothing launched", "")
    if code == 3:
        return "hang", first(said, r"HANG[^\n]*")
    if code == 4:
        return "finding", first(said, r"FINDING[^\n]*")
    if refused:
        return "refused", refused.group(0)
    if "[  FAILED  ]" in said:
        return "failed", first(said, r"SM4: [^\n]*") or first(said, r"[^\n]*Failure\n[^\n]*")
    return "error", said.strip().splitlines()[-1] if said.strip() else ""


def first(text, pattern):
    found = re.search(pattern, text)
    return " ".join(found.group(0).split())[:200] if found else ""


def run_test(args, program, test):
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "run.json"
        begin = time.monotonic()
        try:
            # In a session of its own, so that the program and the workers end with it.
            running = subprocess.Popen([args.sim, "exec", "--sms", str(args.sms), "--json", str(report), str(program), "--gtest_filter=" + test],
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
            said, _ = running.communicate(timeout=args.limit)
            code = running.returncode
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
            code, said = -1, ""
        row = {"program": program.name, "test": test, "seconds": round(time.monotonic() - begin, 1), "launches": 0, "kernels": 0,
               "verdicts": {}, "warnings": [], "category": "time limit", "detail": f"more than {args.limit} s"}
        if report.exists():
            launches = json.loads(report.read_text()).get("launches", [])
            row["launches"] = len(launches)
            runs = [x.get("result", {}) for x in launches]
            row["verdicts"] = dict(collections.Counter(run["verdict"] for run in runs if "verdict" in run))
            row["warnings"] = sorted({w["id"] for run in runs for w in run.get("warnings", [])})
        if code >= 0:
            row["category"], row["detail"] = category(code, said, row["launches"])
    return row


def page(rows, args):
    count = collections.Counter(r["category"] for r in rows)
    warnings = collections.Counter(w for r in rows for w in r["warnings"] or [])
    lines = ["# CUTLASS's unit tests", "",
             f"Tests of [CUTLASS](https://github.com/NVIDIA/cutlass/tree/{REVISION}/test/unit/gemm/device) at `{REVISION}`, unchanged, built "
             "with `-cudart shared` and PTX only, run by `sm100sim exec` "
             f"(`--sms {args.sms}`) and judged by their own assertions.  Written by `bench/third_party/unit.py`, run {args.at}; no B200 took part.", "",
             "A test that fails with SM4 multiplies zeros by bytes of shared memory that it has not loaded: NaN here, finite on a "
             "device as far as an earlier kernel has left finite numbers there.", "",
             f"{len(rows)} tests, {sum(r['launches'] for r in rows):,} launches: "
             + ", ".join(f"{n} {name}" for name, n in count.most_common()) + ".", "",
             *([] if any(r["warnings"] is None for r in rows) else
               ["Warnings: " + (", ".join(f"{w} in {n}" for w, n in warnings.most_common()) or "none") + ".", ""]),
             "| program | tests | passed | launches | seconds | the rest |", "|---|---|---|---|---|---|"]
    for program in sorted({r["program"] for r in rows}):
        own = [r for r in rows if r["program"] == program]
        rest = collections.Counter(r["category"] + (": " + r["detail"] if r["detail"] else "") for r in own if r["category"] != PASSED)
        lines.append(f"| {program} | {len(own)} | {sum(r['category'] == PASSED for r in own)} | {sum(r['launches'] for r in own):,} | "
                     f"{sum(r['seconds'] for r in own):.0f} | " + "; ".join(f"{n} × {text}" for text, n in rest.items()) + " |")
    return "\n".join(lines) + "\n"


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("--sim", required=True)
    parse.add_argument("--programs", default=os.environ.get("SM100_CUTLASS_UNIT"))
    parse.add_argument("--jobs", type=int, default=1)
    parse.add_argument("--limit", type=int, default=300, help="seconds for a test")
    parse.add_argument("--sms", type=int, default=16, help="clusters of 16 CTAs need as many")
    parse.add_argument("--only", default="")
    parse.add_argument("--write", type=pathlib.Path)
    parse.add_argument("--merge", action="store_true")
    parse.add_argument("--at", default="", help="for example: at commit `1a2b3c4`")
    args = parse.parse_args()
    if not args.programs or not pathlib.Path(args.programs).is_dir():
        print("skipped: --programs or SM100_CUTLASS_UNIT names no folder of programs")
        return
    programs = [p for p in sorted(pathlib.Path(args.programs).resolve().iterdir())
                if os.access(p, os.X_OK) and p.is_file() and ".so" not in p.name and args.only in p.name]
    rows = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        todo = [pool.submit(run_test, args, p, t) for p, names in zip(programs, pool.map(lambda p: tests_of(args, p), programs)) for t in names]
        for done in concurrent.futures.as_completed(todo):
            row = done.result()
            rows.append(row)
            print(f"{len(rows)}/{len(todo)} {row['category']:10} {row['seconds']:6.1f} s {row['launches']:4} launches  {row['program']} "
                  f"{row['test']}  {row['detail']}", flush=True)
    print(collections.Counter(r["category"] for r in rows))
    if args.write:
        written = args.write / "cutlass-unit.json"
        if args.merge and written.exists():
            again = {r["program"] for r in rows}
            rows += [r for r in json.loads(written.read_text())["tests"] if r["program"] not in again]
        rows.sort(key=lambda r: (r["program"], r["test"]))
        (args.write / "cutlass-unit.json").write_text(json.dumps({"source": "https://github.com/NVIDIA/cutlass", "revision": REVISION,
                                                                 "sms": args.sms, "tests": rows}, indent=1) + "\n")
        (args.write / "cutlass-unit.md").write_text(page(rows, args))


if __name__ == "__main__":
    main()
