# SPDX-License-Identifier: Apache-2.0
"""The Python package on the program that was built.  Run with pytest; PYTHONPATH names the package."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import sm100sim


def test_a_run_has_the_keys_of_its_json_and_the_summary():
    result = sm100sim.run("dense_small", {"problem.m": 256, "problem.n": 256})
    assert result.clean and result["outcome"] == "pass" and result["verified"]
    assert result["configuration"]["m"] == 256
    assert result.report.startswith("PASS, clean  dense_small: 256 x 256 x 1024 bf16")
    assert result.trace is None
    assert repr(result).startswith("<sm100sim.Result pass, clean: ")


def test_values_are_written_as_toml():
    values = {"config.mma": (128, 64, 16), "config.mma_prefetch": False, "config.scheduler": "static", "problem.k": np.int64(256)}
    got = sm100sim.run("dense_small", values)["configuration"]
    assert (got["mma"], got["mma_prefetch"], got["scheduler"], got["k"]) == ([128, 64, 16], False, "static", 256)
    with pytest.raises(sm100sim.InputError, match="no value of a scenario"):
        sm100sim.run("dense_small", {"problem.k": object()})


def test_a_hang_is_a_result():
    result = sm100sim.run("bugs/bytes/expect_tx_too_large")
    assert result["outcome"] == "hang" and not result.clean
    assert result["findings"][0]["fault_location"].startswith("load_warp.h:")
    assert "can never wake" in result.report


def test_wrong_input_is_an_exception_with_the_programs_sentence():
    with pytest.raises(sm100sim.InputError, match=r"config.stages.*allowed are 1 to 6"):
        sm100sim.run("dense_small", {"config.stages": 99})
    with pytest.raises(sm100sim.InputError, match="near ones are dense_small"):
        sm100sim.run("dense_smal")
    with pytest.raises(sm100sim.InputError, match="no such file"):
        sm100sim.read_trace("nowhere.pftrace")


def test_a_program_that_is_not_there(monkeypatch):
    monkeypatch.setenv("SM100SIM", "/nowhere/sm100sim")
    with pytest.raises(sm100sim.InputError, match="/nowhere/sm100sim: No such file"):
        sm100sim.run("dense_small")


def test_traces_are_arrays(tmp_path):
    file = tmp_path / "run.pftrace.gz"
    result = sm100sim.run("dense_small", trace=file)
    trace = result.trace
    assert trace.file == str(file) and trace.metadata["run_ticks"] == result["cycles"]
    assert trace.metadata["configuration"]["stages"] == result["configuration"]["stages"]

    issued = trace.select(kind="load_issue", role="load")
    loaded = trace.select(kind="tma_load", unit="tma load")
    assert len(issued) > 0 and loaded["bytes"].sum() == result["filled_bytes"]
    waits = trace.select(kind="wait", pipeline="input_full", role="mma")
    assert set(waits["stage"]) == set(range(result["configuration"]["stages"]))
    assert len(trace.select(kind="wait", pipeline="input_full", cta=0)) < len(waits)
    # What a role sleeps is what the program says of it.
    asleep = next(role for role in result["roles"] if role["role"] == "mma")["waiting_cycles"]["input_full"]
    assert 0.9 * asleep <= (waits["end"] - waits["begin"]).sum() <= 1.5 * asleep

    arrivals = trace.select("barrier_events", kind="arrive", barrier="input_empty[0]")
    assert len(arrivals) > 0 and (np.diff(trace.barrier_events["time"].astype(np.int64)) >= 0).all()
    names = {trace.name(span["line"]) for span in issued}
    assert any(name.startswith("load_warp.h:") for name in names)
    with pytest.raises(sm100sim.InputError, match="allowed are wait, load_issue"):
        trace.select(kind="wat")
    with pytest.raises(sm100sim.InputError, match="no column of spans"):
        trace.select(satge=1)
    with pytest.raises(sm100sim.InputError, match="no such key"):
        trace.tracks_where(nam="mma")


def test_busy_counts_overlaps_once(tmp_path):
    trace = sm100sim.run("dense_small", trace=True).trace
    rows = np.zeros(3, dtype=trace.spans.dtype)
    rows["begin"], rows["end"] = [10, 0, 5], [20, 4, 12]
    assert trace.busy(rows) == 4 + 15
    assert trace.busy(rows[:0]) == 0
    nested = rows[:2].copy()
    nested["begin"], nested["end"] = [0, 2], [10, 4]
    assert trace.busy(nested) == 10


def test_two_traces_are_compared(tmp_path):
    a = sm100sim.run("dense_small", {"problem.m": 256, "problem.n": 256}, trace=tmp_path / "a.pftrace").trace
    b = sm100sim.run("dense_small", {"problem.m": 256, "problem.n": 256}, trace=tmp_path / "b.pftrace").trace
    assert sm100sim.diff(a, b)["verdict"] == "identical"
    assert sm100sim.stats(a)["run_ticks"] == a.metadata["run_ticks"]
    assert sm100sim.stats(a, critical_path=True)["critical_path"]["shares"]
    kept = sm100sim.run("dense_small", {"problem.m": 256, "problem.n": 256}, trace=True).trace
    assert sm100sim.diff(a, kept)["verdict"] == "identical"  # its file lives as long as it does
    file = kept.file
    assert os.path.exists(file)
    del kept
    assert not os.path.exists(file)


def test_exploring_finds_the_schedule_and_gives_the_scenario_that_replays_it(tmp_path):
    clean = sm100sim.explore("dense_small", {"problem.m": 256, "problem.n": 256}, seeds=4)
    assert clean["result"] == "clean" and clean.replay == "" and clean.report.startswith("EXPLORED 4 seeds, clean")


def test_sweeps_go_on_where_they_were(tmp_path):
    cross = {"config.stages": [1, 2], "problem.k": [256, 512]}
    rows = sm100sim.sweep("dense_small", cross, out=tmp_path / "sweep", jobs=1)
    assert [(row["values"]["config.stages"], row["values"]["problem.k"]) for row in rows] == [(1, 256), (1, 512), (2, 256), (2, 512)]
    assert rows[0]["cycles"] > rows[2]["cycles"]
    assert sm100sim.sweep("dense_small", cross, out=tmp_path / "sweep", jobs=1) == rows


def test_lists_and_explanations():
    assert any(check["id"] == "MB5" for check in sm100sim.lists("checks"))
    assert "MB5" in sm100sim.explain("MB5")
    assert sm100sim.explain_config(4096, 4096, 4096)["config"]
    assert sm100sim.ledger("dense_small")["kernels"][0]["barriers"]
    assert sm100sim.check("bugs/bytes", jobs=1)["failed"] == 0
    assert sm100sim.version().startswith("sm100sim ")


def test_progress_and_what_it_raises():
    seen = []
    values = {"problem.m": 4096, "problem.n": 4096, "problem.k": 4096}
    sm100sim.run("dense_small", values, data="none", progress=lambda fraction, text: seen.append((fraction, text)))
    assert seen and all(0 <= fraction <= 1 for fraction, _ in seen) and all(text for _, text in seen)

    class Enough(Exception):
        pass

    def stop(fraction, text):
        raise Enough

    with pytest.raises(Enough):
        sm100sim.run("dense_small", values, data="none", progress=stop)


def children_of(parent):
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=False).stdout
    return [int(pid) for pid, ppid in (line.split() for line in listed.splitlines()) if int(ppid) == parent]


def test_ctrl_c_ends_the_run_and_leaves_nothing(tmp_path):
    code = """
        import sm100sim, sys
        def say(fraction, text):
            print("running", flush=True)
        try:
            sm100sim.run("dense_small", {"problem.m": 16384, "problem.n": 16384, "problem.k": 16384}, data="none", progress=say)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code))
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "running\n"
        inner = children_of(process.pid)
        assert len(inner) == 1
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
        assert rest.endswith("interrupted\n")
    with pytest.raises(ProcessLookupError):
        os.kill(inner[0], 0)
