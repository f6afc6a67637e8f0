#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/pictures/tail.svg: what every SM works on under the static scheduler and under CLC.

    for s in static clc; do
      sm100sim run scenarios/tail/$s.toml --data none --trace $s.pftrace
      sm100sim export $s.pftrace --format chrome-json -o $s.json
    done
    docs/pictures/tail.py static.json clc.json docs/pictures/tail.svg

Needs matplotlib (Debian: python3-matplotlib).  A bar is a tile's time in the MMA warp, from the work it has got to its
last commit; the thin bar behind it lasts until the epilogue has stored the tile.
"""
import io
import json
import math
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402

# Okabe and Ito's palette: safe for colour-blind eyes, and apart in grey.
FIRST, SECOND, HELD, END = "#56b4e9", "#d55e00", "#e3e3e3", "#000000"


def read(path):
    """Tiles as (sm, number on its SM, mma begin, mma end, epilogue end); (sm, begin) of the CTAs that hold one, which start
    with the first of the others; the configuration."""
    with open(path) as file:
        document = json.load(file)
    sm, held, role, mma, stored, start = {}, [], {}, {}, {}, math.inf
    events = document["traceEvents"]
    for e in events:
        if e["ph"] == "M" and e["name"] == "process_name":
            place = re.match(r"CTA \d+ \((\w+)\) on SM (\d+)", e["args"]["name"])
            if place:
                sm[e["pid"]] = int(place[2])
                if place[1] == "other":
                    held.append(int(place[2]))
        elif e["ph"] == "M" and e["name"] == "thread_name":
            role[e["pid"], e["tid"]] = e["args"]["name"].removeprefix("gemm.")
    for e in events:
        if e["ph"] == "X" and e["name"] == "setup":
            start = min(start, e["ts"])
        if e["ph"] != "X" or e["name"] != "tile" or "tile_m" not in e["args"]:
            continue
        tile = (e["args"]["tile_m"], e["args"]["tile_n"])
        who, begin, end = role[e["pid"], e["tid"]], e["ts"], e["ts"] + e["dur"]
        if who == "mma":
            mma[tile] = (sm[e["pid"]], begin, end)
        elif who == "epilogue":
            stored[tile] = max(stored.get(tile, 0), end)
    tiles, on_sm = [], {}
    for tile, (place, begin, end) in sorted(mma.items(), key=lambda item: item[1][1]):
        on_sm[place] = on_sm.get(place, 0) + 1
        tiles.append((place, on_sm[place], begin, end, stored[tile]))
    return tiles, [(place, start) for place in held], document["otherData"]["configuration"]


def draw(axes, tiles, held, configuration, title):
    sms, length = configuration["sms"], configuration["other.microseconds"]
    for place, number, begin, end, stored in tiles:
        colour = FIRST if number == 1 else SECOND
        axes.barh(place, stored - begin, left=begin, height=0.5, color=colour, alpha=0.6, linewidth=0)
        axes.barh(place, end - begin, left=begin, height=1.0, color=colour, linewidth=0)
    for place, begin in held:
        axes.barh(place, length, left=begin, height=1.0, color=HELD, linewidth=0)
    axes.text(held[0][1] + 0.15, sum(place for place, _ in held) / len(held), "held by another kernel", va="center", fontsize=9)
    last = max(tile[4] for tile in tiles)
    axes.axvline(last, color=END, linewidth=1)
    axes.text(last + 0.1, sms * 0.12, f"last tile stored:\n{last:.1f} µs", va="center", fontsize=9)
    axes.set_ylim(sms - 0.5, -0.5)
    axes.set_ylabel("SM")
    axes.set_title(title, loc="left", fontsize=11)


def main():
    static, clc = read(sys.argv[1]), read(sys.argv[2])
    plt.rcParams.update({"svg.hashsalt": "tail", "font.family": "DejaVu Sans", "font.size": 10})
    figure, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=(10, 7.6))
    figure.subplots_adjust(left=0.06, right=0.985, top=0.955, bottom=0.12, hspace=0.14)
    draw(top, *static, "Static scheduler: one CTA per SM of the device; 16 of them find no SM and keep their tile until one is free")
    draw(bottom, *clc, "Cluster launch control: the CTAs that run take over every tile that waits")
    bottom.set_xlabel("µs since the launch")
    bottom.set_xlim(0, max(tile[4] for tile in static[0] + clc[0]) + 2.0)
    figure.legend(
        handles=[
            Patch(color=FIRST, label="first tile of an SM"),
            Patch(color=SECOND, label="second tile"),
            Patch(color="#888888", alpha=0.6, label="thin: until the tile is stored"),
            Patch(color=HELD, label="SM not available"),
        ],
        loc="lower center",
        ncol=4,
        frameon=False,
    )
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    with open(sys.argv[3], "w", encoding="utf-8") as file:
        file.writelines(line.rstrip() + "\n" for line in text.getvalue().splitlines())


main()
