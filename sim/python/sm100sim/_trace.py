# SPDX-License-Identifier: Apache-2.0
"""Traces as NumPy arrays."""

from __future__ import annotations

import os
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._process import InputError

Table = npt.NDArray[np.void]


class Trace:
    """A recorded timeline (docs/trace-format.md).  Times are ticks: SM cycles, if `metadata["source"]` is "sim".

    tracks          a row for each warp, unit, barrier and CTA; a row's index is its id
    spans           what warps and units did, and when; `kind`, `track`, `pipeline`, `line` and `operand` are indices
    barrier_events  arrivals, bytes, phases and waits of mbarriers
    wakeups         waits that were not for mbarriers, and who ended them
    findings        a list of dicts
    """

    def __init__(self, content: dict[str, Any], file: str):
        self.file = file
        self._kept: Any = None
        self.metadata: dict[str, Any] = content["metadata"]
        self.names: list[str] = content["names"]
        self.span_kinds: list[str] = content["span_kinds"]
        self.barrier_event_kinds: list[str] = content["barrier_event_kinds"]
        self.tracks: list[dict[str, Any]] = content["tracks"]
        self.spans: Table = content["spans"]
        self.barrier_events: Table = content["barrier_events"]
        self.wakeups: Table = content["wakeups"]
        self.findings: list[dict[str, Any]] = content["findings"]

    def __repr__(self) -> str:
        scenario, length = self.metadata["scenario"], self.metadata["run_ticks"]
        return f"<sm100sim.Trace {scenario}: {len(self.spans):,} spans, {length:,} ticks>"

    def keep(self, what: Any) -> None:
        """Keeps an object, the folder of its file, as long as this trace is used."""
        self._kept = what

    def name(self, index: int) -> str:
        """A string that a row names; empty for -1."""
        return self.names[index] if index >= 0 else ""

    def tracks_where(self, **wanted: Any) -> npt.NDArray[np.uint32]:
        """Ids of the tracks with these values: tracks_where(kind="role", name="mma", cta=0)."""
        for key in wanted:
            if key not in self.tracks[0]:
                raise InputError(f"{key}: a track has no such key; allowed are {', '.join(self.tracks[0])}")
        ids = [i for i, track in enumerate(self.tracks) if all(track[key] == value for key, value in wanted.items())]
        return np.array(ids, dtype=np.uint32)

    def select(
        self,
        table: str = "spans",
        *,
        kind: Optional[str] = None,
        role: Optional[str] = None,
        unit: Optional[str] = None,
        barrier: Optional[str] = None,
        cta: Optional[int] = None,
        pipeline: Optional[str] = None,
        **wanted: Any,
    ) -> Table:
        """Rows of "spans", "barrier_events" or "wakeups" with these values.

        role, unit, barrier  the name of the row's track; cta, the CTA that it belongs to
        pipeline             of spans: "input_full"
        others               any column: stage=2, tile_m=0, ...
        """
        if table not in ("spans", "barrier_events", "wakeups"):
            raise InputError(f"{table}: allowed are spans, barrier_events, wakeups")
        rows: Table = getattr(self, table)
        keep = np.ones(len(rows), dtype=bool)
        tracks: dict[str, Any] = {} if cta is None else {"cta": cta}
        for track_kind, name in (("role", role), ("unit", unit), ("barrier", barrier)):
            if name is not None:
                tracks.update(kind=track_kind, name=name)
        if tracks:
            keep &= np.isin(rows["track"], self.tracks_where(**tracks))
        if kind is not None:
            kinds = self.span_kinds if table == "spans" else self.barrier_event_kinds
            if kind not in kinds:
                raise InputError(f"{kind}: allowed are {', '.join(kinds)}")
            keep &= rows["kind"] == kinds.index(kind)
        if pipeline is not None:
            index = self.names.index(pipeline) if pipeline in self.names else -2
            keep &= rows["pipeline"] == index
        for column, value in wanted.items():
            if column not in (rows.dtype.names or ()):
                raise InputError(f"{column}: no column of {table}; it has {', '.join(rows.dtype.names or ())}")
            keep &= rows[column] == value
        chosen: Table = rows[keep]
        return chosen

    def busy(self, rows: Table) -> int:
        """Ticks in which at least one of these spans is open: overlaps count once."""
        if len(rows) == 0:
            return 0
        order = np.argsort(rows["begin"], kind="stable")
        begin, end = rows["begin"][order].astype(np.int64), rows["end"][order].astype(np.int64)
        reach = np.empty_like(begin)  # where the spans before have ended
        reach[0], reach[1:] = begin[0], np.maximum.accumulate(end)[:-1]
        return int(np.maximum(end - np.maximum(begin, reach), 0).sum())


def read_trace(file: Union[str, "os.PathLike[str]"]) -> Trace:
    """Reads a trace file (.pftrace, also compressed).  Raises InputError if it is none."""
    name = os.fspath(file)
    try:
        return Trace(_native.read_trace(name), os.path.abspath(name))
    except RuntimeError as error:
        raise InputError(str(error)) from None
