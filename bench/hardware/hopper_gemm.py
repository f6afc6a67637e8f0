#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hopper_matmul on this machine's GPU: every compiled configuration checked, timed beside cuBLAS, and recorded.

usage: hopper_gemm.py SM100_RUN OUT [--sizes 2048,4096,8192] [--trace-size 2048] [--repeat 20]

Writes OUT/NAME_SIZE.json, and OUT/NAME.pftrace of one recorded launch of --trace-size.  A line for each run.
"""
import argparse
import json
import pathlib
import subprocess
import sys

SCENARIOS = pathlib.Path(__file__).resolve().parents[2] / "scenarios" / "hopper"

# name: scenario, what is set
CONFIGURATIONS = {
    "128x128": ("cooperative", []),
    "128x128_c2": ("cooperative", ["config.cluster=2"]),
    "128x256": ("cooperative_cluster", ["config.cluster=1"]),
    "128x256_c2": ("cooperative_cluster", []),
    "pingpong_64x128": ("pingpong", []),
    "pingpong_64x256": ("pingpong_cluster", ["config.cluster=1"]),
    "pingpong_64x256_c2": ("pingpong_cluster", []),
    "pingpong_64x64_c4": ("ragged", ["config.stages=13"]),
    "f32_128x32": ("f32", ["config.stages=9"]),
    "e4m3_128x128": ("fp8", []),
    "e4m3_128x256_c2": ("fp8", ["config.cluster=2", "config.block_n=256"]),
    "e4m3_pingpong_64x128_c2": ("fp8_pingpong", []),
}


def settings(name: str, size: tuple[int, int, int] | None) -> list[str]:
    sets = list(CONFIGURATIONS[name][1])
    if size:
        sets += [f"problem.{key}={value}" for key, value in zip("mnk", size)] + ["run.sms=132"]
    return [argument for value in sets for argument in ("--set", value)]


def shape(text: str) -> tuple[int, int, int]:
    numbers = [int(number) for number in text.split("x")]
    return tuple(numbers * 3 if len(numbers) == 1 else numbers)  # type: ignore[return-value]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sizes", default="2048,4096,8192", help="N or MxNxK, with commas between")
    parser.add_argument("--trace-size", default="2048", help="0: none")
    parser.add_argument("--repeat", default="20")
    parser.add_argument("--only", default="", help="a part of the names")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    failed = 0

    def run(name: str, label: str, size: tuple[int, int, int] | None, extra: list[str]) -> None:
        nonlocal failed
        scenario, _ = CONFIGURATIONS[name]
        result = args.out / f"{name}_{label}.json"
        command = [args.run, str(SCENARIOS / f"{scenario}.toml"), *settings(name, size), "--repeat", args.repeat,
                   "--json", str(result), *extra]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode:
            failed += 1
            print(f"{name} {label}: exit code {done.returncode}: {done.stdout}{done.stderr}", flush=True)
            return
        r = json.loads(result.read_text())
        line = (f"{name:24} {label:>14} {r['microseconds']:9.2f} us {r['tflops']:7.1f} TFLOPS at {r['timed_clock_ghz']:.3f} GHz,"
                f" back to back {r['back_to_back_microseconds']:9.2f} us at {r['back_to_back_clock_ghz']:.3f} GHz,"
                f" error {r['relative_error']:.1e}")
        if r["cublas_microseconds"]:
            line += (f", cuBLAS {r['cublas_microseconds']:.2f} at {r['cublas_clock_ghz']:.3f}, back to back"
                     f" {r['cublas_back_to_back_microseconds']:.2f} at {r['cublas_back_to_back_clock_ghz']:.3f}")
        if r["events_of_a_warp"]:
            line += f", traced {r['traced_microseconds']:.2f} us, {r['cycles_per_event']:.0f} cycles an event"
        print(line, flush=True)

    names = [name for name in CONFIGURATIONS if args.only in name]
    for name in names:
        run(name, "scenario", None, ["--trace", str(args.out / f"{name}_scenario.pftrace")])
        if args.trace_size != "0":
            run(name, args.trace_size, shape(args.trace_size), ["--trace", str(args.out / f"{name}.pftrace")])
    for size in filter(None, args.sizes.split(",")):
        for name in names:
            if name.startswith("e4m3") and max(shape(size)) > 4096:
                continue  # the reference of FP8 is the host's
            run(name, size, shape(size), [] if name.startswith("e4m3") else ["--cublas"])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
