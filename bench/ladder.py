#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Published ladders of GEMM kernels beside what the simulator predicts: throughput, and the ratio of each step to the one before.

  bench/ladder.py [--clock GHZ|power] [PROGRAM]

scenarios/ladder/ has a scenario per step; its description says what its source states and what is assumed.  Nothing is fitted to
these figures.  The clocks of the published runs are unknown.  With one clock for all, only ratios are compared; the default is what
the measured timeline of gau-nernst's v5 implies.  With `power` each kernel gets the clock that the chip would hold (docs/clock.md), and
throughput is compared, too.  Sources: gau-nernst, https://gau-nernst.github.io/tcgen05; ThunderKittens,
kernels/gemm/educational_b200; JAX, docs/pallas/gpu/blackwell_matmul.md; Modular, "Matrix Multiplication on Blackwell"
and the design notes of Mojo's structured kernel.  Left out, as our kernels cannot: Modular's kernels 2 (no swizzle), 4 (TMA
store) and 5 (pairs) of one stage, and ThunderKittens' full kernel, which multiplies two tiles per pair.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Scenario and published TFLOPS, step by step.
LADDERS = {
    "gau-nernst, 4096^3": [("gau_nernst_v1a", 255.73), ("gau_nernst_v1b", 254.37), ("gau_nernst_v2a", 699.39),
                           ("gau_nernst_v2b", 721.02), ("gau_nernst_v3", 914.42), ("gau_nernst_v4", 1053.61),
                           ("gau_nernst_v5", 1169.65), ("gau_nernst_v6", 1273.32), ("gau_nernst_v7a", 1293.38),
                           ("gau_nernst_v7b", 1316.16)],
    "gau-nernst v7a, 2048^3 to 8192^3": [("gau_nernst_v7a_2048", 930.34), ("gau_nernst_v7a", 1293.38),
                                         ("gau_nernst_v7a_8192", 1283.26)],
    "gau-nernst v7b, 2048^3 to 8192^3": [("gau_nernst_v7b_2048", 930.19), ("gau_nernst_v7b", 1316.16),
                                         ("gau_nernst_v7b_8192", 1238.74)],
    "ThunderKittens, 4096^3": [("thunderkittens_serial", 293), ("thunderkittens_specialised", 731),
                               ("thunderkittens_epilogue", 1050), ("thunderkittens_pairs", 1285)],
    "Pallas, 4096 x 8192 x 4096": [("pallas_0_basic", 846), ("pallas_1_specialised", 1023),
                                   ("pallas_2_tiled_epilogue", 1256), ("pallas_3_pairs", 1337),
                                   ("pallas_4_persistent", 1383), ("pallas_5_epilogue_warps", 1426),
                                   ("pallas_6_grid_tiling", 1562)],
    "Modular, 4096^3": [("modular_3", 288.3), ("modular_6", 1429), ("modular_7", 1493), ("modular_8", 1772.9)],
    "Mojo's structured kernel, 8192^3": [("matmul_8192", 1746)],
}


def predicted(program, scenario, clock):
    """TFLOPS of a run."""
    command = [program, "run", ROOT / "scenarios/ladder" / f"{scenario}.toml", "--json", "-",
               "--set", f"run.sm_clock_ghz={clock}" if clock != "power" else 'run.sm_clock_ghz="power"']
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr or done.stdout)
    return json.loads(done.stdout)["tflops"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clock", default="1.55", help="SM clock in GHz, or power")
    parser.add_argument("program", nargs="?", default=ROOT / "build/release/sm100sim")
    arguments = parser.parse_args()
    errors, off = [], []
    for title, steps in LADDERS.items():
        print(f"{title:<32} {'published':>10} {'predicted':>10} {'step':>7} {'predicted':>10} {'error':>8}")
        before = None
        for scenario, published in steps:
            simulated = predicted(arguments.program, scenario, arguments.clock)
            line = f"  {scenario:<30} {published:>10.1f} {simulated:>10.1f}"
            off.append(abs(simulated / published - 1))
            if before:
                step, simulated_step = published / before[0], simulated / before[1]
                errors.append(abs(simulated_step / step - 1))
                line += f" {step:>7.3f} {simulated_step:>10.3f} {100 * (simulated_step / step - 1):>+7.1f}%"
            print(line, flush=True)
            before = published, simulated
        print()
    clock = "the clock that the chip holds" if arguments.clock == "power" else f"{arguments.clock} GHz"
    if arguments.clock == "power":
        print(f"throughput of {len(off)} kernels: mean error {100 * sum(off) / len(off):.1f} %, largest {100 * max(off):.1f} %")
    print(f"ratios of {len(errors)} steps at {clock}: mean error {100 * sum(errors) / len(errors):.1f} %, "
          f"largest {100 * max(errors):.1f} %")


if __name__ == "__main__":
    main()
