#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lays out published B200 measurements as `sm100sim accuracy --measured OUT` reads them.

  git clone https://github.com/SemiAnalysisAI/microbench-blackwell && git -C microbench-blackwell checkout 9a068d8
  git clone https://github.com/gau-nernst/learn-cuda && git -C learn-cuda checkout 1454f8b
  bench/measured.py microbench-blackwell learn-cuda OUT

Writes OUT/b200/*.csv.  Either folder may be "-": its tables are then left out (`accuracy --only` replays the others).  Nothing is
changed but the selection of rows: those that nobody has looked at while the model was fitted stay out of the tables, so that
they can judge it one day.  The two tables of the matmul_v5 timeline are derived from its events.
"""
import csv
import gzip
import json
import pathlib
import statistics
import sys

# Our name, and the table below the folder of microbench-blackwell.
AS_THEY_ARE = {
    "umma_latency.csv": "umma_latency/lat_results_full.csv",
    "umma_batch_fit.csv": "umma_latency/fit_results.csv",
    "umma_throughput_depth_sweep.csv": "umma_throughput/tput_results_full.csv",
    "umma_throughput_ts_depth1to10.csv": "umma_saturated_depth/tput_ts_small_depth.csv",
    "tma2d_latency.csv": "tma2d_latency/tma2d_lat_results.csv",
}
STREAM = "tma2d_throughput/tma2d_tput_results.csv"
MULTICAST = {run: f"tma2dmcast_throughput/tma2dmcast_sweep_{run}.csv" for run in ("full", "results")}
MAINLOOP = "cutlass_gemm_mainloop/results.csv"
TIMELINE = "02e_matmul_sm100/trace_v5.json.gz"


def find(folder, path):
    """The table below the folder, wherever the repository keeps its benchmarks."""
    found = sorted(pathlib.Path(folder).rglob(path))
    if len(found) != 1:
        sys.exit(f"{folder}: {path} is there {len(found)} times; once is needed")
    return found[0]


def read(path):
    """Header and rows; lines that begin with # are failures of the benchmark."""
    with open(path, newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return list(rows.fieldnames), list(rows)


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        table = csv.DictWriter(file, header, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    print(f"{path}: {len(rows)} rows")


def microbenchmarks(source, out):
    for name, path in AS_THEY_ARE.items():
        write(out / name, *read(find(source, path)))
    header, rows = read(find(source, STREAM))
    write(out / "tma2d_throughput_cal.csv", header, [r for r in rows if r["NumStages"] in ("1", "4")])
    header, rows = read(find(source, MAINLOOP))
    write(out / "gemm_mainloop_cal.csv", header, [r for r in rows if r["TILE_K"] in ("64", "256")])
    shared = []
    for run, path in MULTICAST.items():
        header, rows = read(find(source, path))
        shared += [dict(r, source_run=run) for r in rows if int(r["cluster_size"]) <= 2 and int(r["sharing_group"]) <= 2]
    write(out / "tma2d_multicast_cal.csv", ["source_run", *header], shared)


def timeline(source, out):
    """Per CTA and per k block, from the events of all warps; times in ns, of a CTA from its first event."""
    with gzip.open(find(source, TIMELINE)) as file:
        events = json.load(file)["traceEvents"]
    warps = {}  # (CTA, warp): {name: [(begin, end), ...]} in program order
    sms = {}
    for e in (e for e in events if e["ph"] == "X"):
        cta, warp = divmod(e["tid"] - e["pid"], 4)
        sms[cta] = e["pid"]
        warps.setdefault((cta, warp), {}).setdefault(e["name"], []).append((e["ts"], e["ts"] + e["dur"]))
    started = {cta: min(b for w in range(4) for spans in warps[cta, w].values() for b, _ in spans) for cta in sms}
    on_sm = {}
    rows, blocks = [], {"wave0": [], "waves1-3": []}
    for cta in sorted(sms, key=lambda c: (started[c], c)):
        wave = on_sm[sms[cta]] = on_sm.get(sms[cta], -1) + 1
        rows.append((cta, wave))
    table = []
    for cta, wave in sorted(rows):
        t0 = started[cta]
        load, mma = warps[cta, 0], warps[cta, 1]
        all_of = lambda name: [span for w in range(4) for span in warps[cta, w].get(name, [])]
        row = {"cta": cta, "cluster": cta // 2, "rank": cta % 2, "sm": sms[cta], "wave": wave, "t_start": t0,
               "setup_end": load["SETUP"][0][1] - t0,
               "first_tma_issue": load["ISSUE_TMA"][0][0] - t0,
               "mainloop_done": min(end for _, end in all_of("WAIT_MAINLOOP")) - t0,
               "epilogue_end_max": max(end for _, end in all_of("EPILOGUE")) - t0}
        if cta % 2 == 0:
            row.update(first_data_seen=mma["WAIT_TMA"][0][1] - t0, first_mma_issue=mma["ISSUE_MMA"][0][0] - t0,
                       first_mma_done=load["WAIT_MMA"][7][1] - t0)  # a ring of 7 stages
            blocks["wave0" if wave == 0 else "waves1-3"].append([end - t0 for _, end in load["WAIT_MMA"]])
        table.append(row)
    write(out / "b200_trace_v5_cta_timeline.csv", list(table[0]), table)
    write(out / "b200_trace_v5_per_k_median.csv", ["group", "n_clusters", "k", "wait_mma_end"],
          [{"group": group, "n_clusters": len(clusters), "k": k, "wait_mma_end": round(statistics.median(c[k] for c in clusters))}
           for group, clusters in blocks.items() for k in range(len(clusters[0]))])


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[3]) / "b200"
    out.mkdir(parents=True, exist_ok=True)
    if sys.argv[1] != "-":
        microbenchmarks(sys.argv[1], out)
    if sys.argv[2] != "-":
        timeline(sys.argv[2], out)


main()
