# SPDX-License-Identifier: Apache-2.0
"""The commands of sm100sim as functions.  Results are the program's own JSON (docs/json.md) as dicts."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from ._process import Finished, InputError, InternalError, Progress, call, program
from ._trace import Trace, read_trace

__all__ = [
    "Exploration", "InputError", "InternalError", "Result", "check", "diff", "explain", "explain_config", "explore", "ledger",
    "lists", "program", "run", "stats", "sweep", "version",
]  # fmt: skip

FileName = Union[str, "os.PathLike[str]"]
Values = Mapping[str, Any]


def toml_value(value: Any) -> str:
    """A Python value as TOML writes it in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(k))} = {toml_value(v)}" for k, v in value.items()) + "}"
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        return toml_value(value.tolist())
    if isinstance(value, Iterable):
        return "[" + ", ".join(toml_value(v) for v in value) + "]"
    raise InputError(f"{value!r}: no value of a scenario; allowed are bool, int, float, str, sequences and mappings of them")


def _sets(values: Optional[Values]) -> list[str]:
    return [word for key, value in (values or {}).items() for word in ("--set", f"{key}={toml_value(value)}")]


def _option(name: str, value: Any) -> list[str]:
    return [] if value is None else [name, str(value)]


class Result(dict):  # type: ignore[type-arg]
    """What a run came to: the keys of docs/json.md, `report`, and `trace` if it was asked for."""

    #: What the program prints for people.
    report: str = ""
    #: The timeline, or None if it was not asked for.
    trace: Optional[Trace] = None

    @property
    def clean(self) -> bool:
        """Everything was looked at, and nothing was found."""
        return bool(self["verdict"] == "clean")

    def __repr__(self) -> str:
        return f"<sm100sim.Result {self['outcome']}, {self['verdict']}: {self['cycles']:,} cycles>"


class Exploration(dict):  # type: ignore[type-arg]
    """What a search for a schedule that breaks a scenario came to: the keys of docs/json.md, and `report`."""

    report: str = ""
    #: The scenario that replays the failure, as text; empty if nothing was found.
    replay: str = ""


def _with_json(arguments: Sequence[str], accept: Sequence[int], progress: Optional[Progress] = None) -> tuple[Any, Finished]:
    """The document that a command writes with --json, and what it prints."""
    with tempfile.TemporaryDirectory(prefix="sm100sim-") as folder:
        file = Path(folder) / "result.json"
        finished = call([*arguments, "--json", str(file)], progress, accept)
        return json.loads(file.read_text()), finished


def run(
    scenario: FileName,
    values: Optional[Values] = None,
    *,
    trace: Union[bool, FileName] = False,
    data: Optional[str] = None,
    jitter: Optional[int] = None,
    numerics: Optional[str] = None,
    provenance: Optional[str] = None,
    trace_sms: Optional[str] = None,
    trace_window: Optional[str] = None,
    progress: Optional[Progress] = None,
) -> Result:
    """Simulates a scenario: a file, or a name of `sm100sim list scenarios`.

    values        replaces values of it: {"config.stages": 2, "problem.m": 4096}
    trace         True: the result has the timeline; a file name: it stays in that file, too
    data          "full" or "none" (protocol and timing only)
    jitter        perturbs asynchronous latencies, a seed
    progress      is called with a fraction and a text, about once a second

    A hang, a hazard or a wrong result is no exception: see `outcome`, `verdict`, `findings` and `report`.
    Raises InputError if the scenario or a value is refused.
    """
    # Kept as long as the trace, so that diff() and stats() can read it.
    kept = tempfile.TemporaryDirectory(prefix="sm100sim-") if trace is True else None
    file: Optional[str] = None
    if kept is not None:
        file = os.path.join(kept.name, "run.pftrace")
    elif not isinstance(trace, bool):
        file = os.fspath(trace)
    arguments = ["run", os.fspath(scenario), *_sets(values)]
    for name, value in (
        ("--data", data), ("--jitter", jitter), ("--numerics", numerics), ("--provenance", provenance),
        ("--trace", file), ("--trace-sms", trace_sms), ("--trace-window", trace_window),
    ):  # fmt: skip
        arguments += _option(name, value)
    document, finished = _with_json(arguments, (0, 1, 3, 4), progress)
    result = Result(document)
    result.report = finished.out
    if file is not None:
        result.trace = read_trace(file)
        result.trace.keep(kept)
    return result


def explore(
    scenario: FileName,
    values: Optional[Values] = None,
    *,
    seeds: Optional[int] = None,
    first_seed: Optional[int] = None,
    jobs: Optional[int] = None,
    seconds: Optional[float] = None,
    progress: Optional[Progress] = None,
) -> Exploration:
    """Looks for a legal schedule that breaks a scenario; see `result`, `found` and `replay`."""
    with tempfile.TemporaryDirectory(prefix="sm100sim-") as folder:
        replay = Path(folder) / "replay.toml"
        arguments = ["explore", os.fspath(scenario), *_sets(values), "-o", str(replay)]
        for name, value in (("--seeds", seeds), ("--first-seed", first_seed), ("--jobs", jobs), ("--for", seconds)):
            arguments += _option(name, value)
        document, finished = _with_json(arguments, (0, 1, 3, 4), progress)
        result = Exploration(document)
        result.report = finished.out
        result.replay = replay.read_text() if replay.exists() else ""
        return result


def check(files: Union[FileName, Sequence[FileName]], *, jobs: Optional[int] = None) -> dict[str, Any]:
    """Does every scenario of these files and folders end as its [expect] says?"""
    names = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    document, _ = _with_json(["check", *(os.fspath(name) for name in names), *_option("--jobs", jobs)], (0, 1))
    return dict(document)


def _trace_file(trace: Union[Trace, FileName]) -> str:
    return trace.file if isinstance(trace, Trace) else os.fspath(trace)


def diff(a: Union[Trace, FileName], b: Union[Trace, FileName]) -> dict[str, Any]:
    """Compares two traces: first what happened, then when."""
    document, _ = _with_json(["diff", _trace_file(a), _trace_file(b)], (0, 1))
    return dict(document)


def stats(trace: Union[Trace, FileName], *, critical_path: bool = False) -> dict[str, Any]:
    """Who worked, who waited and for what."""
    document, _ = _with_json(["stats", _trace_file(trace), *(["--critical-path"] if critical_path else [])], (0,))
    return dict(document)


def explain_config(
    m: int, n: int, k: int, values: Optional[Values] = None, *, kernel: Optional[str] = None, dtype: Optional[str] = None
) -> dict[str, Any]:
    """Which configuration config = "auto" picks for a shape, and why."""
    arguments = ["explain-config", str(m), str(n), str(k), *_sets(values)]
    document, _ = _with_json([*arguments, *_option("--kernel", kernel), *_option("--dtype", dtype)], (0,))
    return dict(document)


def ledger(scenario: FileName, values: Optional[Values] = None) -> dict[str, Any]:
    """The mbarriers of a kernel: counts, bytes, who arrives with what, who waits, phases."""
    return dict(json.loads(call(["ledger", os.fspath(scenario), *_sets(values), "--format", "json"]).out))


def lists(what: str) -> list[Any]:
    """kernels, profiles, scenarios, isa, checks or faults: a list of dicts."""
    return list(json.loads(call(["list", what, "--json", "-"]).out)[what])


def explain(check_id: str) -> str:
    """What a finding means, what hardware does, and how to mend it."""
    return call(["explain", check_id]).out


def sweep(
    scenarios: Union[FileName, Sequence[FileName]],
    cross: Optional[Mapping[str, Sequence[Any]]] = None,
    *,
    out: FileName,
    jobs: Optional[int] = None,
    seeds: Optional[Sequence[int]] = None,
    jitter: Optional[Sequence[int]] = None,
    progress: Optional[Progress] = None,
) -> list[dict[str, Any]]:
    """Runs scenarios under all combinations of values; a dict for each run, in the order of the sweep.

    `out` is a folder that keeps what has run: an interrupted sweep goes on where it was.
    """
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    names = [scenarios] if isinstance(scenarios, (str, os.PathLike)) else list(scenarios)
    # Names stay names; files may lie anywhere.
    words = [os.path.abspath(name) if os.path.exists(name) else os.fspath(name) for name in names]
    lines = [f"scenarios = {toml_value(words)}"]
    for key, numbers in (("seeds", seeds), ("jitter", jitter)):
        if numbers is not None:
            lines.append(f"{key} = {toml_value(list(numbers))}")
    lines += ["[cross]"] + [f"{key} = {toml_value(list(choices))}" for key, choices in (cross or {}).items()]
    file = folder / "sweep.toml"
    file.write_text("\n".join(lines) + "\n")
    call(["sweep", str(file), "--out", str(folder), *_option("--jobs", jobs)], progress)
    rows = [json.loads(line) for part in sorted(folder.glob("shard-*.ndjson")) for line in part.read_text().splitlines()]
    build = version()
    rows = [row for row in rows if row["build"] in build] or rows
    return sorted(rows, key=lambda row: int(row["index"]))


def version() -> str:
    """Version and commit of the program."""
    return call(["--version"]).out.splitlines()[0]
