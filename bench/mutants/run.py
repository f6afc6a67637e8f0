#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Alters the kernels' synchronisation, one call at a time, and asks what the simulator says about each.

A mutant (list in mutants.py) is applied to a copy of its file, which is found before the original; what contains role
code is compiled again and linked with the libraries of build/release.  Scenarios run until one of them reports.
Results gather in a JSON-lines file: what is in there is not run again.

  ninja -C build/release sm100sim
  python3 bench/mutants/run.py                      # all that are missing from results.jsonl
  python3 bench/mutants/run.py --only '^mma' --again
  python3 bench/mutants/run.py --sample 20 --again --results sample.jsonl
  python3 bench/mutants/run.py --judge --table bench/mutants/results.md
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import mutants
import people
import places
import ptx
import readers
from scenarios import (BLOCKWISE_SCENARIOS, COPY_SCENARIOS, CUTLASS_SCENARIOS, DIRECT_SCENARIOS, FALLBACK_SCENARIOS,
                       MAPS_SCENARIOS, MOE_FP8_SCENARIOS, PEOPLE_SCENARIOS,
                       MOE_SCENARIOS, SCALED_SCENARIOS, SCENARIOS)

# --list: its mutants, and where their results are kept.
LISTS = {"protocol": (mutants.MUTANTS, "results.jsonl"), "people": (people.MUTANTS, "people.jsonl"),
         "ptx": (ptx.MUTANTS, "ptx.jsonl"), "places": (places.MUTANTS, "places.jsonl"),
         "readers": (readers.MUTANTS, "readers.jsonl")}
MUTANTS = mutants.MUTANTS
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MAX_CYCLES = 150_000  # the longest scenario takes a fifth of it
TIMEOUT_S = 60

# Role code is compiled alone, at every mutant: the unit that registers it for the simulator.  The barrier table is part of the
# host side too: reports are held against it.
ROLE_UNITS = {"matmul": "kernels/matmul/sim/matmul_code.cpp", "copy": "kernels/copy/sim/copy_code.cpp",
              "scaled": "kernels/block_scaled/sim/block_scaled_code.cpp",
              "cutlass": "kernels/cutlass_block_scaled/sim/cutlass_block_scaled_code.cpp",
              "blockwise": "kernels/blockwise/sim/blockwise_code.cpp",
              "moe": "kernels/grouped_1d1d/sim/grouped_1d1d_code.cpp",
              "moefp8": "kernels/grouped_1d2d/sim/grouped_1d2d_code.cpp",
              "maps": "kernels/grouped_block_scaled/sim/grouped_block_scaled_code.cpp",
              "direct": "kernels/direct/sim/direct_code.cpp",
              "hopper": "kernels/hopper_matmul/sim/hopper_matmul_code.cpp",
              "fallback": "kernels/fallback/sim/fallback_code.cpp"}
SCENARIOS_OF = {"matmul": SCENARIOS, "copy": COPY_SCENARIOS, "scaled": SCALED_SCENARIOS, "cutlass": CUTLASS_SCENARIOS, "blockwise": BLOCKWISE_SCENARIOS,
                "moe": MOE_SCENARIOS, "moefp8": MOE_FP8_SCENARIOS, "maps": MAPS_SCENARIOS,
                "direct": DIRECT_SCENARIOS, "fallback": FALLBACK_SCENARIOS}
TABLE_UNITS = {"kernels/matmul/shared_storage.h": "kernels/matmul/host/matmul_run.cpp",
               "kernels/copy/shared_storage.h": "kernels/copy/host/copy_run.cpp",
               "kernels/block_scaled/tiles.h": "kernels/block_scaled/host/block_scaled_run.cpp",
               "kernels/cutlass_block_scaled/config.h": "kernels/cutlass_block_scaled/host/cutlass_block_scaled_run.cpp",
               "kernels/cutlass_block_scaled/tiles.h": "kernels/cutlass_block_scaled/host/cutlass_block_scaled_run.cpp"}


class Build:
    """The compile and link commands of a build tree, for mutants: gcc at -O0 on what depends on a mutant alone."""

    def __init__(self, tree, scratch):
        self.tree, self.scratch = tree, scratch
        self.targets = [line.split(":")[0] for line in self._ninja("targets", "all")]
        self.link = self._ninja("commands", "sm100sim")[-1].removeprefix(": && ").removesuffix(" && :")
        self.commands = {}
        flags = self._command(ROLE_UNITS["matmul"])
        # Parsed once: the models, and for mutants elsewhere also the headers of the simulator with all that they include.
        self.parsed = []
        for name, headers in (("simulator", ("sim/kernel_code.h", "sim/sim_isa.h")), ("models", ("models/gpu.h",))):
            header = scratch / f"{name}.h"
            header.write_text("#include <fmt/format.h>\n" + "".join(f'#include "{h}"\n' for h in headers))
            if error := self._run(f"{flags} -x c++-header {header} -o {header}.gch -MD -MF {header}.d"):
                raise SystemExit(error)
            self.parsed.append((header, pathlib.Path(f"{header}.d").read_text()))

    def _command(self, source):
        """The compiler and its flags for a unit, without what names files; SystemExit if the tree does not build it."""
        if source not in self.commands:
            targets = [t for t in self.targets if t.endswith(self._unit(source).removeprefix("kernels") + ".o")]
            if not targets:
                raise SystemExit(f"{self.tree} does not build {source}")
            words = shlex.split(self._ninja("commands", targets[0])[-1])
            words = words[next(i for i, w in enumerate(words) if "ccache" not in w):words.index("-MD")]
            self.commands[source] = " ".join(words + ["-O0", "-g0", "-w"])
        return self.commands[source]

    def _unit(self, source):
        """What the tree compiles: the source, or a file that includes it with others (SM100_UNITY)."""
        if any(t.endswith(source.removeprefix("kernels") + ".o") for t in self.targets):
            return source
        units = (t.removesuffix(".o") for t in self.targets if "/Unity/unity_" in t and t.endswith(".o"))
        return next((u for u in units if f'/{source}"' in (self.tree / u).read_text()), source)

    def _file(self, source):
        unit = self._unit(source)
        return ROOT / source if unit == source else self.tree / unit

    def _ninja(self, tool, *arguments):
        out = subprocess.run(["ninja", "-C", self.tree, "-t", tool, *arguments], capture_output=True, text=True,
                             check=True)
        return [line for line in out.stdout.strip().splitlines() if not line.startswith("ninja: Entering")]

    def _run(self, command):
        done = subprocess.run(command, shell=True, cwd=self.tree, capture_output=True, text=True)
        return "" if done.returncode == 0 else done.stderr or "failed"

    def make(self, folder, mutant):
        """Compiles and links in `folder`, whose copy of the file goes before the original; an error's text, or nothing."""
        header = next((h for h, dependencies in self.parsed if mutant.file not in dependencies), None)
        included = {ROLE_UNITS[kernel_of(mutant)]: f"-include {header}" if header else ""}
        if mutant.file in TABLE_UNITS:
            included[TABLE_UNITS[mutant.file]] = ""
        objects = []
        for source, include in included.items():
            objects.append(f"{folder}/{pathlib.Path(source).stem}.o")
            # The mutant's folder comes before all others.
            compiler, flags = self._command(source).split(" ", 1)
            if error := self._run(f"{compiler} -I{folder} {flags} {include} -c {self._file(source)} -o {objects[-1]}"):
                return error
        # Before the libraries: what they have of the same unit is then not taken.
        return self._run(self.link.replace(" -o sm100sim ", f" -s -o {folder}/sm100sim {' '.join(objects)} "))


def kernel_of(mutant):
    """Whose scenarios it runs: ids begin with the kernel, those of the matmul do not."""
    return next((k for k in ROLE_UNITS if mutant.id.startswith(k + "-")), "matmul")


def why_not(mutant):
    """Why the mutant cannot be made of the sources of today; empty if it can."""
    file = ROOT / mutant.file
    if not file.is_file():
        return f"{mutant.file} is not there"
    text = file.read_text()
    for old, _ in mutant.edits:
        if text.count(old) != 1:
            return f"{mutant.file} has {text.count(old)} times: {old.strip()}"
    return ""


def mutated(mutant):
    text = (ROOT / mutant.file).read_text()
    for old, new in mutant.edits:
        text = text.replace(old, new)
    return text


def clean_scenarios(binary, scenarios):
    """Those that are there and report nothing without a mutant; says which are left out."""
    clean = []
    for s in scenarios:
        if not (ROOT / "scenarios" / s.file).is_file():
            print(f"left out: scenario \"{s.name}\": scenarios/{s.file} is not there")
            continue
        kind, errors, warnings = reports_of(run_scenario(binary, s))
        if kind == "pass":
            clean.append(s)
        else:
            print(f"left out: scenario \"{s.name}\" is not clean without a mutant: {kind} {errors} {warnings}")
    return clean


def report_line(finding):
    """What a finding says, in the words that the patterns of mutants.py look for."""
    text = f"[{finding['id']}] {finding.get('message') or finding.get('cause', '')}"
    role, at = finding.get("fault_role"), finding.get("fault_location")
    if finding.get("barrier"):
        text += f" on {finding['barrier']}[{finding.get('stage', 0)}]"
    if role or at:
        text += f" (at fault: {role or '?'} {at or ''})"
    elif finding.get("location"):
        text += f" (at {finding['location']})"
    return text


def run_scenario(binary, scenario):
    return run_file(binary, ROOT / "scenarios" / scenario.file, scenario.set)


def run_file(binary, file, settings):
    command = [str(binary), "run", str(file), "--json", "-"]
    for value in (*settings, f"run.max_cycles={MAX_CYCLES}"):
        command += ["--set", value]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return {"outcome": "timeout", "findings": [], "warnings": []}
    try:
        result = json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"outcome": f"exit {done.returncode}", "findings": [], "warnings": [],
                "stderr": done.stderr.strip()[-300:]}
    return result


def reports_of(result):
    """(kind, lines): kind is hang, finding, mismatch, warning, error, timeout or pass."""
    errors = [report_line(f) for f in result["findings"]]
    warnings = [report_line(f) for f in result["warnings"]]
    outcome = result["outcome"]
    if outcome == "hang":
        return "hang", errors, warnings
    if outcome == "mismatch":
        return "mismatch", errors or ["[mismatch]"], warnings
    if errors:
        return "finding", errors, warnings
    if outcome not in ("pass", "findings"):
        return "timeout" if outcome == "timeout" else "error", [f"[{outcome}] {result.get('stderr', '')}"], warnings
    return ("warning" if warnings else "pass"), errors, warnings


def run_ptx_mutant(binary, mutant):
    """PTX needs no compiler: its scenario runs beside the altered text."""
    with tempfile.TemporaryDirectory(prefix=mutant.id) as name:
        file = ROOT / mutant.file
        scenario = pathlib.Path(name) / f"{file.stem}.toml"
        (pathlib.Path(name) / file.name).write_text(mutated(mutant))
        scenario.write_text(file.with_suffix(".toml").read_text())
        kind, errors, warnings = reports_of(run_file(binary, scenario, ()))
        return {"id": mutant.id, "kind": "survived" if kind == "pass" else kind,
                "scenario": f"{file.parent.name}/{file.stem}", "lines": errors[:4], "warnings": warnings[:4]}


def run_mutant(build, mutant, scenarios):
    with tempfile.TemporaryDirectory(dir=build.scratch, prefix=mutant.id) as name:
        folder = pathlib.Path(name)
        target = folder / mutant.file
        target.parent.mkdir(parents=True)
        target.write_text(mutated(mutant))
        if error := build.make(folder, mutant):
            return {"id": mutant.id, "kind": "does not compile", "scenario": "", "lines": [error[:600]]}
        for scenario in mutant.scenarios or scenarios[kernel_of(mutant)]:
            kind, errors, warnings = reports_of(run_scenario(folder / "sm100sim", scenario))
            if kind != "pass":
                return {"id": mutant.id, "kind": kind, "scenario": scenario.name, "lines": errors[:4],
                        "warnings": warnings[:4]}
        return {"id": mutant.id, "kind": "survived", "scenario": "", "lines": [], "warnings": []}


def blamed(line):
    """Of a cycle of waits only the first, which the report blames: all others are in there by necessity."""
    head, cycle, waits = line.partition("wait for each other: ")
    return head + cycle + " -> ".join(waits.split(" -> ")[:3]) if cycle else line


def judgement(mutant, result):
    """right | right by a warning | wrong | no cause | survived | equivalent, against the patterns of today."""
    if result["kind"] == "does not compile":
        return "does not compile"
    if result["kind"] == "survived":
        return "equivalent" if mutant.equivalent else "survived"
    lines = {"error": result["lines"], "warning": result.get("warnings", [])}
    lines = {severity: [blamed(line) for line in of_severity] for severity, of_severity in lines.items()}
    if any(re.search(p, lines["error"][0]) for p in mutant.expect if lines["error"]):
        return "right"
    if any(re.search(p, line) for p in mutant.expect for line in lines["warning"]):
        return "right by a warning"
    return "no cause" if result["kind"] in ("mismatch", "timeout", "error") else "wrong"


def summary(results):
    judged = {m.id: judgement(m, results[m.id]) for m in MUTANTS if m.id in results}
    count = lambda *names: sum(j in names for j in judged.values())
    caught = [m for m in MUTANTS if m.id in judged and results[m.id]["kind"] not in ("survived", "does not compile")]
    kinds = {}
    for m in caught:
        kinds[results[m.id]["kind"]] = kinds.get(results[m.id]["kind"], 0) + 1
    right = count("right", "right by a warning")
    lines = [f"mutants              {len(judged)}",
             f"caught               {len(caught)}  ({', '.join(f'{k} {n}' for k, n in sorted(kinds.items()))})",
             f"  with a cause       {len(caught) - count('no cause')}",
             f"  the right cause    {right}  ({100 * right / max(1, len(caught)):.0f} % of the caught; "
             f"{count('right by a warning')} of them by a warning)",
             f"equivalent           {count('equivalent')}",
             f"survivors            {count('survived')}"]
    if bad := count("does not compile"):
        lines.append(f"do not compile       {bad}")
    for title, names in (("wrong or no cause", ("wrong", "no cause")), ("survivors", ("survived",)),
                         ("do not compile", ("does not compile",))):
        listed = [m for m in MUTANTS if judged.get(m.id) in names]
        if listed:
            lines.append(f"\n{title}:")
        for m in listed:
            r = results[m.id]
            said = (r["lines"] + r.get("warnings", []) + [""])[0]
            lines.append(f"  {m.id}: {m.what}" + (f"\n      {r['scenario']}: {said}" if said else ""))
    return "\n".join(lines)


def table(results):
    rows = ["# Mutants and what the simulator said", "",
            "Written by `run.py --table`; the list is `mutants.py`, what the columns mean is in `README.md`.", "",
            "```", summary(results).split("\n\n")[0], "```", ""]
    file = None
    for m in MUTANTS:
        if m.id not in results:
            continue
        if m.file != file:
            file = m.file
            rows += ["", f"## {file}", "", "| mutant | what | caught as | in | cause named | first report |",
                     "|---|---|---|---|---|---|"]
        r = results[m.id]
        j = judgement(m, r)
        said = (r["lines"] + r.get("warnings", []) + [""])[0]
        said = said if len(said) <= 160 else said[:157] + "..."
        note = m.equivalent or m.survives
        said = said or note
        cells = [m.id, m.what, r["kind"] if r["kind"] != "survived" else "-", r["scenario"] or "-",
                 j, said]
        rows.append("| " + " | ".join(c.replace("|", "\\|").replace("\n", " ") for c in cells) + " |")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", choices=LISTS, default="protocol", help="protocol: calls left out, doubled or altered; "
                        "people: wrong bounds, coordinates, descriptors; ptx: the same in the text of PTX; places: "
                        "people's again, each with a scenario of its own")
    parser.add_argument("--only", default="", help="mutants whose id matches this regular expression")
    parser.add_argument("--sample", type=int, help="this many of the list at most, evenly spread")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at the same time")
    parser.add_argument("--again", action="store_true", help="also those that have a result")
    parser.add_argument("--judge", action="store_true", help="run nothing: judge the results against the patterns")
    parser.add_argument("--texts", action="store_true", help="run nothing: fail if a text of any list is not in its file once")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="a build tree of Ninja")
    parser.add_argument("--results", type=pathlib.Path, help="default: the list's own")
    parser.add_argument("--table", type=pathlib.Path, help="write the table as Markdown")
    args = parser.parse_args()
    if args.texts:
        stale = [f"{m.id}: {why}" for all_of, _ in LISTS.values() for m in all_of if (why := why_not(m))]
        print("\n".join(stale))
        return int(bool(stale))
    args.build = args.build.resolve()
    global MUTANTS
    MUTANTS, results_file = LISTS[args.list]
    args.results = args.results or HERE / results_file
    if args.list == "people":
        SCENARIOS_OF["matmul"] = PEOPLE_SCENARIOS

    ids = [m.id for m in MUTANTS]
    assert len(ids) == len(set(ids)), "ids are unique"
    left_out = {m.id: why for m in MUTANTS if (why := why_not(m))}
    for left, why in left_out.items():
        print(f"left out: mutant {left}: {why}")
    results = {}
    if args.results.exists():
        for line in args.results.read_text().splitlines():
            result = json.loads(line)
            if result["kind"] != "does not compile":
                results[result["id"]] = result
    chosen = [m for m in MUTANTS if re.search(args.only, m.id) and m.id not in left_out]
    if args.sample and len(chosen) > args.sample:
        chosen = [chosen[i * len(chosen) // args.sample] for i in range(args.sample)]
    chosen = [m for m in chosen if args.again or m.id not in results]

    if not args.judge and chosen:
        if not (args.build / "sm100sim").is_file():
            raise SystemExit(f"{args.build / 'sm100sim'} is not there: ninja -C {args.build} sm100sim")
        in_ptx = args.list == "ptx"
        kernels = set() if in_ptx else {kernel_of(m) for m in chosen}
        scenarios = {kernel: clean_scenarios(args.build / "sm100sim", of_kernel)
                     for kernel, of_kernel in SCENARIOS_OF.items() if kernel in kernels}
        with tempfile.TemporaryDirectory(prefix="mutants") as name:
            build = None if in_ptx else Build(args.build, pathlib.Path(name))
            run = lambda m: run_ptx_mutant(args.build / "sm100sim", m) if in_ptx else run_mutant(build, m, scenarios)
            with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
                for result in pool.map(run, chosen):
                    results[result["id"]] = result
                    with args.results.open("a") as out:
                        out.write(json.dumps(result) + "\n")
                    print(result["id"], result["kind"], result["scenario"], result["lines"][:1], flush=True)
        # One line for each mutant of the list, in its order.
        args.results.write_text("".join(json.dumps(results[i]) + "\n" for i in ids if i in results))
    if args.table:
        args.table.write_text(table(results))
    print(summary(results))


if __name__ == "__main__":
    sys.exit(main())
