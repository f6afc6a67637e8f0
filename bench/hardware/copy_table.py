#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/accuracy-h200.md, section 1: scenarios/copy simulated, against what copy_traces.sh has recorded.

  bench/hardware/copy_table.py SM100SIM RECORDED

RECORDED is the folder that copy_traces.sh wrote on the GPU: a trace and a JSON result of each scenario.  Each runs twice
here, with the recorder's costs (periods and spans) and without (the time of a launch; on the GPU from one launch to the
next, but of cold input, alone).
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

SCENARIOS = pathlib.Path(__file__).resolve().parents[2] / "scenarios" / "copy"
GRID_GAP_US = 1.8  # from a grid's end to the next one's first instruction (models/profiles/h200.toml, launch.grid_gap_ns)
FITTED = {"chip_hbm", "four_stages", "narrow", "narrowest"}  # a constant of the profile was chosen with them in view


def simulate(sm100sim, scenario, json_file, trace=None):
    extra = ["--set", "run.recorder=true", "--trace", trace] if trace else []
    subprocess.run([sm100sim, "run", scenario, "--data", "none", "--json", json_file, *extra], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads(json_file.read_text())


def row(sm100sim, scenario, recorded, scratch):
    name = scenario.stem
    hardware = json.loads((recorded / f"{name}.json").read_text())
    trace = scratch / f"{name}.pftrace"
    simulate(sm100sim, scenario, scratch / "traced.json", trace)
    untraced = simulate(sm100sim, scenario, scratch / "untraced.json")
    diff = json.loads(subprocess.run([sm100sim, "diff", trace, recorded / f"{name}.pftrace", "--json", "-"],
                                     capture_output=True, text=True).stdout)
    hardware_time = "microseconds" if name.endswith("_cold") else "back_to_back_microseconds"
    period = next(p for p in diff["periods"] if p["role"] == "load")
    return {"name": name, "same": diff["verdict"] == "identical", "events": diff["events_compared"],
            "period_sim": period["mean_a_ns"], "period_hw": period["mean_b_ns"],
            "period": period["mean_a_ns"] / period["mean_b_ns"], "scale": 1 / diff["clock"]["scale"],
            "whole": diff["span_a_ns"] / diff["span_b_ns"],
            "untraced_sim": untraced["microseconds"], "untraced_hw": hardware[hardware_time],
            "untraced": untraced["microseconds"] / (hardware[hardware_time] - GRID_GAP_US), "recording": hardware["cycles_per_event"]}


def summary(rows, key):
    errors = {r["name"]: 100 * abs(r[key] - 1) for r in rows}
    worst = max(errors, key=errors.get)
    return f"mean {statistics.mean(errors.values()):.1f} %, largest {errors[worst]:.1f} % (`{worst}`)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sm100sim", type=pathlib.Path)
    parser.add_argument("recorded", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        rows = [row(args.sm100sim.resolve(), scenario, args.recorded, pathlib.Path(scratch))
                for scenario in sorted(SCENARIOS.glob("*.toml")) if (args.recorded / f"{scenario.stem}.json").exists()]
    print("| scenario | | events | period sim | period H200 | sim / H200 | scale | whole | untraced sim | H200 | recording |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for r in rows:
        print(f"| `{r['name']}` | {'fitted' if r['name'] in FITTED else 'predicted'} | {r['events']} | {r['period_sim']:.0f} | "
              f"{r['period_hw']:.0f} | {r['period']:.3f} | {r['scale']:.3f} | {r['whole']:.3f} | {r['untraced_sim']:.1f} | "
              f"{r['untraced_hw']:.1f} | {r['recording']:.0f} |")
    different = [r["name"] for r in rows if not r["same"]]
    print(f"\nStructure: {len(rows) - len(different)} of {len(rows)} the same" + (f"; not {', '.join(different)}" if different else ""))
    predicted = [r for r in rows if r["name"] not in FITTED]
    within = sum(abs(r["period"] - 1) <= 0.05 for r in rows)
    print(f"Periods: {summary(rows, 'period')}; {within} of {len(rows)} within 5 %.  "
          f"The {len(predicted)} predicted: {summary(predicted, 'period')}")
    near = sum(abs(r["untraced"] - 1) <= 0.05 for r in rows)
    print(f"Untraced, less {GRID_GAP_US} us between grids: {summary(rows, 'untraced')}; {near} of {len(rows)} within 5 %")
    print(f"Scale: {summary(rows, 'scale')}.  Whole: {summary(rows, 'whole')}")


if __name__ == "__main__":
    main()
